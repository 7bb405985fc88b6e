/**
 * Which registers live where, and how far their next use is. Distances are counted in instructions; what is behind a call, in rare blocks or behind a
 * loop is far away, so that whatever compares distances prefers the uses that are executed more often.
 */
import type { Flow } from './flow.ts';
import type { MachineBlock, MachineEnd, MachineInst, Register, RegisterInfo } from './types.ts';

/** The distance of a register without a further use. */
export const dead = 0x7fff_ffff;
/** What is so far away lies behind a call that destroys all registers, in a rare block, or behind a loop. */
export const far = 1000;
const rarePenalty = 2000;
const loopPenalty = 100_000;
const longest = 0x3fff_ffff;

/** Registers that live at the beginning of a block, and the distances of their next uses. */
interface LiveIn {
  readonly registers: Int32Array;
  readonly distances: Int32Array;
  /** Of the block's parameters; `dead` if one has no use. */
  readonly params: Int32Array;
}

const nothing: LiveIn = { registers: new Int32Array(), distances: new Int32Array(), params: new Int32Array() };

export interface Liveness {
  readonly liveIn: readonly LiveIn[];
  /** The linear position of each block: its instructions and its end follow at the next ones. */
  readonly positions: Int32Array;
  /** The linear position behind which a register does not live. */
  readonly ends: Int32Array;
  /** The block and the linear position of each definition. */
  readonly definedIn: Int32Array;
  readonly definedAt: Int32Array;
  /** The linear positions of the uses of register r, ascending, from `firstUse[r]` to `firstUse[r + 1]`. */
  readonly uses: Int32Array;
  readonly firstUse: Int32Array;
  /** By class (general, vector): how many registers live at once in a block, at its worst; many at calls. */
  readonly pressure: readonly [Int32Array, Int32Array];
}

/** Whether an instruction destroys every register of a class that the allocator uses. */
export const isCall = (inst: MachineInst, all: readonly [number, number]): boolean =>
  inst.clobbers !== undefined && ((inst.clobbers.general & all[0]) === all[0] || (inst.clobbers.vector & all[1]) === all[1]);

/** Computes liveness; `all` has the registers of the allocator as bits. */
export function livenessOf(flow: Flow, registers: readonly RegisterInfo[], all: readonly [number, number]): Liveness {
  const numbered = numberUses(flow, registers.length);
  const walker = new BackwardWalker(flow, registers, numbered, all);
  // Liveness crosses a back edge in each further round, and so an inner loop in several.
  for (let isChanged = true, round = 0; isChanged || (flow.hasBackEdges && round < 2); round++) {
    isChanged = false;
    for (let block = flow.blocks.length - 1; block >= 0; block--) {
      if (flow.isReachable[block] && walker.walk(block)) isChanged = true;
    }
    if (!flow.hasBackEdges) break;
  }
  return { ...numbered, liveIn: walker.liveIn, ends: walker.ends, pressure: walker.pressure };
}

type Numbered = Pick<Liveness, 'positions' | 'definedIn' | 'definedAt' | 'uses' | 'firstUse'>;

/** Positions, definitions and uses. */
function numberUses(flow: Flow, registerCount: number): Numbered {
  const positions = new Int32Array(flow.blocks.length);
  const definedIn = new Int32Array(registerCount).fill(-1);
  const definedAt = new Int32Array(registerCount).fill(-1);
  const firstUse = new Int32Array(registerCount + 1);
  const visit = (use: (register: Register, position: number) => void): void => {
    flow.blocks.forEach((block, number) => {
      if (!flow.isReachable[number]) return;
      let position = positions[number]!;
      for (const { uses } of block.insts) {
        position++;
        for (const register of uses) use(register, position);
      }
      position++;
      for (const register of block.end.uses) use(register, position);
      for (const { args } of block.edges) for (const register of args) use(register, position);
    });
  };
  let next = 0;
  flow.blocks.forEach((block, number) => {
    positions[number] = next;
    for (const register of block.params) [definedIn[register], definedAt[register]] = [number, next];
    block.insts.forEach(({ def }, index) => {
      if (def !== undefined) [definedIn[def], definedAt[def]] = [number, next + 1 + index];
    });
    next += block.insts.length + 2;
  });
  visit((register) => {
    firstUse[register + 1]!++;
  });
  for (let i = 0; i < registerCount; i++) firstUse[i + 1]! += firstUse[i]!;
  const at = firstUse.slice();
  const uses = new Int32Array(firstUse[registerCount]!);
  visit((register, position) => {
    uses[at[register]!++] = position;
  });
  return { positions, definedIn, definedAt, uses, firstUse };
}

/** Whether a register is used between two linear positions. */
export function isUsedBetween({ uses, firstUse }: Liveness, register: Register, first: number, last: number): boolean {
  let low = firstUse[register]!;
  let high = firstUse[register + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (uses[middle]! < first) low = middle + 1;
    else high = middle;
  }
  return low < firstUse[register + 1]! && uses[low]! <= last;
}

/** The length of an instruction for distances. */
export const lengthOf = (inst: MachineInst, all: readonly [number, number]): number => (isCall(inst, all) ? far : 1);

/** How far a target is behind an edge. */
export function edgePenalty(flow: Flow, from: number, to: number): number {
  const loop = flow.loopOf[from]!;
  let penalty = flow.blocks[to]!.isRare && !flow.blocks[from]!.isRare ? rarePenalty : 0;
  for (let i = loop; i >= 0; i = flow.loops[i]!.outer) {
    if (to >= flow.loops[i]!.header && to <= flow.loops[i]!.last) break;
    penalty += loopPenalty;
  }
  return penalty;
}

