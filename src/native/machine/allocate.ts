/**
 * Allocates registers in one walk over a function. At each point the registers in places are known; when one is needed, the register whose next use is
 * farthest leaves its place, uses behind loops counting as far. Blocks begin with what their predecessors end with, loops with what is used in them.
 *
 * Sources: Braun and Hack, "Register Spilling and Live-Range Splitting for SSA-Form Programs", CC 2009, for what is in registers; Wimmer and Franz, "Linear
 * Scan Register Allocation on SSA Form", CGO 2010, for hints, fixed registers and the moves of edges.
 */
import type { AllocatedBlock, AllocatedFunction, Step } from './allocated.ts';
import { addEdgeMoves } from './edges.ts';
import { EntryAllocator } from './entry.ts';
import { FixedPositions } from './fixed.ts';
import { type Flow, flowOf } from './flow.ts';
import { Hints } from './hints.ts';
import { InstructionAllocator } from './instruction.ts';
import { dead, LiveSet } from './live-set.ts';
import { addLiveOut, blockLength, type Liveness, lengthOf, livenessOf } from './liveness.ts';
import { SlotAllocator } from './slots.ts';
import { maskOf, RegisterState } from './state.ts';
import { Evictions, type Exit, StorePlacement } from './stores.ts';
import type { MachineBlock, MachineFunction, RegisterFile } from './types.ts';

export function allocate(fn: MachineFunction, file: RegisterFile): AllocatedFunction {
  const flow = flowOf(fn);
  const walk = new Walk(fn, flow, file);
  flow.blocks.forEach((_, number) => {
    if (flow.isReachable[number]) walk.visit(number);
  });
  return walk.finish();
}

class Walk {
  private readonly liveness: Liveness;
  private readonly state: RegisterState;
  private readonly evictions: Evictions;
  private readonly exits: (Exit | undefined)[];
  private readonly entry: EntryAllocator;
  private readonly instructions: InstructionAllocator;
  private readonly steps: (Step[] | undefined)[];
  private readonly live: LiveSet;

  private readonly fn: MachineFunction;
  private readonly flow: Flow;

  constructor(fn: MachineFunction, flow: Flow, file: RegisterFile) {
    this.fn = fn;
    this.flow = flow;

    const { registers } = fn;
    const all = [maskOf(file.general), maskOf(file.vector)] as const;
    this.liveness = livenessOf(flow, registers, all);
    this.evictions = new Evictions(registers);
    const fixed = new FixedPositions(flow, registers, all, this.liveness.positions);
    this.state = new RegisterState(registers, file, new Hints(flow, registers, this.liveness), this.evictions, fixed, this.liveness.ends);
    this.exits = new Array(flow.blocks.length);
    this.steps = new Array(flow.blocks.length);
    this.entry = new EntryAllocator(flow, this.liveness, this.state, this.exits);
    this.instructions = new InstructionAllocator(this.state);
    this.live = new LiveSet(registers, this.state.next, this.liveness.ends);
  }

  visit(number: number): void {
    const { state, flow, liveness } = this;
    const block = flow.blocks[number]!;
    const after = this.nextUses(block, number);
    state.block = number;
    state.position = liveness.positions[number]!;
    state.now = 0;
    state.steps = [];
    this.entry.enter(number);
    this.noteDropsOfVisited(number);
    let base = 0;
    for (const inst of block.insts) {
      state.position++;
      this.instructions.run(inst, inst, after, base);
      base += inst.uses.length + 1;
      state.now += lengthOf(inst, state.all);
    }
    state.position++;
    this.instructions.run(block.end, undefined, after, base);
    this.steps[number] = state.steps;
    this.exits[number] = { at: state.at.slice(), endStep: state.steps.length - 1 };
    this.noteDropsAtEnd(number);
  }

  /**
   * The distance of the next use behind each operand and of each result, in the order of the instructions; then that of the operands of the end. Sets
   * `state.next` to the distances at the beginning of the block.
   */
  private nextUses(block: MachineBlock, number: number): Int32Array {
    const { state, live, liveness } = this;
    const { next } = state;
    let size = block.end.uses.length;
    for (const { uses } of block.insts) size += uses.length + 1;
    const after = new Int32Array(size);
    let distance = blockLength(block, state.all);
    live.begin();
    addLiveOut(live, this.flow, liveness.liveIn, number, distance, 0);
    const read = (uses: readonly number[]): void => {
      size -= uses.length;
      for (let i = 0; i < uses.length; i++) after[size + i] = live.lives(uses[i]!) ? next[uses[i]!]! : dead;
      for (let i = 0; i < uses.length; i++) live.use(uses[i]!, distance, 0);
    };
    distance--;
    read(block.end.uses);
    for (let i = block.insts.length - 1; i >= 0; i--) {
      const inst = block.insts[i]!;
      distance -= lengthOf(inst, state.all);
      size--;
      after[size] = inst.def !== undefined && live.lives(inst.def) ? next[inst.def]! : dead;
      read(inst.uses);
    }
    block.params.forEach((register, index) => {
      next[register] = this.liveness.liveIn[number]!.params[index]!;
    });
    return after;
  }

  /** Registers that live on into the block, but are not in a place there, leave theirs at the ends of the blocks before. */
  private noteDropsOfVisited(number: number): void {
    const { flow, exits, evictions } = this;
    const incoming = flow.incoming[number]!;
    if (incoming.length < 2) return;
    for (const { block } of incoming) {
      const exit = exits[block];
      if (!exit) continue;
      exit.at.forEach((register, place) => {
        if (register < 0 || this.state.where[register]! >= 0 || !this.entry.lives(register, number)) return;
        evictions.add(register, block, exit.endStep, place);
      });
    }
  }

  /** The same for blocks behind this one that have been visited before it. */
  private noteDropsAtEnd(number: number): void {
    const { flow, state, evictions } = this;
    for (const { block: to } of flow.blocks[number]!.edges) {
      const entry = this.entry.entries[to];
      if (!entry || flow.incoming[to]!.length < 2) continue;
      const kept = new Set(entry);
      for (const register of this.liveness.liveIn[to]!.registers) {
        const place = state.where[register]!;
        if (place >= 0 && !kept.has(register)) evictions.add(register, number, this.exits[number]!.endStep, place);
      }
    }
  }

  finish(): AllocatedFunction {
    const { flow, fn, evictions, liveness } = this;
    const placement = new StorePlacement(flow, this.exits);
    placement.place(evictions, liveness.definedIn);
    const slots = new SlotAllocator(fn.registers);
    const spilled = [...evictions.evicted];
    evictions.isInMemory.forEach((isInMemory, register) => {
      if (isInMemory) spilled.push(register);
    });
    slots.assign(spilled, flow, liveness.definedAt, liveness.ends);
    const merged = this.steps.map((steps, block) => (steps ? placement.merge(block, steps) : []));
    addEdgeMoves({ fn, flow, liveness, slots, exits: this.exits, entries: this.entry.entries, steps: merged, all: this.state.all });
    const blocks = flow.blocks.map((block, number): AllocatedBlock => ({ block, steps: merged[number] ?? [] }));
    const { slots: placed, frameBytes } = slots.layout(fn.outgoingBytes);
    for (const { steps } of blocks) {
      for (const step of steps) {
        if ((step.kind === 'load' || step.kind === 'store') && step.slot < 0) step.slot = slots.slotOf[step.register]!;
      }
    }
    const headers = new Set(flow.loops.map(({ header }) => header));
    return { fn, blocks, slots: placed, slotOf: slots.slotOf, frameBytes, isHeader: blocks.map((_, number) => headers.has(number)) };
  }
}
