/**
 * Arithmetic rounded in one direction, of ops that round to nearest. The nearest float and the sign of its error tell the float on the
 * wanted side: bit patterns of one sign are in the order of their magnitudes, so it is at most one integer step away, from infinity to
 * the largest float too. Downwards is upwards of the negated operands, negated: so the sign of an exact zero comes out right as well.
 *
 * Source of the errors: Dekker (1971) for sums and products, Boldo and Muller, "Exact and Approximated Error of the FMA" (2011), and
 * Boldo and Daumas, "Representable Correcting Terms" (2003) for quotients and roots.
 */
import type { Value } from '../../ir/index.ts';
import { bitsOf, intOf } from '../../ir/types.ts';
import type { RowBuilder } from '../row.ts';
import { typeOf } from './compose.ts';

/** Towards zero, downwards, upwards. */
export const directed = ['rz', 'rm', 'rp'] as const;
export type Directed = (typeof directed)[number];
type Way = 'zero' | 'up';

/** Rounded in a direction, from a computation that is given the operands which the direction negates. */
function inDirection(
  ir: RowBuilder,
  rounding: Directed,
  negated: readonly Value[],
  compute: (way: Way, ...operands: Value[]) => Value,
): Value {
  if (rounding !== 'rm') return compute(rounding === 'rz' ? 'zero' : 'up', ...negated);
  return ir.fneg(compute('up', ...negated.map((a) => ir.fneg(a))));
}

/**
 * The float in a direction from the nearest one, given a float with the sign of what the nearest lacks. Where that is 0 or a NaN,
 * nothing is done. A zero is never farther from zero than the exact value, nor is its sign another.
 */
function stepped(ir: RowBuilder, way: Way, nearest: Value, error: Value): Value {
  const type = typeOf(ir, nearest);
  const int = intOf(bitsOf(type));
  const zero = ir.const(type, 0);
  const bits = ir.bitcast(int, nearest);
  if (way === 'up') {
    const isBelow = ir.fcmp(error, zero, { pred: 'ogt' });
    const step = ir.or(ir.ashr(bits, ir.const(int, bitsOf(type) - 1)), ir.const(int, 1));
    return ir.bitcast(type, ir.add(bits, ir.select(isBelow, step, ir.const(int, 0))));
  }
  const isFarther = ir.fcmp(withSignOf(ir, error, bits), zero, { pred: 'olt' });
  return ir.bitcast(type, ir.sub(bits, ir.select(isFarther, ir.const(int, 1), ir.const(int, 0))));
}

/** A float, negated where the highest bit of an integer is set. */
function withSignOf(ir: RowBuilder, a: Value, bits: Value): Value {
  const [type, int] = [typeOf(ir, a), intOf(bitsOf(ir.typeOf(a)))];
  const sign = ir.and(bits, ir.const(int, 1n << BigInt(bitsOf(int) - 1)));
  return ir.bitcast(type, ir.xor(ir.bitcast(int, a), sign));
}

/** The larger of two magnitudes, and the other. */
function ordered(ir: RowBuilder, a: Value, b: Value): { readonly large: Value; readonly small: Value } {
  const isLarger = ir.fcmp(ir.fabs(a), ir.fabs(b), { pred: 'oge' });
  return { large: ir.select(isLarger, a, b), small: ir.select(isLarger, b, a) };
}

/** Powers of two: what is below `sum` or `product` is scaled, by `scale` (a product twice), so that no error is subnormal. */
const scales = {
  f32: { sum: 20, product: -78, scale: 76 },
  f64: { sum: 20, product: -900, scale: 600 },
} as const;

/** A power of two as a float of a type. */
const powerOf = (ir: RowBuilder, type: 'f32' | 'f64', exponent: number): Value =>
  ir.const(type, type === 'f32' ? BigInt(exponent + 127) << 23n : BigInt(exponent + 1023) << 52n);

/** By how much to scale: a power of two where a magnitude is below another, else 1. */
function scaleBelow(ir: RowBuilder, a: Value, least: number, scale: number): Value {
  const type = typeOf(ir, a) as 'f32' | 'f64';
  const isSmall = ir.fcmp(ir.fabs(a), powerOf(ir, type, least), { pred: 'olt' });
  return ir.select(isSmall, powerOf(ir, type, scale), powerOf(ir, type, 0));
}

