/** Exact fused operations of singles in rolled code (`emit/reroll-chunk.ts`): as in `fma-f32.ts`, but what is in doubt is only noted. */
import type { InstOf, Value } from '../../../ir/index.ts';
import type { LaneGroup } from '../lanes/lane-group.ts';
import { joinHalves } from '../lanes/vectors.ts';
import { doubtBound, doubtOfScaled, offsetOfDoubt, offsetOfScaled, powerOfTwo, roundToOdd, type Scale, toSingle } from './fma-f32.ts';

/** The vectors that one turn takes. */
export interface Tile {
  readonly group: LaneGroup;
  /** How many there are, of four lanes. */
  readonly packs: number;
  /** Puts a vector of a value on the stack. */
  part(value: Value, part: number): void;
  /** The local of a vector of a value that is worked out here. */
  own(value: Value, part: number): number;
  /** Puts two numbers of a value on the stack, as doubles: the lower or the upper half of a vector. */
  double(value: Value, half: number): void;
  /** The local of the same. */
  ownDouble(value: Value, half: number): number;
}

/** What is known of the sums of a chunk: whether any of them may be wrong. */
export interface Doubt {
  /** Takes what `offsetOfDoubt` made of a sum from the stack. */
  note(): void;
  /** Takes a mask of lanes that are in doubt from the stack. */
  mark(): void;
  /** Puts on the stack whether there is any doubt. */
  push(): void;
}

/** Halves of vectors whose steps are written side by side: more take registers from each other, fewer wait for each other. */
const sideBySide = 4;

/** Scratch locals of these rules: sums from the third on. */
const [least, marked, firstSum] = [160, 161, 162];

export function newDoubt(s: LaneGroup): Doubt {
  const { code } = s;
  const [offset, mask] = [folded(s, least, 'i32x4.min_s'), folded(s, marked, 'v128.or')];
  return {
    note: offset.add,
    mark: mask.add,
    push() {
      const isNoted = offset.push();
      if (isNoted) {
        code.v128(doubtBound);
        code.op('i32x4.lt_s');
      }
      const isMarked = mask.push();
      if (isNoted && isMarked) code.op('v128.or');
      if (isNoted || isMarked) code.op('i32x4.bitmask');
      else code.i32(0);
    },
  };
}

/** A vector into which those on the stack are folded one by one; `push` puts it there if there is any, and says so. */
function folded({ code, temp }: LaneGroup, which: number, op: string): { add(): void; push(): boolean } {
  const local = temp('v128', which);
  let isThere = false;
  const push = (): boolean => {
    if (isThere) code.at('local.get', local);
    return isThere;
  };
  return {
    add() {
      if (push()) code.op(op);
      code.at('local.set', local);
      isThere = true;
    },
    push,
  };
}

/** Writes a fused operation for all vectors of a turn. Without a doubt to note sums are rounded to odd. */
export function fused(tile: Tile, inst: InstOf<'fma'>, value: Value, doubt: Doubt | undefined): void {
  const { group, packs } = tile;
  const { code } = group;
  const scale = doubt && (powerOfTwo(group, inst.a) ?? powerOfTwo(group, inst.b));
  const isOften = [inst.a, inst.b].some((operand) => seldomFills(group, operand));
  const product = (half: number): void => {
    tile.double(inst.a, half);
    tile.double(inst.b, half);
    code.op('f64x2.mul');
  };
  if (doubt && scale) return scaledSum(tile, inst, value, scale, doubt);
  const isNoted = doubt !== undefined && !isOften;
  for (let from = 0; from < 2 * packs; from += sideBySide) {
    const halves = Array.from({ length: Math.min(sideBySide, 2 * packs - from) }, (_, i) => from + i);
    const sumOf = (half: number): number => group.temp('v128', firstSum + half - from);
    for (const half of halves) {
      product(half);
      tile.double(inst.c, half);
      code.op('f64x2.add');
      code.at('local.set', sumOf(half));
      if (isNoted) continue;
      roundToOdd(
        group,
        sumOf(half),
        () => product(half),
        () => tile.double(inst.c, half),
      );
    }
    if (isNoted) {
      // Those at hand first, for what is noted may wait in memory.
      for (const half of halves) {
        code.at('local.get', sumOf(half));
        offsetOfDoubt(group);
        if (half > from) code.op('i32x4.min_s');
      }
      doubt.note();
    }
    for (const half of halves) {
      toSingle(group, sumOf(half), tile.ownDouble(value, half));
      if (half % 2 === 0) continue;
      for (const each of [half - 1, half]) code.at('local.get', sumOf(each));
      joinHalves(group);
      code.at('local.set', tile.own(value, half >> 1));
    }
  }
}

/** As singles, where a factor is a power of two; with what cannot be exact so in doubt. */
function scaledSum({ group, packs, part, own }: Tile, inst: InstOf<'fma'>, value: Value, { by, power }: Scale, doubt: Doubt): void {
  const { code } = group;
  const scaled = by === inst.a ? inst.b : inst.a;
  for (let pack = 0; pack < packs; pack++) {
    if (power !== 0) {
      part(scaled, pack);
      offsetOfScaled(group, power);
      doubtOfScaled(group, power);
      doubt.mark();
    }
    for (const operand of [scaled, by]) part(operand, pack);
    code.op('f32x4.mul');
    part(inst.c, pack);
    code.op('f32x4.add');
    code.at('local.set', own(value, pack));
  }
}

/**
 * Whether a factor is a whole number that was one of integers: it has few bits, so that a sum with its product often has one bit more than a single,
 * as with an exponent times the logarithm of 2. Such sums are rounded to odd at once.
 */
const seldomFills = ({ kernel }: LaneGroup, factor: Value): boolean => {
  const { op } = kernel.insts[factor]!;
  return op === 'sitofp' || op === 'uitofp' || op === 'frint' || op === 'ffloor' || op === 'fceil' || op === 'ftrunc';
};