/** The sets at the end of a block, by the distance from the block's beginning; then the walk from its end to its beginning. */
class BackwardWalker {
  readonly liveIn: LiveIn[];
  readonly ends: Int32Array;
  readonly pressure: [Int32Array, Int32Array];
  private readonly next: Int32Array;
  private readonly isLive: Uint8Array;
  private readonly touched: number[] = [];
  private readonly live: [number, number] = [0, 0];

  private readonly flow: Flow;
  private readonly registers: readonly RegisterInfo[];
  private readonly numbered: Numbered;
  private readonly all: readonly [number, number];

  constructor(flow: Flow, registers: readonly RegisterInfo[], numbered: Numbered, all: readonly [number, number]) {
    this.flow = flow;
    this.registers = registers;
    this.numbered = numbered;
    this.all = all;

    this.liveIn = flow.blocks.map(() => nothing);
    this.ends = numbered.definedAt.slice();
    this.pressure = [new Int32Array(flow.blocks.length), new Int32Array(flow.blocks.length)];
    this.next = new Int32Array(registers.length);
    this.isLive = new Uint8Array(registers.length);
  }

  private use(register: Register, distance: number, end: number): void {
    if (this.isLive[register]) {
      if (distance < this.next[register]!) this.next[register] = distance;
      return;
    }
    this.isLive[register] = 1;
    this.touched.push(register);
    this.next[register] = distance;
    this.live[this.registers[register]!.class === 'general' ? 0 : 1]++;
    if (end > this.ends[register]!) this.ends[register] = end;
  }

  private remove(register: Register): void {
    if (!this.isLive[register]) return;
    this.isLive[register] = 0;
    this.live[this.registers[register]!.class === 'general' ? 0 : 1]--;
  }

  /** Returns whether the set at the beginning has grown. */
  walk(number: number): boolean {
    const block = this.flow.blocks[number]!;
    const endPosition = this.numbered.positions[number]! + block.insts.length + 1;
    this.live[0] = 0;
    this.live[1] = 0;
    this.touched.length = 0;
    let distance = blockLength(block, this.all);
    forLiveOut(this.flow, this.liveIn, number, distance, (register, at) => this.use(register, at, endPosition));
    const worst: [number, number] = [0, 0];
    distance--;
    this.read(block.end, distance, endPosition, worst);
    for (let i = block.insts.length - 1; i >= 0; i--) {
      const inst = block.insts[i]!;
      distance -= lengthOf(inst, this.all);
      if (inst.def !== undefined) this.remove(inst.def);
      this.read(inst, distance, endPosition - block.insts.length + i, worst);
      if (isCall(inst, this.all)) worst.fill(far);
    }
    const params = new Int32Array(block.params.length).fill(dead);
    block.params.forEach((register, index) => {
      if (this.isLive[register]) params[index] = this.next[register]!;
      this.remove(register);
    });
    this.pressure[0][number] = worst[0];
    this.pressure[1][number] = worst[1];
    return this.save(number, params);
  }

  private read(reader: MachineInst | MachineEnd, distance: number, position: number, worst: [number, number]): void {
    for (const register of reader.uses) {
      // Walking backward, the nearest use is the last one.
      if (this.isLive[register]) this.next[register] = distance;
      else this.use(register, distance, position);
    }
    let [general, vector] = this.live;
    if (reader.temps) for (const temp of reader.temps) temp === 'general' ? general++ : vector++;
    if (general > worst[0]) worst[0] = general;
    if (vector > worst[1]) worst[1] = vector;
  }

  private save(number: number, params: Int32Array): boolean {
    let size = 0;
    for (const register of this.touched) if (this.isLive[register] === 1) this.touched[size++] = register;
    const old = this.liveIn[number]!;
    const registers = new Int32Array(size);
    const distances = new Int32Array(size);
    let count = 0;
    for (let i = 0; i < size; i++) {
      const register = this.touched[i]!;
      // A register that was removed and used again is there twice.
      if (!this.isLive[register]) continue;
      this.isLive[register] = 0;
      registers[count] = register;
      distances[count++] = Math.min(this.next[register]!, longest);
    }
    this.liveIn[number] = { registers: registers.subarray(0, count), distances: distances.subarray(0, count), params };
    return old === nothing || count !== old.registers.length || liveCount(params) !== liveCount(old.params);
  }
}

const liveCount = (params: Int32Array): number => {
  let count = 0;
  for (const distance of params) if (distance !== dead) count++;
  return count;
};

/** The length of a block for distances. */
export function blockLength(block: MachineBlock, all: readonly [number, number]): number {
  let length = 1;
  for (const inst of block.insts) length += lengthOf(inst, all);
  return length;
}

/** Calls back for each register that lives at the end of a block, once for each edge, with its distance from the block's beginning. */
export function forLiveOut(
  flow: Flow,
  liveIn: readonly LiveIn[],
  number: number,
  length: number,
  each: (register: Register, distance: number) => void,
): void {
  for (const { block: to, args } of flow.blocks[number]!.edges) {
    const target = liveIn[to]!;
    const start = length + edgePenalty(flow, number, to);
    for (let i = 0; i < target.registers.length; i++) each(target.registers[i]!, Math.min(start + target.distances[i]!, longest));
    for (let i = 0; i < args.length; i++) {
      // A block that has not been visited yet has no parameters: what is live only grows from round to round.
      const distance = target.params[i] ?? dead;
      if (distance !== dead) each(args[i]!, Math.min(start + distance, longest));
    }
  }
}
