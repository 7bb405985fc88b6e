/**
 * Exact f32 fused multiply-add in rerolled code (`emit/reroll-chunk.ts`): as in `fma-f32.ts`, but hard cases are only recorded. A chunk that had
 * one is executed again by a variant that rounds every sum to odd.
 */
import type { InstOf, Value } from '../../../ir/index.ts';
import type { NameWith } from '../../../wasm/index.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { tuning } from '../../tuning.ts';
import type { LaneGroup } from '../lanes/lane-group.ts';
import { joinHalves } from '../lanes/vectors.ts';
import { hardCaseBound, hardCaseKey, isScaledHardCase, roundToF32, roundToOdd, type Scale, scaledKey, scaleOf } from './fma-f32.ts';

/** The vectors of one iteration of a rerolled loop. */
export interface Tile {
  readonly group: LaneGroup;
  /** Their number, of four lanes each. */
  readonly packs: number;
  /** Pushes a vector of a value. */
  part(value: Value, part: number): void;
  /** The local of a vector of a value that this iteration computes. */
  own(value: Value, part: number): number;
  /** Pushes the lower or the upper half of a vector of a value, as f64. */
  double(value: Value, half: number): void;
  /** The local of the same, of a value that this iteration computes. */
  ownDouble(value: Value, half: number): number;
}

/** The hard cases of a chunk: whether any of its sums may be rounded wrong. */
export interface HardCases {
  /** Pops the `hardCaseKey` of sums and records it. */
  addKey(): void;
  /** Pops a mask of lanes with a hard case and records it. */
  addMask(): void;
  /** Pushes whether there was any hard case. */
  push(): void;
}

/** Runs `body` with an empty record of hard cases, which is kept in two scratch locals. */
export function withHardCases(s: LaneGroup, body: (hardCases: HardCases) => void): void {
  const { code } = s;
  withScratch(s, 'v128', 2, ([minKey, anyMask]) => {
    const [key, mask] = [accumulator(s, minKey, 'i32x4.min_s'), accumulator(s, anyMask, 'v128.or')];
    body({
      addKey: key.add,
      addMask: mask.add,
      push() {
        const hasKey = key.push();
        if (hasKey) {
          code.v128(hardCaseBound);
          code.op('i32x4.lt_s');
        }
        const hasMask = mask.push();
        if (hasKey && hasMask) code.op('v128.or');
        if (hasKey || hasMask) code.op('i32x4.bitmask');
        else code.i32(0);
      },
    });
  });
}

/** Folds vectors from the stack into a local by an instruction; `push` pushes the local if there was any vector, and returns whether there was. */
function accumulator({ code }: LaneGroup, local: number, op: NameWith<'none'>): { add(): void; push(): boolean } {
  let isSet = false;
  const push = (): boolean => {
    if (isSet) code.at('local.get', local);
    return isSet;
  };
  return {
    add() {
      if (push()) code.op(op);
      code.at('local.set', local);
      isSet = true;
    },
    push,
  };
}

/** Writes an FMA for all vectors of an iteration. Hard cases are recorded; without a record of them every sum is rounded to odd. */
export function exactFmaOfTile(tile: Tile, inst: InstOf<'fma'>, value: Value, hardCases: HardCases | undefined): void {
  const { group, packs } = tile;
  const { interleavedFmaHalves } = tuning;
  const scale = hardCases && scaleOf(group, inst);
  if (scale) return scaledSum(tile, inst, value, scale, hardCases);
  const isOftenHard = [inst.a, inst.b].some((operand) => hasFewBits(group, operand));
  for (let from = 0; from < 2 * packs; from += interleavedFmaHalves) {
    const halves = Array.from({ length: Math.min(interleavedFmaHalves, 2 * packs - from) }, (_, i) => from + i);
    withScratch(group, 'v128', halves.length, (sums) => {
      writeSums(tile, inst, { halves, sums }, isOftenHard ? undefined : hardCases);
      for (const [i, half] of halves.entries()) {
        roundToF32(group, sums[i]!, tile.ownDouble(value, half));
        if (half % 2 === 0) continue;
        for (const each of [i - 1, i]) group.code.at('local.get', sums[each]!);
        joinHalves(group);
        group.code.at('local.set', tile.own(value, half >> 1));
      }
    });
  }
}

/** Sets the f64 sums of some halves: with their hard cases recorded, or rounded to odd. */
function writeSums(
  { group, double }: Tile,
  inst: InstOf<'fma'>,
  { halves, sums }: Record<'halves' | 'sums', readonly number[]>,
  hardCases: HardCases | undefined,
): void {
  const { code } = group;
  const product = (half: number): void => {
    double(inst.a, half);
    double(inst.b, half);
    code.op('f64x2.mul');
  };
  for (const [i, half] of halves.entries()) {
    product(half);
    double(inst.c, half);
    code.op('f64x2.add');
    code.at('local.set', sums[i]!);
    if (hardCases) continue;
    roundToOdd(
      group,
      sums[i]!,
      () => product(half),
      () => double(inst.c, half),
    );
  }
  if (!hardCases) return;
  // The keys of these sums are folded first, since the accumulator may be spilled to memory.
  for (const [i, sum] of sums.entries()) {
    code.at('local.get', sum);
    hardCaseKey(group);
    if (i > 0) code.op('i32x4.min_s');
  }
  hardCases.addKey();
}

/** An FMA with a power of two as a factor, in f32; products that become subnormal or overflow are hard cases. */
function scaledSum({ group, packs, part, own }: Tile, inst: InstOf<'fma'>, value: Value, { by, power }: Scale, hardCases: HardCases): void {
  const { code } = group;
  const scaled = by === inst.a ? inst.b : inst.a;
  for (let pack = 0; pack < packs; pack++) {
    if (power !== 0) {
      part(scaled, pack);
      scaledKey(group, power);
      isScaledHardCase(group, power);
      hardCases.addMask();
    }
    for (const operand of [scaled, by]) part(operand, pack);
    code.op('f32x4.mul');
    part(inst.c, pack);
    code.op('f32x4.add');
    code.at('local.set', own(value, pack));
  }
}

/**
 * Whether a factor is an integer-valued float. Such a factor has few significant bits, so a sum with its product often has one bit more than an
 * f32, which is the halfway case: for example an exponent times the logarithm of 2. Such sums are rounded to odd at once.
 */
const hasFewBits = ({ kernel }: LaneGroup, factor: Value): boolean => {
  const { op } = kernel.insts[factor]!;
  return op === 'sitofp' || op === 'uitofp' || op === 'frint' || op === 'ffloor' || op === 'fceil' || op === 'ftrunc';
};
