/**
 * Exact f32 fused multiply-add, for all vectors of a lane group. Products are exact in f64. Rounding the sum to f64 and then to f32 is wrong only
 * in hard cases: the f64 lies halfway between two f32 values, or the result is subnormal. Hard cases are tested for, and then the sums are
 * rounded to odd. No function is called, since engines keep no vector in a register across a call, even one that is never reached.
 * Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008); TwoSum after Knuth.
 */
import { type InstOf, type Value, varying } from '../../../ir/index.ts';
import { pushRoundedToOddByProduct, pushTwoSumError } from '../../codegen/error-free.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { tuning } from '../../tuning.ts';
import { type LaneGroup, shapeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';
import { joinHalves, longs, upperHalf, words } from '../lanes/vectors.ts';

/** Whether a value is a varying f32 FMA in the mode `exact`. */
export function isExactFma(s: LaneGroup, value: Value): boolean {
  const inst = s.kernel.insts[value]!;
  return inst.op === 'fma' && inst.type === 'f32' && s.fma === 'exact' && shapeOf(s, value) === varying;
}

/** Whether an FMA has a constant power of two as a factor, so that its product is exact in f32. */
export function isScaledFma(s: LaneGroup, value: Value): boolean {
  const inst = s.kernel.insts[value]!;
  return inst.op === 'fma' && scaleOf(s, inst) !== undefined;
}

/** The factor of an FMA that is a constant power of two, if there is one. */
export const scaleOf = (s: LaneGroup, { a, b }: InstOf<'fma'>): Scale | undefined => powerOfTwo(s, a) ?? powerOfTwo(s, b);

/** Writes an exact FMA with a varying result. */
export function exactFma(values: GroupValues, inst: InstOf<'fma'>, value: Value): void {
  const scale = scaleOf(values.group, inst);
  if (scale === undefined) return emulateInF64(values, inst, value);
  scaledSum(values, inst, value, scale);
}

export interface Scale {
  /** The constant operand, a power of two. */
  readonly by: Value;
  /** Its exponent. */
  readonly power: number;
}

/** The operand as a scale, if it is a constant power of two of moderate exponent. */
function powerOfTwo({ kernel }: LaneGroup, operand: Value): Scale | undefined {
  const inst = kernel.insts[operand]!;
  if (inst.op !== 'const') return undefined;
  const bits = Number(inst.bits & 0x7fff_ffffn);
  const power = (bits >> 23) - 127;
  return (bits & 0x7f_ffff) === 0 && Math.abs(power) <= 100 ? { by: operand, power } : undefined;
}

/** A product with a power of two is exact in f32, so the sum rounds once; the hard cases are products that become subnormal or overflow. */
function scaledSum(values: GroupValues, inst: InstOf<'fma'>, value: Value, scale: Scale): void {
  const { packs } = values.group.plan;
  const perTest = packsPerTest(packs);
  for (let first = 0; first < packs; first += perTest)
    scaledPacks(
      values,
      inst,
      value,
      scale,
      Array.from({ length: Math.min(perTest, packs - first) }, (_, i) => first + i),
    );
}

function scaledPacks(values: GroupValues, inst: InstOf<'fma'>, value: Value, { by, power }: Scale, packs: readonly number[]): void {
  const s = values.group;
  const { code } = s;
  const save = (operand: Value, locals: readonly number[]): void => {
    for (const [i, pack] of packs.entries()) {
      s.part(operand, pack);
      code.at('local.set', locals[i]!);
    }
  };
  withScratch(s, 'v128', 3 * packs.length, (locals) => {
    const [scaled, added, sums] = [0, 1, 2].map((i) => locals.slice(i * packs.length, (i + 1) * packs.length)) as [
      number[],
      number[],
      number[],
    ];
    save(by === inst.a ? inst.b : inst.a, scaled);
    save(inst.c, added);
    for (const [i, pack] of packs.entries()) {
      code.at('local.get', scaled[i]!);
      s.part(by, pack);
      code.op('f32x4.mul');
      code.at('local.get', added[i]!);
      code.op('f32x4.add');
      code.at('local.set', sums[i]!);
    }
    if (power !== 0) replaceHardCases(s, { by, power }, { scaled, added, sums });
    for (const [i, pack] of packs.entries()) {
      code.at('local.get', sums[i]!);
      values.put(value, 0, pack);
    }
  });
}

/** The locals of scaled sums, by pack. */
type ScaledLocals = Record<'scaled' | 'added' | 'sums', readonly number[]>;

/** Recomputes the sums in f64 if any of them is a hard case. */
function replaceHardCases(s: LaneGroup, { by, power }: Scale, locals: ScaledLocals): void {
  const { code } = s;
  for (const [i, factor] of locals.scaled.entries()) {
    code.at('local.get', factor);
    scaledKey(s, power);
    if (i > 0) code.op(power < 0 ? 'i32x4.min_s' : 'i32x4.max_s');
  }
  isScaledHardCase(s, power);
  code.op('i32x4.bitmask');
  code.openRare();
  scaledInF64(s, by, locals);
  code.end();
}

/** Recomputes sums in f64, rounded to odd. */
function scaledInF64(s: LaneGroup, by: Value, { scaled, added, sums }: ScaledLocals): void {
  const { code } = s;
  const half = (locals: readonly number[], which: number): void => {
    code.at('local.get', locals[which >> 1]!);
    if (which % 2 === 1) upperHalf(s);
    code.op('f64x2.promote_low_f32x4');
  };
  const product = (which: number): void => {
    half(scaled, which);
    splatF64(s, by);
    code.op('f64x2.mul');
  };
  for (const [i, sum] of sums.entries()) {
    withScratch(s, 'v128', 2, (wide) => {
      for (const [j, local] of wide.entries()) {
        const which = 2 * i + j;
        product(which);
        half(added, which);
        code.op('f64x2.add');
        code.at('local.set', local);
        roundToOdd(
          s,
          local,
          () => product(which),
          () => half(added, which),
        );
      }
      for (const local of wide) {
        code.at('local.get', local);
        code.op('f32x4.demote_f64x2_zero');
      }
    });
    joinHalves(s);
    code.at('local.set', sum);
  }
}

/**
 * Replaces the factor on the stack by 32-bit keys, for `isScaledHardCase`: the magnitude's bits. A negative power can make a product subnormal, so
 * its keys have their minimum folded: magnitudes start at the smallest i32, and 0, whose product is exact, wraps to the largest. A positive power
 * can make a product overflow, so its keys have their maximum folded.
 */
export function scaledKey({ code }: LaneGroup, power: number): void {
  code.v128(words(0x7fff_ffff));
  code.op('v128.and');
  code.v128(words(power < 0 ? 1 - i32Min : 0));
  code.op('i32x4.sub');
}

/**
 * Replaces keys, or their folded minimum or maximum, by a mask of hard cases: magnitudes up to 2^(-126 - power), whose product may be subnormal, or
 * from 2^(128 - power) on, whose product overflows.
 */
export function isScaledHardCase({ code }: LaneGroup, power: number): void {
  const minNormalFactor = (1 - power) << 23;
  code.v128(words(power < 0 ? i32Min + minNormalFactor : (255 - power) << 23));
  code.op(power < 0 ? 'i32x4.lt_s' : 'i32x4.ge_s');
}

function emulateInF64(values: GroupValues, inst: InstOf<'fma'>, value: Value): void {
  const s = values.group;
  const operands = [inst.a, inst.b, inst.c].map((operand) => f64Operand(values, operand)) as [F64Operand, F64Operand, F64Operand];
  const results = values.doubles(value).locals;
  const { packs } = s.plan;
  const perTest = packsPerTest(packs);
  // A few packs per test, so that the values that the rare case needs fit in registers.
  for (let first = 0; first < packs; first += perTest) {
    const halves = Array.from({ length: 2 * Math.min(perTest, packs - first) }, (_, i) => 2 * first + i);
    withScratch(s, 'v128', halves.length, (sums) => {
      sumsInF64(s, operands, halves, sums);
      // Rounds to f32, and keeps the results as f64 too for the next FMA.
      for (const [i, half] of halves.entries()) {
        roundToF32(s, sums[i]!, results[half]!);
        if (half % 2 === 0) continue;
        for (const each of [i - 1, i]) s.code.at('local.get', sums[each]!);
        joinHalves(s);
        values.put(value, 0, half >> 1);
      }
    });
  }
}

/** Sets the f64 sums of some halves; all of them are rounded to odd if any is a hard case. */
function sumsInF64(
  s: LaneGroup,
  [a, b, c]: readonly [F64Operand, F64Operand, F64Operand],
  halves: readonly number[],
  sums: readonly number[],
): void {
  const { code } = s;
  const product = (half: number): void => {
    a.push(half);
    b.push(half);
    code.op('f64x2.mul');
  };
  for (const [i, half] of halves.entries()) {
    if (half % 2 === 0) for (const operand of [a, b, c]) operand.convert(half >> 1);
    product(half);
    c.push(half);
    code.op('f64x2.add');
    code.at('local.tee', sums[i]!);
    hardCaseKey(s);
    if (i > 0) code.op('i32x4.min_s');
  }
  code.v128(hardCaseBound);
  code.op('i32x4.lt_s');
  code.op('i32x4.bitmask');
  code.openRare();
  for (const [i, half] of halves.entries())
    roundToOdd(
      s,
      sums[i]!,
      () => product(half),
      () => c.push(half),
    );
  code.end();
}

/** Packs that share one test for hard cases: the operands that the rare case needs take registers, which only short lane groups have to spare. */
const packsPerTest = (packs: number): number => (packs > tuning.maxPacksForSharedFmaTest ? 1 : tuning.packsPerFmaTest);

/** Rounds the two f64 sums in a local to f32, in the same local, and sets the local `asF64` to the results as f64. */
export function roundToF32({ code }: LaneGroup, sum: number, asF64: number): void {
  code.at('local.get', sum);
  code.op('f32x4.demote_f64x2_zero');
  code.at('local.tee', sum);
  code.op('f64x2.promote_low_f32x4');
  code.at('local.set', asF64);
}

/** An operand as f64, two vectors for each pack. */
interface F64Operand {
  /** Converts a pack, if the block has not done so before. */
  convert(pack: number): void;
  /** Pushes one half of a pack, by its number among all halves. */
  push(half: number): void;
}

/** An operand as f64, which its block converts once. */
function f64Operand(values: GroupValues, operand: Value): F64Operand {
  const s = values.group;
  const { code } = s;
  if (shapeOf(s, operand) !== varying)
    return {
      convert: () => {},
      push: () => splatF64(s, operand),
    };
  const { locals, isFresh } = values.doubles(operand);
  return {
    convert(pack) {
      if (!isFresh) return;
      s.part(operand, pack);
      withScratch(s, 'v128', 1, ([f32]) => {
        code.at('local.tee', f32);
        code.op('f64x2.promote_low_f32x4');
        code.at('local.set', locals[2 * pack]!);
        code.at('local.get', f32);
      });
      upperHalf(s);
      code.op('f64x2.promote_low_f32x4');
      code.at('local.set', locals[2 * pack + 1]!);
    },
    push: (half) => code.at('local.get', locals[half]!),
  };
}

/** Pushes a uniform operand as a vector of f64. */
export function splatF64(s: LaneGroup, operand: Value): void {
  const { code, kernel } = s;
  const inst = kernel.insts[operand]!;
  if (inst.op === 'const') {
    const number = new Float32Array(Uint32Array.of(Number(inst.bits)).buffer)[0]!;
    // Folding a conversion of a NaN here might change its payload, so that one is left to the engine.
    if (!Number.isNaN(number)) return code.v128([...new Uint32Array(Float64Array.of(number, number).buffer)]);
  }
  s.scalar(operand);
  code.op('f64.promote_f32');
  code.op('f64x2.splat');
}

/** The bits of the smallest i32, as an unsigned number. */
const i32Min = 0x8000_0000;
const lowAndHigh = (low: number, high: number): number[] => longs((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));

/** The bits of an f64 significand that f32 lacks: 52 - 23 = 29, all of them in the low word. */
const droppedBits = 0x1fff_ffff;
/** The dropped bits of an f64 that is halfway between two f32 values: the first bit only. */
const halfway = 0x1000_0000;
/** The high word of 2^-126 as an f64, the smallest normal f32: the exponent field is 1023 - 126 = 897. */
const minNormalHigh = 897 << 20;
/** All bits of the high word but the sign. */
const magnitudeHigh = 0x7fff_ffff;

/** A sum is a hard case where a word of its `hardCaseKey` is below this, as signed integers. */
export const hardCaseBound = lowAndHigh(i32Min + 1, i32Min + minNormalHigh);

/**
 * Replaces two f64 sums on the stack by keys, whose signed minimum can be folded over many sums before one comparison with `hardCaseBound`.
 * Low word: the dropped bits, minus `halfway`, plus the smallest i32; it is the smallest i32 exactly in the halfway case. High word: the magnitude,
 * minus 1, plus the smallest i32; it is below the bound where the magnitude is at most `minNormalHigh`, which includes every subnormal result. A high
 * word of 0 (the sum is 0, since no nonzero sum of f32 products is that small) wraps to the largest i32.
 */
export function hardCaseKey({ code }: LaneGroup): void {
  code.v128(lowAndHigh(droppedBits, magnitudeHigh));
  code.op('v128.and');
  code.v128(lowAndHigh(halfway - i32Min, 1 - i32Min));
  code.op('i32x4.sub');
}

/** Rounds the sum of two f64 vectors to odd, in its local; the operands are products of f32 values and f32 values. */
export function roundToOdd(s: LaneGroup, sum: number, pushProduct: () => void, pushAddend: () => void): void {
  const { code } = s;
  withScratch(s, 'v128', 3, ([product, rest, signs]) => {
    pushProduct();
    code.at('local.set', product);
    pushTwoSumError(code, 'f64x2', [product, pushAddend], sum, rest);
    pushRoundedToOddByProduct(code, sum, [rest, signs]);
    code.at('local.set', sum);
  });
}
