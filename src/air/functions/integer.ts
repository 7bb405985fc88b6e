/**
 * Integer functions of AIR.
 * Source: Metal Shading Language Specification 4, section 6.3.
 */
import { type Builder, bitsOf, type ScalarType, type Value } from '../../ir/index.ts';
import { type FunctionRow, like, type Make, row, widthOf } from './row.ts';

const least = (b: Builder, x: Value, y: Value, isSigned: boolean): Value => (isSigned ? b.smin(x, y) : b.umin(x, y));
const most = (b: Builder, x: Value, y: Value, isSigned: boolean): Value => (isSigned ? b.smax(x, y) : b.umax(x, y));
const down = (b: Builder, x: Value, count: Value, isSigned: boolean): Value => (isSigned ? b.ashr(x, count) : b.lshr(x, count));
const negative = (b: Builder, x: Value): Value => b.icmp(x, like(b, x, 0), { pred: 'slt' });
const ones = (type: ScalarType): bigint => (1n << widthOf(type)) - 1n;
/** The smallest signed integer of a type. */
const minSigned = (type: ScalarType): bigint => 1n << (widthOf(type) - 1n);

/** The saturated result of a signed overflow: the maximum if `x` is positive, else the minimum. */
const saturation = (b: Builder, x: Value, type: ScalarType): Value =>
  b.select(negative(b, x), b.const(type, minSigned(type)), b.const(type, minSigned(type) - 1n));

const addSaturated: Make = (b, [x, y], type, isSigned) => {
  const sum = b.add(x!, y!);
  if (!isSigned) return b.select(b.icmp(sum, x!, { pred: 'ult' }), b.const(type, ones(type)), sum);
  // Overflow: both operands have a sign that the sum does not have.
  return b.select(negative(b, b.and(b.xor(sum, x!), b.xor(sum, y!))), saturation(b, x!, type), sum);
};

const subSaturated: Make = (b, [x, y], type, isSigned) => {
  const difference = b.sub(x!, y!);
  if (!isSigned) return b.select(b.icmp(x!, y!, { pred: 'ult' }), b.const(type, 0n), difference);
  return b.select(negative(b, b.and(b.xor(x!, y!), b.xor(x!, difference))), saturation(b, x!, type), difference);
};

/** The double-width product plus the third operand; in range if the high half is the sign extension of the low half. */
const madSaturated: Make = (b, [x, y, z], type, isSigned) => {
  const low = b.mul(x!, y!);
  const sum = b.add(low, z!);
  const carry = b.zext(type, b.icmp(sum, low, { pred: 'ult' }));
  const zero = b.const(type, 0n);
  const high = b.add(isSigned ? b.smulhi(x!, y!) : b.umulhi(x!, y!), carry);
  if (!isSigned) return b.select(b.icmp(high, zero, { pred: 'eq' }), sum, b.const(type, ones(type)));
  const count = b.const(type, widthOf(type) - 1n);
  const all = b.add(high, b.ashr(z!, count));
  return b.select(b.icmp(all, b.ashr(sum, count), { pred: 'eq' }), sum, saturation(b, all, type));
};

/** Extracts `count` bits from `offset` on, with sign or zero extension. */
const extractBits: Make = (b, [x, offset, count], type, isSigned) => {
  const width = b.const(type, widthOf(type));
  const [from, size] = [asType(b, offset!, type), asType(b, count!, type)];
  // Shifts the field to the top and down again. For an empty field the shift clears everything.
  const top = b.shl(x!, b.sub(b.sub(width, size), from));
  return b.select(b.icmp(size, b.const(type, 0n), { pred: 'eq' }), b.const(type, 0n), down(b, top, b.sub(width, size), isSigned));
};

/** Inserts the lowest bits of the second operand into the first at `offset`. */
const insertBits: Make = (b, [base, insert, offset, count], type) => {
  const [from, size] = [asType(b, offset!, type), asType(b, count!, type)];
  // A shift by the full width gives 0, so that the mask is all ones.
  const mask = b.shl(b.sub(b.shl(b.const(type, 1n), size), b.const(type, 1n)), from);
  return b.or(b.and(base!, b.xor(mask, b.const(type, ones(type)))), b.and(b.shl(insert!, from), mask));
};

function asType(b: Builder, word: Value, type: ScalarType): Value {
  if (type === 'i32') return word;
  return type === 'i64' ? b.zext(type, word) : b.trunc(type, word);
}

/** The index of the lowest set bit; the width for 0. */
export const trailingZeros = (b: Builder, x: Value): Value => b.clz(b.bitrev(x));

/** Reverses the bytes: reverses all bits, then the bits of each byte. */
const reversedBytes: Make = (b, [x], type) => {
  const bytes = Array.from({ length: bitsOf(type) / 8 }, (_, i) => {
    const byte = b.and(b.lshr(x!, b.const(type, 8 * i)), b.const(type, 0xffn));
    return b.shl(byte, b.const(type, bitsOf(type) - 8 * (i + 1)));
  });
  return bytes.reduce((all, byte) => b.or(all, byte));
};

/** The high half of two concatenated integers, shifted left by a count modulo the width; the right shift gives the low half. */
const funnelLeft: Make = (b, [high, low, count], type) => {
  const by = b.and(count!, b.const(type, widthOf(type) - 1n));
  return b.or(b.shl(high!, by), b.lshr(low!, b.sub(b.const(type, widthOf(type)), by)));
};
const funnelRight: Make = (b, [high, low, count], type) => {
  const by = b.and(count!, b.const(type, widthOf(type) - 1n));
  return b.or(b.lshr(low!, by), b.shl(high!, b.sub(b.const(type, widthOf(type)), by)));
};

