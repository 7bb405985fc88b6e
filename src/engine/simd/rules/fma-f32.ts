/**
 * a * b + c of singles with one rounding, for all vectors of a strip together. Products are exact in double. A sum rounded to double and then
 * to single is wrong only where the double lies half way between two singles, or the result is subnormal: that is looked for, and then
 * the sums are rounded to odd. No function is called, for engines keep no vector in a register over a call, even one that is never made.
 * Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008); TwoSum after Knuth.
 */
import { type InstOf, type Value, varying } from '../../../ir/index.ts';
import { type LaneGroup, shapeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';
import { joinHalves, longs, upperHalf, words } from '../lanes/vectors.ts';

/** Whether a value is such an operation. */
export function isExactFma(s: LaneGroup, value: Value): boolean {
  const inst = s.kernel.insts[value]!;
  return inst.op === 'fma' && inst.type === 'f32' && s.fma === 'exact' && shapeOf(s, value) === varying;
}

/** Writes a fused operation whose result is vectors. */
export function exactFma(values: GroupValues, inst: InstOf<'fma'>, value: Value): void {
  const scale = powerOfTwo(values.group, inst.a) ?? powerOfTwo(values.group, inst.b);
  if (scale === undefined) return byDoubles(values, inst, value);
  scaledSum(values, inst, value, scale);
}

export interface Scale {
  /** The constant operand. */
  readonly by: Value;
  /** Its exponent. */
  readonly power: number;
}

/** An operand that only scales the other one. */
export function powerOfTwo({ kernel }: LaneGroup, operand: Value): Scale | undefined {
  const inst = kernel.insts[operand]!;
  if (inst.op !== 'const') return undefined;
  const bits = Number(inst.bits & 0x7fff_ffffn);
  const power = (bits >> 23) - 127;
  return (bits & 0x7f_ffff) === 0 && Math.abs(power) <= 100 ? { by: operand, power } : undefined;
}

/**
 * Products with a power of two are exact as singles, so that the sum is rounded once; but for numbers that become subnormal or too large by it.
 */
function scaledSum(values: GroupValues, inst: InstOf<'fma'>, value: Value, scale: Scale): void {
  const { packs } = values.group.plan;
  const together = togetherOf(packs);
  for (let first = 0; first < packs; first += together)
    scaledGroup(
      values,
      inst,
      value,
      scale,
      Array.from({ length: Math.min(together, packs - first) }, (_, i) => first + i),
    );
}

function scaledGroup(values: GroupValues, inst: InstOf<'fma'>, value: Value, { by, power }: Scale, packs: readonly number[]): void {
  const s = values.group;
  const { code } = s;
  const hold = (operand: Value, first: number): number[] =>
    packs.map((pack, i) => {
      const local = s.temp('v128', first + i);
      s.part(operand, pack);
      code.at('local.set', local);
      return local;
    });
  const scaled = hold(by === inst.a ? inst.b : inst.a, firstFactor);
  const added = hold(inst.c, firstAddend);
  const sums = packs.map((_, i) => s.temp('v128', firstScaled + i));
  for (const [i, pack] of packs.entries()) {
    code.at('local.get', scaled[i]!);
    s.part(by, pack);
    code.op('f32x4.mul');
    code.at('local.get', added[i]!);
    code.op('f32x4.add');
    code.at('local.set', sums[i]!);
  }
  if (power !== 0) {
    for (const [i, factor] of scaled.entries()) {
      code.at('local.get', factor);
      offsetOfScaled(s, power);
      if (i > 0) code.op(power < 0 ? 'i32x4.min_s' : 'i32x4.max_s');
    }
    doubtOfScaled(s, power);
    code.op('i32x4.bitmask');
    code.openRare();
    scaledWithCare(s, by, { scaled, added, sums });
    code.end();
  }
  for (const [i, pack] of packs.entries()) {
    code.at('local.get', sums[i]!);
    values.put(value, 0, pack);
  }
}

/** Sets sums anew, rounded to odd as doubles first. */
function scaledWithCare(s: LaneGroup, by: Value, { scaled, added, sums }: Record<'scaled' | 'added' | 'sums', readonly number[]>): void {
  const { code } = s;
  const half = (locals: readonly number[], which: number): void => {
    code.at('local.get', locals[which >> 1]!);
    if (which % 2 === 1) upperHalf(s);
    code.op('f64x2.promote_low_f32x4');
  };
  const product = (which: number): void => {
    half(scaled, which);
    alikeDoubles(s, by);
    code.op('f64x2.mul');
  };
  for (const [i, sum] of sums.entries()) {
    const wide = [2 * i, 2 * i + 1].map((which) => {
      const local = s.temp('v128', firstSum + which);
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
      return local;
    });
    for (const local of wide) {
      code.at('local.get', local);
      code.op('f32x4.demote_f64x2_zero');
    }
    joinHalves(s);
    code.at('local.set', sum);
  }
}

/** Makes words of a factor that are less than a bound, or no less, where its product with a power of two is no longer exact. */
export function offsetOfScaled({ code }: LaneGroup, power: number): void {
  code.v128(words(0x7fff_ffff));
  code.op('v128.and');
  // Of small ones, less 1 to pass over 0, from the least word on; of large ones, to the largest.
  code.v128(words(power < 0 ? 1 - least : 0));
  code.op('i32x4.sub');
}

/** Tells by those words, or by the least or largest of some, whether there is doubt: a mask. */
export function doubtOfScaled({ code }: LaneGroup, power: number): void {
  const normal = (1 - power) << 23;
  code.v128(words(power < 0 ? least + normal : (255 - power) << 23));
  code.op(power < 0 ? 'i32x4.lt_s' : 'i32x4.ge_s');
}

function byDoubles(values: GroupValues, inst: InstOf<'fma'>, value: Value): void {
  const s = values.group;
  const { code } = s;
  const [a, b, c] = [inst.a, inst.b, inst.c].map((operand) => doublesOf(values, operand)) as [Doubles, Doubles, Doubles];
  const results = values.doubles(value).locals;
  const { packs } = s.plan;
  const together = togetherOf(packs);
  // Some packs after the others, so that no more is held for the rare case than there are registers.
  for (let first = 0; first < packs; first += together) {
    const halves = Array.from({ length: 2 * Math.min(together, packs - first) }, (_, i) => 2 * first + i);
    const sumOf = (half: number): number => s.temp('v128', firstSum + half - 2 * first);
    for (const half of halves) {
      if (half % 2 === 0) for (const operand of [a, b, c]) operand.begin(half >> 1);
      a.push(half);
      b.push(half);
      code.op('f64x2.mul');
      c.push(half);
      code.op('f64x2.add');
      code.at('local.tee', sumOf(half));
      offsetOfDoubt(s);
      if (half > 2 * first) code.op('i32x4.min_s');
    }
    code.v128(doubtBound);
    code.op('i32x4.lt_s');
    code.op('i32x4.bitmask');
    code.openRare();
    for (const half of halves)
      roundToOdd(
        s,
        sumOf(half),
        () => {
          a.push(half);
          b.push(half);
          code.op('f64x2.mul');
        },
        () => c.push(half),
      );
    code.end();
    // To singles, which are kept as doubles too for the next such operation.
    for (const half of halves) {
      toSingle(s, sumOf(half), results[half]!);
      if (half % 2 === 0) continue;
      for (const each of [half - 1, half]) code.at('local.get', sumOf(each));
      joinHalves(s);
      values.put(value, 0, half >> 1);
    }
  }
}

/**
 * Packs that are looked at together: what is held for the rare case takes registers, of which long strips have none to spare, while short ones
 * have little else to do meanwhile.
 */
const togetherOf = (packs: number): number => (packs > 4 ? 1 : 2);

/** Scratch locals of these rules. */
const [firstSum, firstScaled, firstFactor, firstAddend, product, part, error, sign] = [110, 120, 130, 140, 105, 106, 107, 108];

/** Makes two sums singles, which are kept as doubles too. */
export function toSingle({ code }: LaneGroup, sum: number, double: number): void {
  code.at('local.get', sum);
  code.op('f32x4.demote_f64x2_zero');
  code.at('local.tee', sum);
  code.op('f64x2.promote_low_f32x4');
  code.at('local.set', double);
}

/** An operand as doubles, two vectors for each pack. */
interface Doubles {
  /** Makes those of a pack where they are not there. */
  begin(pack: number): void;
  /** Puts those of one half of a pack on the stack, by its number among all halves. */
  push(half: number): void;
}

/** An operand as doubles, which its block works out once. */
function doublesOf(values: GroupValues, operand: Value): Doubles {
  const s = values.group;
  const { code } = s;
  if (shapeOf(s, operand) !== varying)
    return {
      begin: () => {},
      push: () => alikeDoubles(s, operand),
    };
  const { locals, isFresh } = values.doubles(operand);
  return {
    begin(pack) {
      if (!isFresh) return;
      const single = s.temp('v128', product);
      s.part(operand, pack);
      code.at('local.tee', single);
      code.op('f64x2.promote_low_f32x4');
      code.at('local.set', locals[2 * pack]!);
      code.at('local.get', single);
      upperHalf(s);
      code.op('f64x2.promote_low_f32x4');
      code.at('local.set', locals[2 * pack + 1]!);
    },
    push: (half) => code.at('local.get', locals[half]!),
  };
}

/** Puts what all lanes share on the stack as doubles. */
export function alikeDoubles(s: LaneGroup, operand: Value): void {
  const { code, kernel } = s;
  const inst = kernel.insts[operand]!;
  if (inst.op === 'const') {
    const single = new Float32Array(Uint32Array.of(Number(inst.bits)).buffer)[0]!;
    // A conversion keeps no NaN for certain; no engine works out what is left to it here.
    if (!Number.isNaN(single)) return code.v128([...new Uint32Array(Float64Array.of(single, single).buffer)]);
  }
  s.scalar(operand);
  code.op('f64.promote_f32');
  code.op('f64x2.splat');
}

/** The least word there is. */
const least = 0x8000_0000;
const pair = (low: number, high: number): number[] => longs((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
/** What `offsetOfDoubt` makes is less than this where there is doubt. */
export const doubtBound = pair(least + 1, least + 0x3810_0000);

/**
 * Makes words of a sum that are less than a bound where it has just the bits of a half below its single, or is of the size of subnormal singles
 * and not 0: what is not of interest is cut off, and what is starts at the least word.
 */
export function offsetOfDoubt({ code }: LaneGroup): void {
  code.v128(pair(0x1fff_ffff, 0x7fff_ffff));
  code.op('v128.and');
  code.v128(pair(0x1000_0000 - least, 1 - least));
  code.op('i32x4.sub');
}

/** A sum of two doubles cut off towards 0, its last bit set where anything was lost. What it lacks is known exactly. */
export function roundToOdd({ code, temp }: LaneGroup, sum: number, pushProduct: () => void, pushAddend: () => void): void {
  const [p, rest, e, q] = [temp('v128', product), temp('v128', part), temp('v128', error), temp('v128', sign)];
  const get = (...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));
  pushProduct();
  code.at('local.set', p);
  // e = (p - (sum - rest)) + (c - rest), where rest = sum - p.
  get(p, sum, sum, p);
  code.op('f64x2.sub');
  code.at('local.tee', rest);
  code.op('f64x2.sub');
  code.op('f64x2.sub');
  pushAddend();
  get(rest);
  code.op('f64x2.sub');
  code.op('f64x2.add');
  code.at('local.tee', e);
  // Below 0 where the sum is too large; nothing of singles is so small that this is 0, and it is a NaN where they are.
  get(sum);
  code.op('f64x2.mul');
  code.at('local.tee', q);
  code.v128([0, 0, 0, 0]);
  code.op('f64x2.lt');
  code.at('local.tee', rest);
  get(sum);
  code.op('i64x2.add');
  get(q);
  code.v128([0, 0, 0, 0]);
  code.op('f64x2.gt');
  get(rest);
  code.op('v128.or');
  code.v128(longs(1n));
  code.op('v128.and');
  code.op('v128.or');
  code.at('local.set', sum);
}
