/** The moves of edges: from where registers are at the end of a block to where they are at the beginning of the next one, arguments to parameters. */
import { placeCount, type Step } from './allocated.ts';
import { takenPlaces } from './entry.ts';
import { type Flow, isBusyEnd } from './flow.ts';
import { dead, type Liveness } from './liveness.ts';
import { type Location, orderMoves, type PendingMove } from './moves.ts';
import type { SlotAllocator } from './slots.ts';
import type { Masks } from './state.ts';
import type { Exit } from './stores.ts';
import type { MachineEdge, MachineFunction, Register } from './types.ts';

interface Allocation {
  readonly fn: MachineFunction;
  readonly flow: Flow;
  readonly liveness: Liveness;
  readonly slots: SlotAllocator;
  readonly exits: readonly (Exit | undefined)[];
  readonly entries: readonly (Int32Array | undefined)[];
  /** Of each block, with stores; the moves are added to them. */
  readonly steps: Step[][];
  readonly all: Readonly<Masks>;
}

/** Adds the moves of all edges: at the end of a block with one edge, else at the beginning of the edge's block, which then has no other. */
export function addEdgeMoves(allocation: Allocation): void {
  const { flow, steps } = allocation;
  flow.blocks.forEach((block, number) => {
    if (!flow.isReachable[number]) return;
    for (const edge of block.edges) {
      const moves = movesOf(allocation, number, edge);
      if (moves.length === 0) continue;
      if (isBusyEnd(block)) steps[edge.block]!.unshift(...moves);
      else steps[number]!.splice(steps[number]!.length - 1, 0, ...moves);
    }
  });
}

function movesOf(allocation: Allocation, from: number, { block: to, args }: MachineEdge): readonly Step[] {
  const { fn, flow, liveness, slots, exits, entries } = allocation;
  const exit = exits[from]!.at;
  const entry = entries[to]!;
  const { params } = flow.blocks[to]!;
  const where = new Map<Register, number>();
  exit.forEach((register, place) => {
    if (register >= 0) where.set(register, place);
  });
  const sourceOf = (register: Register): Location => {
    const place = where.get(register);
    if (place !== undefined) return place;
    return fn.registers[register]!.remake ? -1 : placeCount + slots.slotOf[register]!;
  };
  const argOf = new Map<Register, Register>();
  params.forEach((param, index) => {
    if (liveness.liveIn[to]!.params[index] !== dead) argOf.set(param, args[index]!);
  });
  const moves: PendingMove[] = [];
  const needed = new Set<Register>();
  const add = (target: Location, register: Register): void => {
    needed.add(register);
    const source = sourceOf(register);
    if (source !== target) moves.push({ to: target, from: source, register });
  };
  entry.forEach((register, place) => {
    if (register >= 0) add(place, argOf.get(register) ?? register);
  });
  for (const [param, arg] of argOf) if (!entry.includes(param)) add(placeCount + slots.slotOf[param]!, arg);
  if (moves.length === 0) return [];
  const [before, after] = [takenPlaces(exit, (register) => needed.has(register)), takenPlaces(entry, () => true)];
  const free: Masks = [allocation.all[0] & ~(before[0] | after[0]), allocation.all[1] & ~(before[1] | after[1])];
  let scratchSlots = 0;
  return orderMoves(moves, fn.registers, free, (bytes) => slots.scratchSlot(bytes, scratchSlots++));
}