/** a + b. An infinite sum lacks an infinity of the other sign. */
export function sumIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value): Value {
  const limits = scales[typeOf(ir, a) as 'f32' | 'f64'];
  return inDirection(ir, rounding, [a, b], (way, x, y) => {
    const sum = ir.fadd(x!, y!);
    const { large, small } = ordered(ir, x!, y!);
    const by = scaleBelow(ir, large, limits.sum, limits.scale);
    const excess = ir.fsub(ir.fmul(sum, by), ir.fmul(large, by));
    return stepped(ir, way, sum, ir.fsub(ir.fmul(small, by), excess));
  });
}

/** a * b. Where the product is small, so is one of the factors, which is scaled. */
export function productIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value): Value {
  const limits = scales[typeOf(ir, a) as 'f32' | 'f64'];
  return inDirection(ir, rounding, [a], (way, x) => {
    const product = ir.fmul(x!, b);
    const { large, small } = ordered(ir, x!, b);
    const by = scaleBelow(ir, product, limits.product, limits.scale);
    const scaled = (value: Value): Value => ir.fmul(ir.fmul(value, by), by);
    return stepped(ir, way, product, ir.fma(scaled(small), large, ir.fneg(scaled(product))));
  });
}

/** The square root. What is small is scaled, by a square, and so is its root. */
export function rootIn(ir: RowBuilder, rounding: Directed, a: Value): Value {
  const type = typeOf(ir, a) as 'f32' | 'f64';
  const least = type === 'f32' ? -48 : -400;
  const isSmall = ir.fcmp(a, powerOf(ir, type, least), { pred: 'olt' });
  const scaled = ir.fmul(a, ir.select(isSmall, powerOf(ir, type, -2 * least), powerOf(ir, type, 0)));
  const root = ir.fsqrt(scaled);
  // Roots are not negative: downwards is towards zero.
  const exact = stepped(ir, rounding === 'rp' ? 'up' : 'zero', root, ir.fma(ir.fneg(root), root, scaled));
  return ir.fmul(exact, ir.select(isSmall, powerOf(ir, type, least), powerOf(ir, type, 0)));
}

/** a / b: by the remainder where nothing overflows or underflows, else by dividing integers. */
export function quotientIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value): Value {
  return inDirection(ir, rounding, [a], (way, x) => {
    const quotient = ir.fdiv(x!, b);
    const isSafe = ir.and(isBetween(ir, x!, -60, 60), isBetween(ir, b, -60, 60));
    return ir.either(
      isSafe,
      () => stepped(ir, way, quotient, withSignOf(ir, ir.fma(ir.fneg(quotient), b, x!), ir.bitcast('i32', b))),
      () => quotientOfIntegers(ir, way, x!, b, quotient),
    );
  });
}

/** Whether a magnitude is at least and at most the powers of two. */
function isBetween(ir: RowBuilder, a: Value, least: number, most: number): Value {
  const size = ir.fabs(a);
  const above = ir.fcmp(size, powerOf(ir, 'f32', least), { pred: 'oge' });
  return ir.and(above, ir.fcmp(size, powerOf(ir, 'f32', most), { pred: 'ole' }));
}

/** a * b + c, rounded once: by its exact error where nothing overflows or underflows, else by adding integers. */
export function fusedIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value, c: Value): Value {
  return inDirection(ir, rounding, [a, c], (way, x, z) => {
    const nearest = ir.fma(x!, b, z!);
    const product = ir.fmul(x!, b);
    return ir.either(
      isFusedSafe(ir, x!, b, z!, product),
      () => stepped(ir, way, nearest, fusedError(ir, x!, b, z!, product, nearest)),
      () => fusedOfIntegers(ir, way, x!, b, z!, nearest),
    );
  });
}

/** Neither the product nor its error underflows, or it is 0; no sum overflows. A product of 2^-78 has no subnormal error. */
function isFusedSafe(ir: RowBuilder, a: Value, b: Value, c: Value, product: Value): Value {
  const zero = ir.const('f32', 0);
  const isZero = ir.or(ir.fcmp(a, zero, { pred: 'oeq' }), ir.fcmp(b, zero, { pred: 'oeq' }));
  const isSmall = ir.fcmp(ir.fabs(c), powerOf(ir, 'f32', 126), { pred: 'ole' });
  return ir.and(ir.or(isBetween(ir, product, -78, 126), isZero), isSmall);
}

