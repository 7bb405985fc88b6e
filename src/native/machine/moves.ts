/** Moves that happen at once, in an order in which no source is overwritten before it is read. Cycles are broken by exchanges, free places or slots. */
import { placeCount, type Step, vectorPlaces } from './allocated.ts';
import type { Masks } from './state.ts';
import type { Register, RegisterInfo } from './types.ts';

/** A place; or a slot, as `placeCount` plus its number; or -1 for what is computed anew. */
export type Location = number;

export interface PendingMove {
  readonly to: Location;
  from: Location;
  /** Whose bits are moved: its class, its width, and how it is computed anew. */
  readonly register: Register;
}

/** A slot for a moment, of a width; two of them are never the same. */
export type ScratchSlot = (bytes: RegisterInfo['bytes']) => number;

const isSlot = (location: Location): boolean => location >= placeCount;

class MoveOrderer {
  readonly steps: Step[] = [];

  private readonly registers: readonly RegisterInfo[];
  /** Places with nothing of worth during all moves. */
  private readonly free: Masks;
  /** A register of the greatest width of each class, as which any other one can be saved. */
  private readonly widest: readonly [Register, Register];
  private readonly scratch: ScratchSlot;

  constructor(registers: readonly RegisterInfo[], free: Masks, widest: readonly [Register, Register], scratch: ScratchSlot) {
    this.widest = widest;
    this.registers = registers;
    this.free = free;
    this.scratch = scratch;
  }

  order(moves: readonly PendingMove[]): void {
    const pending = new Map<Location, PendingMove>();
    const readers = new Map<Location, number>();
    for (const move of moves) {
      if (move.to === move.from) continue;
      pending.set(move.to, move);
      if (move.from >= 0) readers.set(move.from, (readers.get(move.from) ?? 0) + 1);
    }
    // What is computed anew comes last: it reads nothing.
    const ready = [...pending.values()].filter(({ to }) => !readers.has(to)).sort((a, b) => Number(a.from >= 0) - Number(b.from >= 0));
    while (pending.size > 0) {
      const move = ready.pop();
      if (move === undefined) {
        this.breakCycle(pending, ready);
        continue;
      }
      pending.delete(move.to);
      this.emit(move);
      const count = (readers.get(move.from) ?? 0) - 1;
      readers.set(move.from, count);
      const waiting = count === 0 ? pending.get(move.from) : undefined;
      if (waiting) ready.push(waiting);
    }
  }

  /** All pending moves are in cycles: each location is read once. */
  private breakCycle(pending: Map<Location, PendingMove>, ready: PendingMove[]): void {
    const [first] = pending.values();
    const reader = [...this.cycleOf(first!, pending)].find(({ from }) => from === first!.to)!;
    const { register, to, from } = first!;
    if (to < vectorPlaces && from < vectorPlaces) {
      this.steps.push({ kind: 'swap', register, from, to });
      pending.delete(to);
      // What was in `to` is now in `from`.
      reader.from = from;
      if (reader.to === from) pending.delete(from);
      return;
    }
    const registerClass = this.registers[register]!.class === 'general' ? 0 : 1;
    const place = this.takeFree(registerClass);
    const away = place >= 0 ? place : placeCount + this.scratch(this.registers[reader.register]!.bytes);
    this.emit({ to: away, from: to, register: reader.register });
    reader.from = away;
    ready.push(first!);
  }

  private *cycleOf(first: PendingMove, pending: Map<Location, PendingMove>): Generator<PendingMove> {
    let move = first;
    do {
      yield move;
      move = pending.get(move.from)!;
    } while (move !== first && move !== undefined);
  }

  private takeFree(registerClass: 0 | 1): number {
    const mask = this.free[registerClass];
    if (mask === 0) return -1;
    const number = 31 - Math.clz32(mask);
    this.free[registerClass] &= ~(1 << number);
    return registerClass * vectorPlaces + number;
  }

  private emit({ to, from, register }: PendingMove): void {
    const { steps } = this;
    if (!isSlot(to)) {
      if (from < 0) steps.push({ kind: 'remake', register, to });
      else if (isSlot(from)) steps.push({ kind: 'load', register, to, slot: from - placeCount });
      else steps.push({ kind: 'move', register, from, to });
    } else if (from >= 0 && !isSlot(from)) steps.push({ kind: 'store', register, from, slot: to - placeCount });
    else this.throughRegister({ to, from, register });
  }

  /** From memory to memory, by a free register or one that is saved for it. */
  private throughRegister({ to, from, register }: PendingMove): void {
    const info = this.registers[register]!;
    const registerClass = info.class === 'general' ? 0 : 1;
    const mask = this.free[registerClass];
    const isFree = mask !== 0;
    const place = registerClass * vectorPlaces + (isFree ? 31 - Math.clz32(mask) : 0);
    const whole = this.widest[registerClass];
    const saved = isFree ? undefined : this.scratch(this.registers[whole]!.bytes);
    if (saved !== undefined) this.steps.push({ kind: 'store', register: whole, from: place, slot: saved });
    this.emit({ to: place, from, register });
    this.steps.push({ kind: 'store', register, from: place, slot: to - placeCount });
    if (saved !== undefined) this.steps.push({ kind: 'load', register: whole, to: place, slot: saved });
  }
}

/** The steps of moves that happen at once. */
export function orderMoves(
  moves: readonly PendingMove[],
  registers: readonly RegisterInfo[],
  free: Masks,
  widest: readonly [Register, Register],
  scratch: ScratchSlot,
): readonly Step[] {
  const orderer = new MoveOrderer(registers, free, widest, scratch);
  orderer.order(moves);
  return orderer.steps;
}
