/**
 * Where spilled registers are stored. A register lives in a place from its definition to its first eviction on each path, so one store that dominates all
 * evictions serves every load; it is put where it is executed least often.
 */
import type { Step, StoreStep } from './allocated.ts';
import { commonDominator, type Flow } from './flow.ts';
import type { Register, RegisterInfo } from './types.ts';

/** The steps that evictions have dropped registers before. */
export class Evictions {
  /** Parameters that edges store to their slots. */
  readonly isInMemory: Uint8Array;
  readonly evicted: Register[] = [];
  private readonly newest: Int32Array;
  private readonly older: number[] = [];
  private readonly blocks: number[] = [];
  private readonly steps: number[] = [];
  private readonly places: number[] = [];

  private readonly registers: readonly RegisterInfo[];

  constructor(registers: readonly RegisterInfo[]) {
    this.registers = registers;

    this.isInMemory = new Uint8Array(registers.length);
    this.newest = new Int32Array(registers.length).fill(-1);
  }

  /** A register lives on in memory alone from a step of a block on, and has been in a place. */
  add(register: Register, block: number, step: number, place: number): void {
    if (this.registers[register]!.remake || this.isInMemory[register]) return;
    if (this.newest[register]! < 0) this.evicted.push(register);
    this.older.push(this.newest[register]!);
    this.newest[register] = this.blocks.length;
    this.blocks.push(block);
    this.steps.push(step);
    this.places.push(place);
  }

  /** Calls back for each eviction of a register, the last one first. */
  each(register: Register, visit: (block: number, step: number, place: number) => void): void {
    for (let i = this.newest[register]!; i >= 0; i = this.older[i]!) visit(this.blocks[i]!, this.steps[i]!, this.places[i]!);
  }
}

/** A store before a step of a block. */
interface Insertion {
  readonly step: number;
  readonly store: StoreStep;
}

/** How a block ended: its registers, and the number of the step that is its end. */
export interface Exit {
  readonly at: Int32Array;
  readonly endStep: number;
}

export class StorePlacement {
  readonly insertions: (Insertion[] | undefined)[];

  private readonly flow: Flow;
  private readonly exits: readonly (Exit | undefined)[];

  constructor(flow: Flow, exits: readonly (Exit | undefined)[]) {
    this.flow = flow;
    this.exits = exits;

    this.insertions = new Array(flow.blocks.length);
  }

  place(evictions: Evictions, definedIn: Int32Array): void {
    for (const register of evictions.evicted) this.placeOne(evictions, register, definedIn[register]!);
    for (const list of this.insertions) list?.sort((a, b) => a.step - b.step);
  }

  private placeOne(evictions: Evictions, register: Register, definedIn: number): void {
    const { flow } = this;
    let [block, step, place] = [-1, -1, -1];
    let areRare = !flow.blocks[definedIn]!.isRare;
    evictions.each(register, (where, before, from) => {
      areRare &&= flow.blocks[where]!.isRare;
      if (block < 0 || where === block) [block, step, place] = [where, step < 0 ? before : Math.min(step, before), from];
      else {
        const common = commonDominator(flow.dominators, block, where);
        if (common === where) [block, step, place] = [where, before, from];
        else if (common !== block) [block, step, place] = [common, Number.MAX_SAFE_INTEGER, -1];
      }
    });
    if (areRare) return evictions.each(register, (where, before, from) => this.insert(where, before, register, from));
    const outer = this.leaveLoops(block, definedIn);
    if (outer !== block) [block, step, place] = [outer, Number.MAX_SAFE_INTEGER, -1];
    const exit = this.exits[block]!;
    if (step > exit.endStep) [step, place] = [exit.endStep, exit.at.indexOf(register)];
    this.insert(block, step, register, place);
  }

  /** The block before the loops that are around a block, but not around the definition. */
  private leaveLoops(block: number, definedIn: number): number {
    const { flow } = this;
    if (flow.blocks[block]!.isRare && !flow.blocks[definedIn]!.isRare) return block;
    for (let loop = flow.loopOf[block]!; loop >= 0; loop = flow.loops[loop]!.outer) {
      const { header, last } = flow.loops[loop]!;
      if (definedIn >= header && definedIn <= last) break;
      block = flow.dominators.parent[header]!;
    }
    return block;
  }

  private insert(block: number, step: number, register: Register, from: number): void {
    this.insertions[block] ??= [];
    this.insertions[block]!.push({ step, store: { kind: 'store', register, from, slot: -1 } });
  }

  /** The steps of a block with the stores between them. */
  merge(block: number, steps: readonly Step[]): Step[] {
    const list = this.insertions[block];
    if (!list) return [...steps];
    const merged: Step[] = [];
    let next = 0;
    steps.forEach((step, index) => {
      while (next < list.length && list[next]!.step <= index) merged.push(list[next++]!.store);
      merged.push(step);
    });
    return merged;
  }
}
