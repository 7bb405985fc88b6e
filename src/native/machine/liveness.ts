/**
 * Which registers live where, and how far their next use is. Distances are counted in instructions; what is behind a call, in rare blocks or behind a
 * loop is far away, so that whatever compares distances prefers the uses that are executed more often.
 */
import type { Flow } from './flow.ts';
import { dead, type LiveIn, LiveSet } from './live-set.ts';
import type { MachineBlock, MachineEnd, MachineInst, RegisterInfo } from './types.ts';

/** What is so far away lies behind a call that destroys all registers, in a rare block, or behind a loop. */
export const far = 1000;
const rarePenalty = 2000;
const loopPenalty = 100_000;
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
  /** By class (general, vector): how many registers live at once in a block, at its worst; many at calls. */
  readonly pressure: readonly [Int32Array, Int32Array];
}

/** Whether an instruction destroys every register of a class that the allocator uses. */
export const isCall = (inst: MachineInst, all: readonly [number, number]): boolean =>
  inst.clobbers !== undefined && ((inst.clobbers.general & all[0]) === all[0] || (inst.clobbers.vector & all[1]) === all[1]);

/** Computes liveness; `all` has the registers of the allocator as bits. */
export function livenessOf(flow: Flow, registers: readonly RegisterInfo[], all: readonly [number, number]): Liveness {
  const numbered = numberDefinitions(flow, registers.length);
  const walker = new BackwardWalker(flow, registers, numbered, all);
  const isDirty = new Uint8Array(flow.isReachable);
  // Liveness crosses a back edge in each further round, and so those of inner loops in several.
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (let block = flow.blocks.length - 1; block >= 0; block--) {
      if (!isDirty[block]) continue;
      isDirty[block] = 0;
      if (!walker.walk(block)) continue;
      for (const { block: before } of flow.incoming[block]!) {
        isDirty[before] = 1;
        isChanged ||= before >= block;
      }
    }
  }
  return { ...numbered, liveIn: walker.liveIn, ends: walker.ends, pressure: walker.pressure };
}

type Numbered = Pick<Liveness, 'positions' | 'definedIn' | 'definedAt'>;

/** Positions and definitions. */
function numberDefinitions(flow: Flow, registerCount: number): Numbered {
  const positions = new Int32Array(flow.blocks.length);
  const definedIn = new Int32Array(registerCount).fill(-1);
  const definedAt = new Int32Array(registerCount).fill(-1);
  let next = 0;
  flow.blocks.forEach((block, number) => {
    positions[number] = next;
    for (const register of block.params) [definedIn[register], definedAt[register]] = [number, next];
    block.insts.forEach(({ def }, index) => {
      if (def !== undefined) [definedIn[def], definedAt[def]] = [number, next + 1 + index];
    });
    next += block.insts.length + 2;
  });
  return { positions, definedIn, definedAt };
}

/** The length of an instruction for distances. */
export const lengthOf = (inst: MachineInst, all: readonly [number, number]): number => (isCall(inst, all) ? far : 1);

/** How far a target is behind an edge. */
function edgePenalty(flow: Flow, from: number, to: number): number {
  const loop = flow.loopOf[from]!;
  let penalty = flow.blocks[to]!.isRare && !flow.blocks[from]!.isRare ? rarePenalty : 0;
  for (let i = loop; i >= 0; i = flow.loops[i]!.outer) {
    if (to >= flow.loops[i]!.header && to <= flow.loops[i]!.last) break;
    penalty += loopPenalty;
  }
  return penalty;
}

/** What lives at the beginning of each block, as known so far. */
class BackwardWalker {
  readonly liveIn: LiveIn[];
  readonly ends: Int32Array;
  readonly pressure: [Int32Array, Int32Array];
  private readonly flow: Flow;
  private readonly numbered: Numbered;
  private readonly all: readonly [number, number];
  private readonly live: LiveSet;
  private readonly worst: [number, number] = [0, 0];

  constructor(flow: Flow, registers: readonly RegisterInfo[], numbered: Numbered, all: readonly [number, number]) {
    this.flow = flow;
    this.numbered = numbered;
    this.all = all;
    this.liveIn = flow.blocks.map(() => nothing);
    this.ends = numbered.definedAt.slice();
    this.pressure = [new Int32Array(flow.blocks.length), new Int32Array(flow.blocks.length)];
    this.live = new LiveSet(registers, new Int32Array(registers.length), this.ends);
  }

  /** Returns whether the set at the beginning has grown. */
  walk(number: number): boolean {
    const { live, worst } = this;
    const block = this.flow.blocks[number]!;
    const endPosition = this.numbered.positions[number]! + block.insts.length + 1;
    let distance = blockLength(block, this.all);
    live.begin();
    addLiveOut(live, this.flow, this.liveIn, number, distance, endPosition);
    worst[0] = 0;
    worst[1] = 0;
    distance--;
    this.read(block.end, distance, endPosition);
    for (let i = block.insts.length - 1; i >= 0; i--) {
      const inst = block.insts[i]!;
      const length = lengthOf(inst, this.all);
      distance -= length;
      if (inst.def !== undefined) live.remove(inst.def);
      this.read(inst, distance, endPosition - block.insts.length + i);
      if (length === far) worst.fill(far);
    }
    const params = new Int32Array(block.params.length).fill(dead);
    block.params.forEach((register, index) => {
      if (live.lives(register)) params[index] = live.next[register]!;
      live.remove(register);
    });
    this.pressure[0][number] = worst[0];
    this.pressure[1][number] = worst[1];
    const old = this.liveIn[number]!;
    const { registers, distances } = live.liveIn;
    this.liveIn[number] = { registers, distances, params };
    return registers.length !== old.registers.length || liveCount(params) !== liveCount(old.params);
  }

  private read(reader: MachineInst | MachineEnd, distance: number, position: number): void {
    const { live, worst } = this;
    for (const register of reader.uses) live.use(register, distance, position);
    let [general, vector] = live.count;
    if (reader.temps) for (const temp of reader.temps) temp === 'general' ? general++ : vector++;
    if (general > worst[0]) worst[0] = general;
    if (vector > worst[1]) worst[1] = vector;
  }
}

const liveCount = (params: Int32Array): number => {
  let count = 0;
  for (let i = 0; i < params.length; i++) if (params[i] !== dead) count++;
  return count;
};

/** The length of a block for distances. */
export function blockLength(block: MachineBlock, all: readonly [number, number]): number {
  let length = 1;
  for (const inst of block.insts) length += lengthOf(inst, all);
  return length;
}

/** Adds the registers that live at the end of a block, which has this length and linear position. */
export function addLiveOut(live: LiveSet, flow: Flow, liveIn: readonly LiveIn[], number: number, length: number, position: number): void {
  for (const { block: to, args } of flow.blocks[number]!.edges) {
    live.addBlock(liveIn[to]!, args, length + edgePenalty(flow, number, to), position);
  }
}
