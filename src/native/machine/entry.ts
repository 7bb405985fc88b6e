/** Which registers are in places at the beginning of a block, and in which ones: decided from the ends of the blocks before it. */
import { placeCount, vectorPlaces } from './allocated.ts';
import type { Flow, Loop } from './flow.ts';
import { dead } from './live-set.ts';
import { far, type Liveness } from './liveness.ts';
import { bitOf, type ClassIndex, classOfPlace, type Masks, type RegisterState } from './state.ts';
import type { Exit } from './stores.ts';
import type { MachineBlock, Register } from './types.ts';

/** A register that could be in a place. */
interface Candidate {
  readonly register: Register;
  /** Of a parameter, its index; -1 for a register that lives on from blocks before. */
  readonly param: number;
  /** Registers with 0 go before those with 1. */
  readonly tier: 0 | 1;
  readonly next: number;
}

type Candidates = [general: Candidate[], vector: Candidate[]];

export class EntryAllocator {
  /** The registers at the beginning of each block. */
  readonly entries: (Int32Array | undefined)[];
  private readonly loopOfHeader: Int32Array;
  /** The places of the parameters of each loop and those around it. */
  private readonly loopPlaces: Masks[] = [];
  /** In how many of the blocks before a register is in a place, by the block that asks. */
  private readonly held: Int32Array;
  private readonly asked: Int32Array;
  /** The block at whose beginning a register lives, as far as last asked. */
  private readonly liveAt: Int32Array;

  private readonly flow: Flow;
  private readonly liveness: Liveness;
  private readonly state: RegisterState;
  private readonly exits: readonly (Exit | undefined)[];

  constructor(flow: Flow, liveness: Liveness, state: RegisterState, exits: readonly (Exit | undefined)[]) {
    this.flow = flow;
    this.liveness = liveness;
    this.state = state;
    this.exits = exits;

    this.entries = new Array(flow.blocks.length);
    this.loopOfHeader = new Int32Array(flow.blocks.length).fill(-1);
    flow.loops.forEach(({ header }, loop) => {
      this.loopOfHeader[header] = loop;
    });
    this.held = new Int32Array(state.registers.length);
    this.asked = new Int32Array(state.registers.length).fill(-1);
    this.liveAt = new Int32Array(state.registers.length).fill(-1);
  }

  /** Sets the state for the beginning of a block; `state.next` has the distances from there. */
  enter(number: number): void {
    const { flow, state } = this;
    const block = flow.blocks[number]!;
    state.clear();
    const incoming = flow.incoming[number]!;
    // Indices, because iterators of typed arrays are calls.
    const { registers } = this.liveness.liveIn[number]!;
    for (let i = 0; i < registers.length; i++) this.liveAt[registers[i]!] = number;
    const outer = this.loopOfHeader[number]! >= 0 ? flow.loops[this.loopOfHeader[number]!]!.outer : flow.loopOf[number]!;
    state.wanted = outer >= 0 ? this.loopPlaces[outer]! : [0, 0];
    if (incoming.length === 1) this.inherit(number, block);
    else if (incoming.length > 1) this.merge(number, block);
    block.params.forEach((register, index) => {
      if (this.distanceOfParam(number, index) === dead) return;
      state.hints.fixParam(register, state.where[register]!);
      if (state.where[register]! < 0) state.evictions.isInMemory[register] = 1;
    });
    this.noteLoop(number, block);
    this.entries[number] = state.at.slice();
  }

  private noteLoop(number: number, block: MachineBlock): void {
    const loop = this.loopOfHeader[number]!;
    if (loop < 0) return;
    const places: Masks = [...this.state.wanted];
    for (const register of block.params) {
      const place = this.state.where[register]!;
      if (place >= 0) places[classOfPlace(place)] |= bitOf(place);
    }
    this.loopPlaces[loop] = places;
    this.state.wanted = places;
  }

  private distanceOfParam(number: number, index: number): number {
    return this.liveness.liveIn[number]!.params[index]!;
  }

