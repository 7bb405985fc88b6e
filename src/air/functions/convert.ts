/**
 * Numeric conversions: `air.convert.f.f16.f.f32` names the kind and type of result and operand, optionally followed by a rounding such as
 * `.rtz`, or by `.sat`. `llvm.fptosi.sat.i32.f32` has types only. Source: the spelling is that of OpenCL's `convert_half_rtz`.
 */
import { type Builder, bitsOf, isFloat, isScalar, type ScalarType, type Value } from '../../ir/index.ts';
import { llvmScalar } from '../llvm-scalar.ts';
import { type ElementFunction, like } from './row.ts';

/** To nearest even, towards zero, up, down. */
type Rounding = 'rte' | 'rtz' | 'rtp' | 'rtn';

interface Conversion {
  readonly to: ScalarType;
  readonly from: ScalarType;
  readonly toSigned: boolean;
  readonly fromSigned: boolean;
  readonly rounding: Rounding | undefined;
  readonly saturates: boolean;
}

const integral = { rte: 'frint', rtz: 'ftrunc', rtp: 'fceil', rtn: 'ffloor' } as const;

/** Rounds to nearest, then steps back by one value if that was the wrong direction. */
function narrowed(b: Builder, x: Value, to: ScalarType, rounding: Rounding): Value {
  const nearest = b.fptrunc(to, x);
  if (rounding === 'rte') return nearest;
  const int = `i${bitsOf(to)}` as const as 'i16' | 'i32';
  const bits = b.bitcast(int, nearest);
  const back = b.fpext(b.typeOf(x), nearest);
  const isNegative = b.icmp(bits, b.const(int, 0), { pred: 'slt' });
  const [larger, smaller] = [b.add(bits, b.const(int, 1)), b.sub(bits, b.const(int, 1))];
  const stepped =
    rounding === 'rtz' ? smaller : rounding === 'rtn' ? b.select(isNegative, larger, smaller) : b.select(isNegative, smaller, larger);
  const isBeyond =
    rounding === 'rtz' ? b.fcmp(b.fabs(back), b.fabs(x), { pred: 'ogt' }) : b.fcmp(back, x, { pred: rounding === 'rtn' ? 'ogt' : 'olt' });
  return b.bitcast(to, b.select(isBeyond, stepped, bits));
}

/** f16 and bf16 do not contain each other's values, so the conversion goes through f32, which contains both. */
function floatToFloat(b: Builder, x: Value, { from, to, rounding = 'rte' }: Conversion): Value {
  if (from === to) return x;
  if (bitsOf(from) < bitsOf(to)) return b.fpext(to, x);
  return narrowed(b, bitsOf(from) === bitsOf(to) ? b.fpext('f32', x) : x, to, rounding);
}

/** Clamps to the range of the result type, with limits in the wider of the two types; an unsigned operand is never below 0. */
function saturated(b: Builder, x: Value, { from, to, fromSigned, toSigned }: Conversion): Value {
  const [have, want] = [bitsOf(from), bitsOf(to)];
  const top = (1n << BigInt(toSigned ? want - 1 : want)) - 1n;
  let bounded = x;
  // No value exceeds the largest value of its own type.
  if (top < (1n << BigInt(fromSigned ? have - 1 : have)) - 1n)
    bounded = fromSigned ? b.smin(bounded, like(b, x, top)) : b.umin(bounded, like(b, x, top));
  const bottom = toSigned ? -(1n << BigInt(want - 1)) : 0n;
  if (fromSigned && bottom > -(1n << BigInt(have - 1))) bounded = b.smax(bounded, like(b, x, bottom));
  return bounded;
}

function convert(b: Builder, x: Value, conversion: Conversion): Value {
  const { from, to, fromSigned, toSigned, rounding, saturates } = conversion;
  // A conversion to bool tests for nonzero, as in C.
  if (to === 'i1') return isFloat(from) ? b.fcmp(x, b.const(from, 0n), { pred: 'une' }) : b.icmp(x, b.const(from, 0n), { pred: 'ne' });
  if (isFloat(to)) return isFloat(from) ? floatToFloat(b, x, conversion) : b[fromSigned ? 'sitofp' : 'uitofp'](to, x);
  // All conversions saturate and give 0 for NaN.
  if (isFloat(from)) return b[toSigned ? 'fptosi' : 'fptoui'](to, b[integral[rounding ?? 'rtz']](x));
  const bounded = saturates ? saturated(b, x, conversion) : x;
  if (bitsOf(to) === bitsOf(from)) return bounded;
  return bitsOf(to) < bitsOf(from) ? b.trunc(to, bounded) : b[fromSigned ? 'sext' : 'zext'](to, bounded);
}

/**
 * The kinds must match the types; bool is unsigned. Integer-to-float conversions round to nearest only, and float results do not saturate.
 */
const isKnown = ({ to, from, toSigned, fromSigned, rounding, saturates }: Conversion, kinds: readonly [string, string]): boolean =>
  isFloat(to) === (kinds[0] === 'f') &&
  isFloat(from) === (kinds[1] === 'f') &&
  !(from === 'i1' && fromSigned) &&
  !(to === 'i1' && (toSigned || saturates)) &&
  !(isFloat(to) && saturates) &&
  (isFloat(from) ? from !== 'f64' || !isFloat(to) || rounding === undefined : rounding === undefined || rounding === 'rte');

/** The conversion with a name (without vector widths); undefined if the name is not one. */
export function conversionOf(name: string): ElementFunction | undefined {
  const llvm = /^llvm\.fpto([su])i\.sat\.(\w+)\.(\w+)$/.exec(name);
  const air = /^air\.convert\.([fsu])\.(\w+)\.([fsu])\.(\w+?)(?:\.(rt[ezpn]))?(\.sat)?$/.exec(name);
  const [, kind = '', to = '', source = '', from = '', rounding, sat] = llvm ? ['', llvm[1], llvm[2], 'f', llvm[3]] : (air ?? []);
  if (!isScalar(to) || !isScalar(from)) return undefined;
  const conversion: Conversion = {
    to,
    from,
    toSigned: kind === 's',
    fromSigned: source === 's',
    rounding: rounding as Rounding | undefined,
    saturates: sat !== undefined,
  };
  if (!isKnown(conversion, [kind, source])) return undefined;
  return { params: [llvmScalar[from]], result: llvmScalar[to], make: (b, [x]) => convert(b, x!, conversion) };
}
