/** What is in which physical register at a point of the walk over a function, and the moves, loads and evictions that change it. */
import { bug } from '../../base/bug.ts';
import { type Step, vectorPlaces } from './allocated.ts';
import type { FixedPositions } from './fixed.ts';
import type { Hints } from './hints.ts';
import { dead } from './live-set.ts';
import type { Evictions } from './stores.ts';
import type { Register, RegisterClass, RegisterFile, RegisterInfo } from './types.ts';

/** The number of a class: 0 for general registers, 1 for vectors. */
export type ClassIndex = 0 | 1;
export const classIndex = (registerClass: RegisterClass): ClassIndex => (registerClass === 'general' ? 0 : 1);
/** The class and the bit of a place in the sets of its class. */
export const classOfPlace = (place: number): ClassIndex => (place < vectorPlaces ? 0 : 1);
export const bitOf = (place: number): number => 1 << (place & 31);

export const maskOf = (numbers: readonly number[]): number => numbers.reduce((mask, number) => mask | (1 << number), 0);

/** A set of places of each class. */
export type Masks = [general: number, vector: number];

export class RegisterState {
  /** The register in each place, or -1. */
  readonly at = new Int32Array(64).fill(-1);
  /** The place of each register, or -1. */
  readonly where: Int32Array;
  /** The distance of the next use of each live register. */
  readonly next: Int32Array;
  readonly classes: Uint8Array;
  readonly all: Masks;
  readonly free: Masks;
  /** Places of the parameters of the loops around, which their next values are to be in. */
  wanted: Masks = [0, 0];
  block = 0;
  /** The distance of the instruction in hand from the beginning of its block. */
  now = 0;
  /** The linear position. */
  position = 0;
  steps: Step[] = [];
  /** The last place of each register. */
  private readonly last: Int32Array;
  private readonly order: readonly [readonly number[], readonly number[]];

  readonly registers: readonly RegisterInfo[];
  readonly hints: Hints;
  readonly evictions: Evictions;
  private readonly fixed: FixedPositions;
  private readonly ends: Int32Array;

  constructor(
    registers: readonly RegisterInfo[],
    file: RegisterFile,
    hints: Hints,
    evictions: Evictions,
    fixed: FixedPositions,
    ends: Int32Array,
  ) {
    this.registers = registers;
    this.hints = hints;
    this.evictions = evictions;
    this.fixed = fixed;
    this.ends = ends;

    this.where = new Int32Array(registers.length).fill(-1);
    this.last = new Int32Array(registers.length).fill(-1);
    this.next = new Int32Array(registers.length).fill(dead);
    this.classes = Uint8Array.from(registers, (info) => classIndex(info.class));
    this.order = [file.general, file.vector];
    this.all = [maskOf(file.general), maskOf(file.vector)];
    this.free = [...this.all];
  }

  /** Puts a register, which is nowhere, into a free place. */
  put(register: Register, place: number): void {
    this.at[place] = register;
    this.where[register] = place;
    this.last[register] = place;
    this.free[classOfPlace(place)] &= ~bitOf(place);
  }

  drop(register: Register): void {
    const place = this.where[register]!;
    this.where[register] = -1;
    this.at[place] = -1;
    this.free[classOfPlace(place)] |= bitOf(place) & this.all[classOfPlace(place)];
  }

  clear(): void {
    const { at, where } = this;
    for (let place = 0; place < at.length; place++) if (at[place]! >= 0) where[at[place]!] = -1;
    this.at.fill(-1);
    this.free[0] = this.all[0];
    this.free[1] = this.all[1];
  }

  /** Drops a register that lives on: it is in memory from here on. */
  evict(register: Register): void {
    this.evictions.add(register, this.block, this.steps.length, this.where[register]!);
    this.drop(register);
  }

  copy(register: Register, from: number, to: number): void {
    this.steps.push({ kind: 'move', register, from, to });
  }

  move(register: Register, to: number): void {
    this.copy(register, this.where[register]!, to);
    this.drop(register);
    this.put(register, to);
  }

  /** Loads a spilled register, or computes it anew. */
  load(register: Register, to: number): void {
    if (this.registers[register]!.remake) this.steps.push({ kind: 'remake', register, to });
    else this.steps.push({ kind: 'load', register, to, slot: -1 });
    this.put(register, to);
  }

  /** The best place for a register among some. */
  pick(register: Register, registerClass: ClassIndex, mask: number): number {
    const base = registerClass === 0 ? 0 : vectorPlaces;
    const isIn = (place: number): boolean => place >= 0 && classOfPlace(place) === registerClass && (mask & bitOf(place)) !== 0;
    const hint = this.hints.placeOf(register);
    if (isIn(hint)) return hint;
    if (isIn(this.last[register]!)) return this.last[register]!;
    const others = mask & ~this.wanted[registerClass];
    if (others !== 0) mask = others;
    let best = -1;
    let farthest = -1;
    for (const number of this.order[registerClass]) {
      if ((mask & (1 << number)) === 0) continue;
      const until = this.fixed.next(base + number, this.position);
      if (until > this.ends[register]!) return base + number;
      if (until > farthest) [best, farthest] = [base + number, until];
    }
    if (best < 0) bug('no register to pick from');
    return best;
  }

  /** A place for a moment. */
  pickTemp(registerClass: ClassIndex, mask: number): number {
    const others = mask & ~this.wanted[registerClass];
    if (others !== 0) mask = others;
    return (registerClass === 0 ? 0 : vectorPlaces) + this.order[registerClass].find((number) => (mask & (1 << number)) !== 0)!;
  }

  /** The place, among some, whose register is used last; -1 if all of them are free. */
  victim(registerClass: ClassIndex, mask: number, isAllowed: (register: Register) => boolean = () => true): number {
    let rest = mask & this.all[registerClass] & ~this.free[registerClass];
    const base = registerClass === 0 ? 0 : vectorPlaces;
    let best = -1;
    let farthest = -1;
    while (rest !== 0) {
      const number = 31 - Math.clz32(rest);
      rest &= ~(1 << number);
      const register = this.at[base + number]!;
      if (this.next[register]! > farthest && isAllowed(register)) [best, farthest] = [base + number, this.next[register]!];
    }
    return best;
  }
}