/** The sign of what a fused product and sum lacks. */
function fusedError(ir: RowBuilder, a: Value, b: Value, c: Value, product: Value, nearest: Value): Value {
  const rest = ir.fma(a, b, ir.fneg(product));
  const low = twoSum(ir, c, rest);
  const high = twoSum(ir, product, low.sum);
  return ir.fadd(ir.fadd(ir.fsub(high.sum, nearest), high.error), low.error);
}

/** A sum and what it lacks, exactly, whichever operand is larger. Source: Knuth, TAOCP 2, 4.2.2, theorem B. */
export function twoSum(ir: RowBuilder, a: Value, b: Value): { readonly sum: Value; readonly error: Value } {
  const sum = ir.fadd(a, b);
  const ofB = ir.fsub(sum, a);
  const ofA = ir.fsub(sum, ofB);
  return { sum, error: ir.fadd(ir.fsub(a, ofA), ir.fsub(b, ofB)) };
}

// ── exact by integers ──

/** A finite float as `mantissa * 2^(exponent - 150)`, without its sign. */
interface Parts {
  /** i64, below 2^24. */
  readonly mantissa: Value;
  /** i32. */
  readonly exponent: Value;
  /** i32: the bits below the sign. */
  readonly size: Value;
}

const i32 = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

function partsOf(ir: RowBuilder, a: Value): Parts {
  const size = ir.and(ir.bitcast('i32', a), i32(ir, 0x7fffffff));
  const field = ir.lshr(size, i32(ir, 23));
  const leading = ir.shl(ir.umin(field, i32(ir, 1)), i32(ir, 23));
  const mantissa = ir.zext('i64', ir.or(ir.and(size, i32(ir, 0x7fffff)), leading));
  return { mantissa, exponent: ir.umax(field, i32(ir, 1)), size };
}

const isNegative = (ir: RowBuilder, bits: Value): Value => ir.icmp(bits, i32(ir, 0), { pred: 'slt' });
const bitsXor = (ir: RowBuilder, a: Value, b: Value): Value => ir.xor(ir.bitcast('i32', a), ir.bitcast('i32', b));
const infinity = 0x7f800000;

/** `mantissa * 2^exponent` of a sign as a float; the mantissa, of 64 bits without sign, is not 0. */
function packed(ir: RowBuilder, way: Way, negative: Value, mantissa: Value, exponent: Value): Value {
  const leading = ir.clz(mantissa);
  const top = ir.shl(mantissa, leading);
  const lowest = ir.sub(exponent, ir.trunc('i32', leading));
  // 24 bits are kept, or less where the last place of subnormals, 2^-149, is higher.
  const dropped = ir.smax(i32(ir, 40), ir.sub(i32(ir, -149), lowest));
  const count = ir.zext('i64', dropped);
  const kept = ir.lshr(top, count);
  // The leading bit adds one to the exponent field by itself.
  const field = ir.shl(ir.add(ir.add(lowest, dropped), i32(ir, 149)), i32(ir, 23));
  const cut = ir.add(ir.trunc('i32', kept), field);
  const isInexact = ir.icmp(ir.shl(kept, count), top, { pred: 'ne' });
  const isAway = way === 'zero' ? ir.const('i1', 0) : ir.and(isInexact, ir.xor(negative, ir.const('i1', 1)));
  const most = way === 'zero' ? i32(ir, infinity - 1) : ir.select(negative, i32(ir, infinity - 1), i32(ir, infinity));
  const size = ir.umin(ir.add(cut, ir.zext('i32', isAway)), most);
  return ir.bitcast('f32', ir.or(size, ir.shl(ir.zext('i32', negative), i32(ir, 31))));
}

/** The quotient of finite floats that are not 0; of others it is the one given, which is exact. */
function quotientOfIntegers(ir: RowBuilder, way: Way, a: Value, b: Value, other: Value): Value {
  const [x, y] = [normalised(ir, partsOf(ir, a), 0), normalised(ir, partsOf(ir, b), 40)];
  const quotient = ir.udiv(x.mantissa, y.mantissa);
  const isInexact = ir.icmp(ir.mul(quotient, y.mantissa), x.mantissa, { pred: 'ne' });
  // 40 bits and more: the lowest is never one that is kept.
  const marked = ir.or(quotient, ir.zext('i64', isInexact));
  const value = packed(ir, way, isNegative(ir, bitsXor(ir, a, b)), marked, ir.sub(x.exponent, y.exponent));
  return ir.select(ir.and(isPlain(ir, x), isPlain(ir, y)), value, other);
}