  /** The only block before has the state. Parameters take the places of arguments that die, or free ones. */
  private inherit(number: number, block: MachineBlock): void {
    const { flow, state } = this;
    const [{ block: from, edge }] = flow.incoming[number]! as [{ block: number; edge: number }];
    const { at } = this.exits[from]!;
    for (let place = 0; place < placeCount; place++) {
      const register = at[place]!;
      if (register >= 0 && this.liveAt[register] === number) state.put(register, place);
    }
    const { args } = flow.blocks[from]!.edges[edge]!;
    const late: Register[] = [];
    block.params.forEach((register, index) => {
      if (this.distanceOfParam(number, index) === dead) return;
      const place = at.indexOf(args[index]!);
      if (place >= 0 && state.at[place]! < 0 && classOfPlace(place) === state.classes[register]) state.put(register, place);
      else late.push(register);
    });
    for (const register of late) {
      const registerClass = state.classes[register] as ClassIndex;
      if (state.free[registerClass] !== 0) state.put(register, state.pick(register, registerClass, state.free[registerClass]));
    }
  }

  private merge(number: number, block: MachineBlock): void {
    const sources = this.sourcesOf(number);
    if (sources.length === 0) return;
    const total = this.countHeld(number, sources);
    const loop = this.loopOfHeader[number]!;
    const candidates =
      loop < 0
        ? this.candidatesOfMerge(number, block, sources, total)
        : this.candidatesOfLoop(number, block, sources, this.flow.loops[loop]!);
    const chosen = [...this.choose(candidates[0], 0), ...this.choose(candidates[1], 1)];
    this.assign(chosen, number, sources);
  }

  /** The blocks before that have been visited: those that are not rare, if there are some; the most often executed first. */
  private sourcesOf(number: number): number[] {
    const { blocks, incoming } = this.flow;
    const visited = incoming[number]!.map(({ block }) => block).filter((block) => this.exits[block] !== undefined);
    if (visited.length === 0) return [];
    const usual = visited.filter((block) => !blocks[block]!.isRare);
    const sources = usual.length > 0 ? usual : visited;
    const first = sources.reduce((best, block) => (blocks[block]!.loopDepth > blocks[best]!.loopDepth ? block : best), sources[0]!);
    return [first, ...sources.filter((block) => block !== first)];
  }

  private countHeld(number: number, sources: readonly number[]): number {
    for (const source of sources) {
      const { at } = this.exits[source]!;
      for (let place = 0; place < placeCount; place++) {
        const register = at[place]!;
        if (register < 0) continue;
        if (this.asked[register] !== number) [this.asked[register], this.held[register]] = [number, 0];
        this.held[register]!++;
      }
    }
    return sources.length;
  }

  private heldCount(register: Register, number: number): number {
    return this.asked[register] === number ? this.held[register]! : 0;
  }

  /** The argument of a parameter at the end of a block before. */
  private argOf(source: number, number: number, index: number): Register {
    return this.flow.blocks[source]!.edges.find(({ block }) => block === number)!.args[index]!;
  }

  private candidatesOfMerge(number: number, block: MachineBlock, sources: readonly number[], total: number): Candidates {
    const { state, liveness } = this;
    const candidates: Candidates = [[], []];
    const { registers } = liveness.liveIn[number]!;
    for (let i = 0; i < registers.length; i++) {
      const register = registers[i]!;
      const held = this.heldCount(register, number);
      const next = state.next[register]!;
      if (held < total && (held === 0 || next >= far)) continue;
      candidates[state.classes[register] as ClassIndex].push({ register, param: -1, tier: 0, next });
    }
    block.params.forEach((register, param) => {
      const next = this.distanceOfParam(number, param);
      if (next === dead) return;
      if (next >= far && !sources.some((source) => this.heldCount(this.argOf(source, number, param), number) > 0)) return;
      candidates[state.classes[register] as ClassIndex].push({ register, param, tier: 0, next });
    });
    return candidates;
  }