const magnitude: Make = (b, [x], type, isSigned) => (isSigned ? b.select(negative(b, x!), b.sub(b.const(type, 0n), x!), x!) : x!);
const halved = (b: Builder, x: Value, isSigned: boolean): Value => down(b, x, like(b, x, 1), isSigned);

/** Functions with a signedness in the name. */
export const signedRows: readonly FunctionRow[] = [
  row('abs', 1, magnitude),
  row('abs_diff', 2, (b, [x, y], _, s) => b.sub(most(b, x!, y!, s), least(b, x!, y!, s))),
  row('add_sat', 2, addSaturated),
  row('sub_sat', 2, subSaturated),
  row('mad_sat', 3, madSaturated),
  row('hadd', 2, (b, [x, y], _, s) => b.add(b.and(x!, y!), halved(b, b.xor(x!, y!), s))),
  row('rhadd', 2, (b, [x, y], _, s) => b.sub(b.or(x!, y!), halved(b, b.xor(x!, y!), s))),
  row('mad_hi', 3, (b, [x, y, z], _, s) => b.add(s ? b.smulhi(x!, y!) : b.umulhi(x!, y!), z!)),
  row('clamp', 3, (b, [x, low, high], _, s) => least(b, most(b, x!, low!, s), high!, s)),
  row('min3', 3, (b, [x, y, z], _, s) => least(b, least(b, x!, y!, s), z!, s)),
  row('max3', 3, (b, [x, y, z], _, s) => most(b, most(b, x!, y!, s), z!, s)),
  row('median3', 3, (b, [x, y, z], _, s) => most(b, least(b, x!, y!, s), least(b, most(b, x!, y!, s), z!, s), s)),
  row('extract_bits', 1, extractBits, { extraOperands: ['i32', 'i32'] }),
  row('insert_bits', 2, insertBits, { extraOperands: ['i32', 'i32'] }),
];

/** Functions without a signedness in the name. */
export const plainRows: readonly FunctionRow[] = [
  row('rotate', 2, (b, [x, count], type, s) => funnelLeft(b, [x!, x!, count!], type, s)),
  row('ctz', 1, (b, [x]) => trailingZeros(b, x!), { extraOperands: ['i1'] }),
  row('bswap', 1, reversedBytes),
  row('insert_bits', 2, insertBits, { extraOperands: ['i32', 'i32'] }),
];

/** LLVM intrinsics, without `llvm.`. Operands in `more` are poison flags, which have no effect. */
export const llvmIntegerRows: readonly FunctionRow[] = [
  row('smin', 2, (b, [x, y]) => b.smin(x!, y!)),
  row('smax', 2, (b, [x, y]) => b.smax(x!, y!)),
  row('umin', 2, (b, [x, y]) => b.umin(x!, y!)),
  row('umax', 2, (b, [x, y]) => b.umax(x!, y!)),
  row('abs', 1, (b, args, type) => magnitude(b, args, type, true), { extraOperands: ['i1'] }),
  row('sadd.sat', 2, (b, args, type) => addSaturated(b, args, type, true)),
  row('uadd.sat', 2, (b, args, type) => addSaturated(b, args, type, false)),
  row('ssub.sat', 2, (b, args, type) => subSaturated(b, args, type, true)),
  row('usub.sat', 2, (b, args, type) => subSaturated(b, args, type, false)),
  row('ctpop', 1, (b, [x]) => b.popcount(x!)),
  row('ctlz', 1, (b, [x]) => b.clz(x!), { extraOperands: ['i1'] }),
  row('cttz', 1, (b, [x]) => trailingZeros(b, x!), { extraOperands: ['i1'] }),
  row('bswap', 1, reversedBytes),
  row('bitreverse', 1, (b, [x]) => b.bitrev(x!)),
  row('fshl', 3, funnelLeft),
  row('fshr', 3, funnelRight),
  row('expect', 2, (_, [x]) => x!),
];

/** Result and overflow flag of an addition, subtraction or multiplication: LLVM's `with.overflow`. */
export const overflowRows: Readonly<Record<string, (b: Builder, x: Value, y: Value) => readonly [result: Value, overflows: Value]>> = {
  uadd: (b, x, y) => {
    const sum = b.add(x, y);
    return [sum, b.icmp(sum, x, { pred: 'ult' })];
  },
  sadd: (b, x, y) => {
    const sum = b.add(x, y);
    return [sum, negative(b, b.and(b.xor(sum, x), b.xor(sum, y)))];
  },
  usub: (b, x, y) => [b.sub(x, y), b.icmp(x, y, { pred: 'ult' })],
  ssub: (b, x, y) => {
    const difference = b.sub(x, y);
    return [difference, negative(b, b.and(b.xor(x, y), b.xor(x, difference)))];
  },
  umul: (b, x, y) => [b.mul(x, y), b.icmp(b.umulhi(x, y), like(b, x, 0), { pred: 'ne' })],
  smul: (b, x, y) => {
    const low = b.mul(x, y);
    const sign = b.ashr(low, like(b, low, widthOf(b.typeOf(low) as ScalarType) - 1n));
    return [low, b.icmp(b.smulhi(x, y), sign, { pred: 'ne' })];
  },
};