/** Neither 0 nor infinite nor a NaN. */
const isPlain = (ir: RowBuilder, { size }: Parts): Value => ir.icmp(ir.sub(size, i32(ir, 1)), i32(ir, infinity - 1), { pred: 'ult' });

/** With so many zeros above the leading one; a mantissa of 0 stays so. */
function normalised<P extends Omit<Parts, 'size'>>(ir: RowBuilder, parts: P, zeros: number): P {
  const up = ir.sub(ir.clz(parts.mantissa), ir.const('i64', zeros));
  return { ...parts, mantissa: ir.shl(parts.mantissa, up), exponent: ir.sub(parts.exponent, ir.trunc('i32', up)) };
}

/** a * b + c of finite floats, where that is not 0; else it is the one given, which is exact. */
function fusedOfIntegers(ir: RowBuilder, way: Way, a: Value, b: Value, c: Value, other: Value): Value {
  const [x, y, z] = [partsOf(ir, a), partsOf(ir, b), partsOf(ir, c)];
  const exponent = ir.sub(ir.add(x.exponent, y.exponent), i32(ir, 150));
  const product = belowIfZero(ir, normalised(ir, { mantissa: ir.mul(x.mantissa, y.mantissa), exponent }, 2));
  const addend = belowIfZero(ir, normalised(ir, z, 2));
  const isProduct = ir.icmp(product.exponent, addend.exponent, { pred: 'sge' });
  const differs = isNegative(ir, ir.xor(bitsXor(ir, a, b), ir.bitcast('i32', c)));
  const sum = alignedSum(ir, isProduct, differs, product, addend);
  const ofLarger = ir.select(isProduct, isNegative(ir, bitsXor(ir, a, b)), isNegative(ir, ir.bitcast('i32', c)));
  const zero = ir.const('i64', 0);
  const negative = ir.xor(ofLarger, ir.icmp(sum, zero, { pred: 'slt' }));
  const unit = ir.sub(ir.smax(product.exponent, addend.exponent), i32(ir, 150));
  const value = packed(ir, way, negative, ir.smax(sum, ir.sub(zero, sum)), unit);
  const isOfNumbers = ir.icmp(ir.umax(ir.umax(x.size, y.size), z.size), i32(ir, infinity), { pred: 'ult' });
  return ir.select(ir.and(isOfNumbers, ir.icmp(sum, zero, { pred: 'ne' })), value, other);
}

/** A zero takes no part in finding the larger exponent. */
function belowIfZero<P extends Omit<Parts, 'size'>>(ir: RowBuilder, parts: P): P {
  const isZero = ir.icmp(parts.mantissa, ir.const('i64', 0), { pred: 'eq' });
  return { ...parts, exponent: ir.select(isZero, i32(ir, -4096), parts.exponent) };
}

/**
 * The larger plus or minus the smaller, in units of the larger. What the smaller loses below is marked in its lowest bit: that is lost
 * only where the larger has zeros there, and then one more bit at most is cancelled at the top, so the mark stays below what is kept.
 */
function alignedSum(ir: RowBuilder, isProduct: Value, differs: Value, product: Omit<Parts, 'size'>, addend: Omit<Parts, 'size'>): Value {
  const large = ir.select(isProduct, product.mantissa, addend.mantissa);
  const small = ir.select(isProduct, addend.mantissa, product.mantissa);
  const difference = ir.sub(product.exponent, addend.exponent);
  const count = ir.zext('i64', ir.smax(difference, ir.sub(i32(ir, 0), difference)));
  const aligned = ir.lshr(small, count);
  const isInexact = ir.icmp(ir.shl(aligned, count), small, { pred: 'ne' });
  const marked = ir.or(aligned, ir.zext('i64', isInexact));
  return ir.add(large, ir.select(differs, ir.sub(ir.const('i64', 0), marked), marked));
}
