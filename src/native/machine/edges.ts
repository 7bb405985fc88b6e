/** The moves of edges: from where registers are at the end of a block to where they are at the beginning of the next one, arguments to parameters. */
import { placeCount, type Step } from './allocated.ts';
import { takenPlaces } from './entry.ts';
import { type Flow, isBusyEnd } from './flow.ts';
import { dead } from './live-set.ts';
import type { Liveness } from './liveness.ts';
import { type Location, orderMoves, type PendingMove } from './moves.ts';
import type { SlotAllocator } from './slots.ts';
import type { Masks } from './state.ts';
import type { Exit } from './stores.ts';
import type { MachineEdge, MachineFunction, Register, RegisterClass, RegisterInfo } from './types.ts';

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
  const maker = new EdgeMoves(allocation);
  flow.blocks.forEach((block, number) => {
    if (!flow.isReachable[number]) return;
    for (const edge of block.edges) {
      const moves = maker.of(number, edge);
      if (moves.length === 0) continue;
      if (isBusyEnd(block)) steps[edge.block]!.unshift(...moves);
      else steps[number]!.splice(steps[number]!.length - 1, 0, ...moves);
    }
  });
}

class EdgeMoves {
  private readonly allocation: Allocation;
  private readonly registers: readonly RegisterInfo[];
  /** The place of each register at the end of the block in hand, or -1. */
  private readonly where: Int32Array;
  /** The number of the edge that needs a register. */
  private readonly needed: Int32Array;
  /** The argument of each parameter of the edge in hand, or -1. */
  private readonly argOf: Int32Array;
  private readonly widest: readonly [Register, Register];
  private edges = 0;

  constructor(allocation: Allocation) {
    const { registers } = allocation.fn;
    this.allocation = allocation;
    this.registers = registers;
    this.where = new Int32Array(registers.length).fill(-1);
    this.needed = new Int32Array(registers.length);
    this.argOf = new Int32Array(registers.length).fill(-1);
    this.widest = [widestOf(registers, 'general'), widestOf(registers, 'vector')];
  }

  /** The steps of an edge. */
  of(from: number, { block: to, args }: MachineEdge): readonly Step[] {
    const { flow, liveness, exits, entries } = this.allocation;
    const { params } = flow.blocks[to]!;
    // A block with one before it begins as that one ends.
    if (params.length === 0 && flow.incoming[to]!.length === 1) return [];
    const exit = exits[from]!.at;
    this.edges++;
    for (let place = 0; place < placeCount; place++) if (exit[place]! >= 0) this.where[exit[place]!] = place;
    params.forEach((param, index) => {
      if (liveness.liveIn[to]!.params[index] !== dead) this.argOf[param] = args[index]!;
    });
    const moves = this.movesTo(entries[to]!, params);
    for (let place = 0; place < placeCount; place++) if (exit[place]! >= 0) this.where[exit[place]!] = -1;
    for (const param of params) this.argOf[param] = -1;
    return moves.length === 0 ? [] : this.inOrder(moves, exit, entries[to]!);
  }

  private movesTo(entry: Int32Array, params: readonly Register[]): PendingMove[] {
    const moves: PendingMove[] = [];
    const add = (target: Location, register: Register): void => {
      this.needed[register] = this.edges;
      const source = this.sourceOf(register);
      if (source !== target) moves.push({ to: target, from: source, register });
    };
    for (let place = 0; place < placeCount; place++) {
      const register = entry[place]!;
      if (register < 0) continue;
      const arg = this.argOf[register]!;
      add(place, arg < 0 ? register : arg);
    }
    for (const param of params) {
      if (this.argOf[param]! >= 0 && !entry.includes(param)) add(placeCount + this.allocation.slots.slotOf[param]!, this.argOf[param]!);
    }
    return moves;
  }

  private sourceOf(register: Register): Location {
    const place = this.where[register]!;
    if (place >= 0) return place;
    return this.registers[register]!.remake ? -1 : placeCount + this.allocation.slots.slotOf[register]!;
  }

  private inOrder(moves: readonly PendingMove[], exit: Int32Array, entry: Int32Array): readonly Step[] {
    const { all, slots } = this.allocation;
    const before = takenPlaces(exit, (register) => this.needed[register] === this.edges);
    const after = takenPlaces(entry, () => true);
    const free: Masks = [all[0] & ~(before[0] | after[0]), all[1] & ~(before[1] | after[1])];
    let scratchSlots = 0;
    return orderMoves(moves, this.registers, free, this.widest, (bytes) => slots.scratchSlot(bytes, scratchSlots++));
  }
}

/** A register of the greatest width of its class in the function, as which any other one can be saved; -1 if there is none. */
function widestOf(registers: readonly RegisterInfo[], registerClass: RegisterClass): Register {
  let widest = -1;
  registers.forEach((info, register) => {
    if (info.class === registerClass && (widest < 0 || info.bytes > registers[widest]!.bytes)) widest = register;
  });
  return widest;
}