  /** What is used in the loop first; then, if the loop leaves places free, what just lives through it. */
  private candidatesOfLoop(number: number, block: MachineBlock, sources: readonly number[], loop: Loop): Candidates {
    const { state, liveness } = this;
    const candidates: Candidates = [[], []];
    const through: Masks = [0, 0];
    const add = (register: Register, param: number, next: number, isHeld: boolean): void => {
      const registerClass = state.classes[register] as ClassIndex;
      // What is used behind the loop only is far.
      const tier = next < far ? 0 : 1;
      through[registerClass] += tier;
      if (tier === 0 || isHeld) candidates[registerClass].push({ register, param, tier, next });
    };
    const { registers } = liveness.liveIn[number]!;
    for (let i = 0; i < registers.length; i++) {
      const register = registers[i]!;
      const isHeld = this.heldCount(register, number) > 0;
      add(register, -1, state.next[register]!, isHeld);
    }
    block.params.forEach((register, param) => {
      const next = this.distanceOfParam(number, param);
      if (next === dead) return;
      const isHeld = sources.some((source) => this.heldCount(this.argOf(source, number, param), number) > 0);
      add(register, param, next, isHeld);
    });
    return [this.limitThrough(candidates[0], 0, loop, through[0]), this.limitThrough(candidates[1], 1, loop, through[1])];
  }

  private limitThrough(candidates: Candidate[], registerClass: ClassIndex, loop: Loop, through: number): Candidate[] {
    const { flow, liveness } = this;
    const isRare = flow.blocks[loop.header]!.isRare;
    let pressure = 0;
    for (let block = loop.header; block <= loop.last; block++) {
      if (isRare || !flow.blocks[block]!.isRare) pressure = Math.max(pressure, liveness.pressure[registerClass][block]!);
    }
    const room = Math.max(0, sizeOf(this.state.all[registerClass]) - (pressure - through));
    const passing = candidates.filter(({ tier }) => tier === 1).sort(byNext);
    return [...candidates.filter(({ tier }) => tier === 0), ...passing.slice(0, room)];
  }

  private choose(candidates: Candidate[], registerClass: ClassIndex): Candidate[] {
    const size = sizeOf(this.state.all[registerClass]);
    if (candidates.length <= size) return candidates;
    return candidates.sort((a, b) => a.tier - b.tier || byNext(a, b)).slice(0, size);
  }

  /** Leaves what can be left where it is at the end of the first source. */
  private assign(chosen: readonly Candidate[], number: number, sources: readonly number[]): void {
    const { state } = this;
    const [first] = sources;
    const at = this.exits[first!]!.at;
    const places = new Map<Register, number>();
    at.forEach((register, place) => {
      if (register >= 0) places.set(register, place);
    });
    const take = (register: Register, place: number | undefined): boolean => {
      if (place === undefined || state.at[place]! >= 0 || classOfPlace(place) !== state.classes[register]) return false;
      state.put(register, place);
      return true;
    };
    const others = chosen.filter(({ register, param }) => param >= 0 || !take(register, places.get(register)));
    const isMerge = this.loopOfHeader[number]! < 0;
    const hinted = others.filter(({ register, param }) => {
      if (param < 0 || !isMerge) return true;
      const hint = state.hints.placeInLoop(register, this.flow.loopOf[number]!);
      return hint < 0 || !take(register, hint);
    });
    const late = hinted.filter(({ register, param }) => param < 0 || !take(register, places.get(this.argOf(first!, number, param))));
    for (const { register, param } of late) {
      const registerClass = state.classes[register] as ClassIndex;
      const elsewhere = sources.slice(1, 4).some((source) => {
        const place = this.exits[source]!.at.indexOf(param < 0 ? register : this.argOf(source, number, param));
        return place >= 0 && take(register, place);
      });
      if (!elsewhere) state.put(register, state.pick(register, registerClass, state.free[registerClass]));
    }
  }

  /** Whether a register lives at the beginning of a block that has been entered last. */
  lives(register: Register, number: number): boolean {
    return this.liveAt[register] === number;
  }
}

const byNext = (a: Candidate, b: Candidate): number => a.next - b.next;

function sizeOf(mask: number): number {
  let size = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) size++;
  return size;
}

/** Places of a class in a list of registers, as a set of those that are taken. */
export function takenPlaces(at: Int32Array, isNeeded: (register: Register) => boolean): Masks {
  const taken: Masks = [0, 0];
  for (let place = 0; place < placeCount; place++) {
    if (at[place]! >= 0 && isNeeded(at[place]!)) taken[place < vectorPlaces ? 0 : 1] |= bitOf(place);
  }
  return taken;
}
