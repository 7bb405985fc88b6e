/** Bit counts, bit fields, byte permutation, 24-bit and dot products. Source: PTX ISA 9.0, 9.7.1, 9.7.8, 9.7.9. */
import type { Value } from '../../ir/index.ts';
import { bitsOf, type IntType } from '../../ir/types.ts';
import { type FunctionForm, type Row, type RowBuilder, row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { countAs, saturated32 } from './compose.ts';
import { functionOfThree } from './three-inputs.ts';

const fermi = { ptx: 2, sm: 20 } as const;
const volta = { ptx: 7.6, sm: 70 } as const;
const words = ['b32', 'b64'] as const;
const integers = ['u32', 'u64', 's32', 's64'] as const;
const word = ['u32', 's32'] as const;

const i32 = (ir: RowBuilder, value: number): Value => ir.const('i32', value);
const isZero = (ir: RowBuilder, a: Value): Value => ir.icmp(a, ir.const(ir.typeOf(a), 0), { pred: 'eq' });
/** A bit count as the 32-bit result of the manual. */
const asResult32 = (ir: RowBuilder, a: Value): Value => (ir.typeOf(a) === 'i64' ? ir.trunc('i32', a) : a);
/** A position or length: the low eight bits, as the manual says. For 64-bit fields GPUs use all bits, as recorded. */
const placeIn = (ir: RowBuilder, a: Value, of: IntType): Value => countAs(ir, of === 'i64' ? a : ir.and(a, i32(ir, 255)), of);
/** A mask of the lowest `count` bits; all bits if the count is the width or more. */
function onesBelow(ir: RowBuilder, count: Value): Value {
  const type = ir.typeOf(count);
  return ir.sub(ir.shl(ir.const(type, 1), count), ir.const(type, 1));
}

/** The position of the n-th set bit from a position on. Searching downwards is searching upwards in the reversed bits. */
function findNth(ir: RowBuilder, mask: Value, base: Value, offset: Value): Value {
  const isDown = ir.icmp(offset, i32(ir, 0), { pred: 'slt' });
  const turned = (place: Value): Value => ir.select(isDown, ir.sub(i32(ir, 31), place), place);
  const word = ir.select(isDown, ir.bitrev(mask), mask);
  const from = turned(base);
  const allowed = ir.select(isZero(ir, offset), ir.shl(i32(ir, 1), from), ir.shl(i32(ir, -1), from));
  const bits = ir.and(word, allowed);
  // The number of set bits to skip.
  const count = ir.smax(offset, ir.sub(i32(ir, 0), offset));
  let left = ir.sub(ir.umax(count, i32(ir, 1)), i32(ir, 1));
  const hasBit = ir.icmp(left, ir.popcount(bits), { pred: 'ult' });
  let place = i32(ir, 0);
  for (const width of [16, 8, 4, 2, 1]) {
    const below = ir.popcount(ir.and(ir.lshr(bits, place), i32(ir, 2 ** width - 1)));
    const isAbove = ir.icmp(left, below, { pred: 'uge' });
    left = ir.select(isAbove, ir.sub(left, below), left);
    place = ir.select(isAbove, ir.add(place, i32(ir, width)), place);
  }
  // Recorded on an H200: for an n of -2^31, which no word can satisfy, the result is bit 0.
  const isMinimum = ir.icmp(offset, i32(ir, -0x80000000), { pred: 'eq' });
  return ir.select(hasBit, turned(place), ir.select(isMinimum, i32(ir, 0), i32(ir, -1)));
}

/** Sign-extends a field from its highest bit, by shifts to the top and down again. */
function signExtendField(ir: RowBuilder, field: Value, length: Value): Value {
  const type = ir.typeOf(field) as IntType;
  const width = ir.const(type, bitsOf(type));
  const spare = ir.sub(width, ir.umin(length, width));
  return ir.ashr(ir.shl(field, spare), spare);
}

/** The low 24 bits of an operand, extended to 64 bits by the sign of the type. */
function low24(ir: RowBuilder, a: Value, type: string): Value {
  const low8 = i32(ir, 8);
  const top = ir.shl(a, low8);
  return isSignedType(type) ? ir.sext('i64', ir.ashr(top, low8)) : ir.zext('i64', ir.lshr(top, low8));
}

/** Bits 0 to 31 or 16 to 47 of the product of two 24-bit operands. */
function product24(ir: RowBuilder, a: Value, b: Value, mode: 'lo' | 'hi', type: string): Value {
  const product = ir.mul(low24(ir, a, type), low24(ir, b, type));
  return ir.trunc('i32', mode === 'lo' ? product : ir.lshr(product, ir.const('i64', 16)));
}

/** Part `index` of `width` bits of a 32-bit value, extended by the sign of a type. */
function partOf(ir: RowBuilder, a: Value, index: number, width: 8 | 16, type: string): Value {
  const top = ir.shl(a, i32(ir, 32 - width * (index + 1)));
  const down = i32(ir, 32 - width);
  return isSignedType(type) ? ir.ashr(top, down) : ir.lshr(top, down);
}

const sum = (ir: RowBuilder, values: readonly Value[]): Value => values.reduce((a, b) => ir.add(a, b));

/** The selectors of each `prmt` mode for the four values of c, byte 0 in the lowest digit. */
const permutations = {
  f4e: [0x3210, 0x4321, 0x5432, 0x6543],
  b4e: [0x5670, 0x6701, 0x7012, 0x0123],
  rc8: [0x0000, 0x1111, 0x2222, 0x3333],
  ecl: [0x3210, 0x3211, 0x3222, 0x3333],
  ecr: [0x0000, 0x1110, 0x2210, 0x3210],
  rc16: [0x1010, 0x3232, 0x1010, 0x3232],
} as const;

/** The selector for c in a mode, from its two low bits. */
function selectorOf(ir: RowBuilder, c: Value, mode: keyof typeof permutations): Value {
  const known = ir.constantOf(c);
  if (known !== undefined) return i32(ir, permutations[mode][Number(known & 3n)]!);
  const index = ir.and(c, i32(ir, 3));
  const [first, ...rest] = permutations[mode].map((selector) => i32(ir, selector)) as [Value, ...Value[]];
  return rest.reduce((chosen, selector, i) => ir.select(ir.icmp(index, i32(ir, i + 1), { pred: 'eq' }), selector, chosen), first);
}

/** The sources of an instruction that has three. */
interface Three {
  readonly a: Value;
  readonly b: Value;
  readonly c: Value;
}

/** Byte `index` of the result: three bits select one of the eight bytes of b and a, and the fourth replicates its sign. */
function permutedByte(ir: RowBuilder, both: Value, selector: Value, index: number, isPlain: boolean): Value {
  const digit = ir.lshr(selector, i32(ir, 4 * index));
  const at = ir.zext('i64', ir.shl(ir.and(digit, i32(ir, 7)), i32(ir, 3)));
  const byte = ir.and(ir.trunc('i32', ir.lshr(both, at)), i32(ir, 255));
  if (isPlain) return ir.shl(byte, i32(ir, 8 * index));
  const sign = ir.and(ir.ashr(ir.shl(byte, i32(ir, 24)), i32(ir, 31)), i32(ir, 255));
  const isSign = ir.icmp(ir.and(digit, i32(ir, 8)), i32(ir, 0), { pred: 'ne' });
  return ir.shl(ir.select(isSign, sign, byte), i32(ir, 8 * index));
}

/** The bytes of a result that a source has at one distance, and the sign bytes that it has at another. */
interface Moved {
  readonly source: Value;
  /** Bits to the left. */
  readonly by: number;
  readonly isSign: boolean;
  mask: number;
}

/** Bytes that move together do so by one shift. */
function permuteBy(ir: RowBuilder, a: Value, b: Value, selector: number): Value {
  const moves: Moved[] = [];
  for (let index = 0; index < 4; index++) {
    const digit = (selector >> (4 * index)) & 15;
    const source = (digit & 7) < 4 ? a : b;
    const isSign = digit >= 8;
    const from = digit & 3;
    // A sign byte is taken from the top bit of its byte, which has the same distance for every byte of the result.
    const by = isSign ? 24 - 8 * from : 8 * (index - from);
    const known = moves.find((each) => each.source === source && each.by === by && each.isSign === isSign);
    const mask = 0xff << (8 * index);
    if (known) known.mask |= mask;
    else moves.push({ source, by, isSign, mask });
  }
  return moves.map((move) => movedBytes(ir, move)).reduce((x, y) => ir.or(x, y));
}

function movedBytes(ir: RowBuilder, { source, by, isSign, mask }: Moved): Value {
  const shift = (op: 'shl' | 'lshr', bits: number): Value => (bits === 0 ? source : ir[op](source, i32(ir, bits)));
  if (isSign) return masked(ir, ir.ashr(shift('shl', by), i32(ir, 31)), mask, -1);
  return by < 0 ? masked(ir, shift('lshr', -by), mask, -1 >>> -by) : masked(ir, shift('shl', by), mask, -1 << by);
}

/** The bits of a mask, of a value that has none but `present`. */
const masked = (ir: RowBuilder, a: Value, mask: number, present: number): Value => ((present & ~mask) === 0 ? a : ir.and(a, i32(ir, mask)));

function permute(ir: RowBuilder, a: Value, b: Value, selector: Value): Value {
  const known = ir.constantOf(selector);
  if (known !== undefined) return permuteBy(ir, a, b, Number(known & 0xffffn));
  return permuteBytes(ir, a, b, selector, hasNoSigns(ir, selector));
}

/** Permutes by a selector that is not constant; a plain one replicates no signs. */
function permuteBytes(ir: RowBuilder, a: Value, b: Value, selector: Value, isPlain: boolean): Value {
  const both = pair(ir, a, b);
  return [0, 1, 2, 3].map((i) => permutedByte(ir, both, selector, i, isPlain)).reduce((x, y) => ir.or(x, y));
}

/** The bits of a selector that replicate a sign. */
const signDigits = 0x8888n;
const hasNoSigns = (ir: RowBuilder, selector: Value): boolean => (ir.knownZeros(selector) & signDigits) === signDigits;

/** The function that permutes by a selector. */
const permutation = (isPlain: boolean): FunctionForm<Three> => ({
  suffix: isPlain ? '.plain' : '',
  lower: ({ a, b, c }, ir) => permuteBytes(ir, a, b, c, isPlain),
});

/** A function of two factors and a sum so far; none where a constant factor makes the code short. */
const unlessConstant = ({ a, b }: Three, ir: RowBuilder, lower: FunctionForm<Three>['lower']): FunctionForm<Three> | undefined =>
  ir.constantOf(a) === undefined && ir.constantOf(b) === undefined ? { suffix: '', lower } : undefined;

type ByteTypes = Readonly<Record<'atype' | 'btype', (typeof word)[number]>>;

/** c plus the products of four bytes. */
const dot4 = ({ a, b, c }: Three, { atype, btype }: ByteTypes, ir: RowBuilder): Value =>
  sum(ir, [c, ...[0, 1, 2, 3].map((i) => ir.mul(partOf(ir, a, i, 8, atype), partOf(ir, b, i, 8, btype)))]);

/** c plus the products of two halves of a with two bytes of b. */
const dot2 = ({ a, b, c }: Three, { mode, atype, btype }: ByteTypes & { readonly mode: 'lo' | 'hi' }, ir: RowBuilder): Value =>
  sum(ir, [c, ...[0, 1].map((i) => ir.mul(partOf(ir, a, i, 16, atype), partOf(ir, b, mode === 'lo' ? i : i + 2, 8, btype)))]);

/** Two 32-bit values as one of 64 bits, the first in the low half. */
const pair = (ir: RowBuilder, low: Value, high: Value): Value =>
  ir.or(ir.shl(ir.zext('i64', high), ir.const('i64', 32)), ir.zext('i64', low));

interface Funnel {
  readonly c: Value;
  readonly dir: 'l' | 'r';
  readonly mode: 'clamp' | 'wrap';
}

/**
 * A word, with bits of another one where it has none left after the shift. Words of 32 bits are what GPUs and lanes are fast at; by
 * a distance of up to 31 the other word moves by one more, so that no distance is 32.
 */
function funnel(ir: RowBuilder, word: Value, other: Value, { c, dir, mode }: Funnel): Value {
  const [away, towards] = dir === 'l' ? (['shl', 'lshr'] as const) : (['lshr', 'shl'] as const);
  const known = ir.constantOf(c);
  if (known !== undefined) {
    const by = mode === 'wrap' ? Number(known & 31n) : Math.min(Number(known), 32);
    if (by === 0 || by === 32) return by === 0 ? word : other;
    return ir.or(ir[away](word, i32(ir, by)), ir[towards](other, i32(ir, 32 - by)));
  }
  // A shift by 32 leaves nothing of a word, here as in PTX.
  if (mode === 'clamp') {
    const by = ir.umin(c, i32(ir, 32));
    return ir.or(ir[away](word, by), ir[towards](other, ir.sub(i32(ir, 32), by)));
  }
  const by = ir.and(c, i32(ir, 31));
  return ir.or(ir[away](word, by), ir[towards](ir[towards](other, i32(ir, 1)), ir.xor(by, i32(ir, 31))));
}

export const bitRows = (): readonly Row[] => [
  row({
    syntax: 'popc.type d, a',
    values: { type: words },
    types: { d: 'u32' },
    since: fermi,
    doc: 'The number of set bits.',
    source: '9.7.1.15',
    status: 'exact',
    lower: ({ a }, _, ir) => asResult32(ir, ir.popcount(a)),
    cases: () => [
      { form: 'popc.b32', a: 0, d: 0, why: 'none' },
      { form: 'popc.b32', a: 0xffffffff, d: 32, why: 'all' },
      { form: 'popc.b64', a: 0x8000000000000001n, d: 2, why: 'both ends' },
    ],
  }),
  row({
    syntax: 'clz.type d, a',
    values: { type: words },
    types: { d: 'u32' },
    since: fermi,
    doc: 'The number of leading zero bits; the width for 0.',
    source: '9.7.1.16',
    status: 'exact',
    lower: ({ a }, _, ir) => asResult32(ir, ir.clz(a)),
    cases: () => [
      { form: 'clz.b32', a: 1, d: 31, why: 'the lowest bit' },
      { form: 'clz.b32', a: 0, d: 32, why: 'of 0' },
      { form: 'clz.b64', a: 0x100000000n, d: 31, why: 'in the upper half' },
    ],
  }),
  row({
    syntax: 'bfind{.shiftamt}.type d, a',
    values: { type: integers },
    types: { d: 'u32' },
    since: fermi,
    doc: 'The position of the highest bit that differs from the sign, or the left shift that brings it to the top. All ones if there is no such bit.',
    source: '9.7.1.17',
    status: 'exact',
    lower({ a }, { shiftamt, type }, ir) {
      const of = ir.typeOf(a) as IntType;
      const last = ir.const(of, bitsOf(of) - 1);
      const magnitude = isSignedType(type) ? ir.xor(a, ir.ashr(a, last)) : a;
      const zeros = ir.clz(magnitude);
      if (!shiftamt) return asResult32(ir, ir.sub(last, zeros));
      return ir.select(isZero(ir, magnitude), i32(ir, -1), asResult32(ir, zeros));
    },
    cases: () => [
      { form: 'bfind.u32', a: 0x00010000, d: 16, why: 'bit 16' },
      { form: 'bfind.s32', a: 0xfffffffe, d: 0, why: '-2 differs from its sign in bit 0' },
      { form: 'bfind.u32', a: 0, d: 0xffffffff, why: 'none' },
      { form: 'bfind.shiftamt.u32', a: 1, d: 31, why: '1 << 31 is at the top' },
    ],
  }),
  row({
    syntax: 'brev.type d, a',
    values: { type: words },
    since: fermi,
    doc: 'The bits in reverse order.',
    source: '9.7.1.19',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.bitrev(a),
    cases: () => [
      { form: 'brev.b32', a: 1, d: 0x80000000, why: 'the lowest becomes the highest' },
      { form: 'brev.b32', a: 0x12345678, d: 0x1e6a2c48, why: 'a pattern' },
      { form: 'brev.b64', a: 0x8000000000000000n, d: 1n, why: 'and back' },
    ],
  }),
  row({
    syntax: 'bfe.type d, a, b, c',
    values: { type: integers },
    types: { b: 'u32', c: 'u32' },
    since: fermi,
    doc: 'The field of c bits at bit b, extended by its highest bit for signed types. For 32-bit types only the low eight bits of b and c are used.',
    source: '9.7.1.20',
    status: 'exact',
    lower({ a, b, c }, { type }, ir) {
      const of = ir.typeOf(a) as IntType;
      const [at, length] = [placeIn(ir, b, of), placeIn(ir, c, of)];
      if (isSignedType(type)) return signExtendField(ir, ir.ashr(a, at), length);
      return ir.and(ir.lshr(a, at), onesBelow(ir, length));
    },
    cases: () => [
      { form: 'bfe.u32', a: 0x12345678, b: 8, c: 8, d: 0x56, why: 'a byte' },
      { form: 'bfe.s32', a: 0x0000f000, b: 12, c: 4, d: 0xffffffff, why: 'sign-extended' },
      { form: 'bfe.u32', a: 0xffffffff, b: 28, c: 8, d: 0xf, why: 'zeros beyond the top' },
      { form: 'bfe.s32', a: 0xffffffff, b: 0, c: 0, d: 0, why: 'an empty field' },
    ],
  }),
  row({
    syntax: 'bfi.type d, a, b, c, e',
    values: { type: words },
    types: { c: 'u32', e: 'u32' },
    since: fermi,
    doc: 'b with its field of e bits at bit c replaced by the low bits of a. For 32-bit types only the low eight bits of c and e are used.',
    source: '9.7.1.21',
    status: 'exact',
    lower({ a, b, c, e }, _, ir) {
      const of = ir.typeOf(a) as IntType;
      const at = placeIn(ir, c, of);
      const mask = ir.shl(onesBelow(ir, placeIn(ir, e, of)), at);
      const kept = ir.and(b, ir.xor(mask, ir.const(of, -1n)));
      return ir.or(kept, ir.and(ir.shl(a, at), mask));
    },
    cases: () => [
      { form: 'bfi.b32', a: 0xab, b: 0x11111111, c: 8, e: 8, d: 0x1111ab11, why: 'a byte' },
      { form: 'bfi.b32', a: 0xff, b: 0, c: 28, e: 8, d: 0xf0000000, why: 'bits beyond the top are lost' },
      { form: 'bfi.b64', a: 1n, b: 0n, c: 40, e: 1, d: 0x10000000000n, why: 'in the upper half' },
      { form: 'bfi.b32', a: 7, b: 5, c: 0, e: 0, d: 5, why: 'an empty field' },
    ],
  }),
  row({
    syntax: 'szext.mode.type d, a, b',
    values: { mode: ['wrap', 'clamp'], type: word },
    types: { b: 'u32' },
    since: volta,
    doc: 'The low b bits of a, extended. b is taken modulo 32, or clamped to 32.',
    source: '9.7.1.22',
    status: 'exact',
    lower({ a, b }, { mode, type }, ir) {
      const length = mode === 'wrap' ? ir.and(b, i32(ir, 31)) : ir.umin(b, i32(ir, 32));
      return isSignedType(type) ? signExtendField(ir, a, length) : ir.and(a, onesBelow(ir, length));
    },
    cases: () => [
      { form: 'szext.clamp.s32', a: 0x80, b: 8, d: 0xffffff80, why: 'a signed byte' },
      { form: 'szext.clamp.u32', a: 0xffffffff, b: 40, d: 0xffffffff, why: 'at most 32' },
      { form: 'szext.wrap.u32', a: 0xffffffff, b: 32, d: 0, why: '32 modulo 32 is an empty field' },
    ],
  }),
  row({
    syntax: 'bmsk.mode.b32 d, a, b',
    values: { mode: ['wrap', 'clamp'] },
    types: { d: 'b32', a: 'u32', b: 'u32' },
    since: volta,
    doc: 'A mask of b ones from bit a up. Both are taken modulo 32, or clamped to 32.',
    source: '9.7.1.23',
    status: 'exact',
    lower({ a, b }, { mode }, ir) {
      const bound = (x: Value): Value => (mode === 'wrap' ? ir.and(x, i32(ir, 31)) : x);
      return ir.shl(onesBelow(ir, bound(b)), bound(a));
    },
    cases: () => [
      { form: 'bmsk.clamp.b32', a: 4, b: 8, d: 0xff0, why: 'a byte of ones' },
      { form: 'bmsk.clamp.b32', a: 0, b: 50, d: 0xffffffff, why: 'at most 32' },
      { form: 'bmsk.wrap.b32', a: 33, b: 1, d: 2, why: '33 modulo 32' },
    ],
  }),
  row({
    syntax: 'fns.b32 d, mask, base, offset',
    types: { d: 'b32', mask: 'b32', base: 'b32', offset: 's32' },
    since: { ptx: 6, sm: 30 },
    doc: 'The position of the n-th set bit, from bit `base` upwards, or downwards for a negative n. For an n of 0, `base` itself if that bit is set. All ones if there is no such bit.',
    source: '9.7.1.17',
    status: 'exact',
    lower: ({ mask, base, offset }, _, ir) => findNth(ir, mask, base, offset),
    cases: () => [
      { form: 'fns.b32', mask: 0x16, base: 0, offset: 2, d: 2, why: 'the second of bits 1, 2 and 4' },
      { form: 'fns.b32', mask: 0x16, base: 4, offset: 0xfffffffd, d: 1, why: 'the third downwards' },
      { form: 'fns.b32', mask: 0x16, base: 2, offset: 3, d: 0xffffffff, why: 'there are only two from bit 2 on' },
      { form: 'fns.b32', mask: 0x16, base: 3, offset: 0, d: 0xffffffff, why: 'bit 3 is not set' },
      { form: 'fns.b32', mask: 0xffffffff, base: 31, offset: 0x80000000, d: 0, why: 'there are no 2^31 bits, and the hardware gives 0' },
      { form: 'fns.b32', mask: 0xffffffff, base: 31, offset: 0x80000001, d: 0xffffffff, why: 'nor one fewer' },
    ],
  }),
  row({
    syntax: 'sad.type d, a, b, c',
    values: { type: ['u16', 'u32', 'u64', 's16', 's32', 's64'] },
    since: { ptx: 1, sm: 10 },
    doc: 'c plus the absolute difference of a and b.',
    source: '9.7.1.8',
    status: 'exact',
    lower({ a, b, c }, { type }, ir) {
      const isBelow = ir.icmp(a, b, { pred: isSignedType(type) ? 'slt' : 'ult' });
      return ir.add(c, ir.select(isBelow, ir.sub(b, a), ir.sub(a, b)));
    },
    cases: () => [
      { form: 'sad.u32', a: 3, b: 10, c: 5, d: 12, why: '5 + 7' },
      { form: 'sad.s32', a: 0xffffffff, b: 1, c: 0, d: 2, why: '-1 and 1' },
      { form: 'sad.u16', a: 0xffff, b: 0, c: 1, d: 0, why: 'wraps' },
    ],
  }),
  row({
    syntax: 'mul24.mode.type d, a, b',
    values: { mode: ['lo', 'hi'], type: word },
    since: { ptx: 1, sm: 10 },
    doc: 'Bits 0 to 31, or 16 to 47, of the product of the low 24 bits.',
    source: '9.7.1.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) => product24(ir, a, b, m.mode, m.type),
    cases: () => [
      { form: 'mul24.lo.u32', a: 0xff000003, b: 7, d: 21, why: 'the high byte is ignored' },
      { form: 'mul24.lo.s32', a: 0x00ffffff, b: 5, d: 0xfffffffb, why: '-1 times 5' },
      { form: 'mul24.hi.u32', a: 0x00ffffff, b: 0x00ffffff, d: 0xfffffe00, why: '(2^24-1)^2 >> 16' },
    ],
  }),
  row({
    syntax: 'mad24.mode.type d, a, b, c',
    values: { mode: ['lo', 'hi'], type: word },
    since: { ptx: 1, sm: 10 },
    doc: 'Bits 0 to 31, or 16 to 47, of the product of the low 24 bits, plus c.',
    source: '9.7.1.6',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => ir.add(product24(ir, a, b, m.mode, m.type), c),
    cases: () => [
      { form: 'mad24.lo.s32', a: 6, b: 7, c: 8, d: 50, why: 'a small product' },
      { form: 'mad24.lo.u32', a: 0x01000002, b: 3, c: 0, d: 6, why: 'the high byte is ignored' },
      { form: 'mad24.hi.u32', a: 0x10000, b: 0x10000, c: 1, d: 0x10001, why: '2^32 >> 16, plus 1' },
    ],
  }),
  row({
    syntax: 'mad24.hi.sat.s32 d, a, b, c',
    types: { d: 's32', a: 's32', b: 's32', c: 's32' },
    since: { ptx: 1, sm: 10 },
    doc: 'Bits 16 to 47 of the product of the low 24 bits, plus c, saturated.',
    source: '9.7.1.6',
    status: 'exact',
    lower: ({ a, b, c }, _, ir) => saturated32(ir, (wide) => ir.add(wide(product24(ir, a, b, 'hi', 's32')), wide(c))),
    cases: () => [
      { form: 'mad24.hi.sat.s32', a: 0x10000, b: 0x10000, c: 0x7fffffff, d: 0x7fffffff, why: 'above the maximum' },
      { form: 'mad24.hi.sat.s32', a: 0x00ff0000, b: 0x10000, c: 0x80000000, d: 0x80000000, why: 'below the minimum' },
      { form: 'mad24.hi.sat.s32', a: 0x10000, b: 2, c: 40, d: 42, why: 'nothing to saturate' },
    ],
  }),
  row({
    syntax: 'dp4a.atype.btype d, a, b, c',
    values: { atype: word, btype: word },
    types: { d: 'b32', a: 'b32', b: 'b32', c: 'b32' },
    since: { ptx: 5, sm: 61 },
    doc: 'c plus the sum of the products of four bytes.',
    source: '9.7.1.24',
    status: 'exact',
    asFunction: (operands, m, ir) => unlessConstant(operands, ir, (each, inside) => dot4(each, m, inside)),
    lower: dot4,
    cases: () => [
      { form: 'dp4a.u32.u32', a: 0x01020304, b: 0x01010101, c: 5, d: 15, why: '1+2+3+4+5' },
      { form: 'dp4a.s32.s32', a: 0xffffffff, b: 0x01010101, c: 0, d: 0xfffffffc, why: 'four times -1' },
      { form: 'dp4a.u32.s32', a: 0x000000ff, b: 0x000000ff, c: 0, d: 0xffffff01, why: '255 times -1' },
    ],
  }),
  row({
    syntax: 'dp2a.mode.atype.btype d, a, b, c',
    values: { mode: ['lo', 'hi'], atype: word, btype: word },
    types: { d: 'b32', a: 'b32', b: 'b32', c: 'b32' },
    since: { ptx: 5, sm: 61 },
    doc: 'c plus the sum of the products of the two halves of a and the two low or high bytes of b.',
    source: '9.7.1.25',
    status: 'exact',
    asFunction: (operands, m, ir) => unlessConstant(operands, ir, (each, inside) => dot2(each, m, inside)),
    lower: dot2,
    cases: () => [
      { form: 'dp2a.lo.u32.u32', a: 0x00020003, b: 0x00000504, c: 1, d: 23, why: '3*4 + 2*5 + 1' },
      { form: 'dp2a.hi.u32.u32', a: 0x00020003, b: 0x05040000, c: 1, d: 23, why: 'the high bytes' },
      { form: 'dp2a.lo.s32.s32', a: 0x0000ffff, b: 0x00000007, c: 0, d: 0xfffffff9, why: '-1 times 7' },
    ],
  }),
  row({
    syntax: 'lop3.b32 d, a, b, c, table',
    types: { d: 'b32', a: 'b32', b: 'b32', c: 'b32', table: 'u32' },
    constants: { table: [0, 255] },
    since: { ptx: 4.3, sm: 50 },
    doc: 'Any function of three bits, given by the table of its eight results: 0xF0, 0xCC and 0xAA are a, b and c.',
    source: '9.7.8.6',
    status: 'exact',
    lower({ a, b, c, table }, _, ir) {
      return functionOfThree(ir, { a, b, c }, Number(ir.constantOf(table) ?? 0n));
    },
    cases: () => [
      { form: 'lop3.b32', a: 0xf0f0f0f0, b: 0xcccccccc, c: 0xaaaaaaaa, table: 0x96, d: 0x96969696, why: 'the parity of three bits' },
      { form: 'lop3.b32', a: 0xffff0000, b: 0x12345678, c: 0x9abcdef0, table: 0xca, d: 0x1234def0, why: 'b where a, else c' },
      { form: 'lop3.b32', a: 1, b: 2, c: 3, table: 0, d: 0, why: 'never' },
    ],
  }),
  row({
    syntax: 'lop3.op.b32 d|p, a, b, c, table, q',
    values: { op: ['or', 'and'] },
    types: { d: 'b32', p: 'pred', a: 'b32', b: 'b32', c: 'b32', table: 'u32', q: 'pred' },
    constants: { table: [0, 255] },
    since: { ptx: 8.2, sm: 70 },
    doc: 'Any function of three bits. p is whether any bit of the result is set, combined with the predicate q.',
    source: '9.7.8.6',
    status: 'exact',
    lower({ a, b, c, table, q }, { op }, ir) {
      const d = functionOfThree(ir, { a, b, c }, Number(ir.constantOf(table) ?? 0n));
      return { d, p: ir[op](ir.icmp(d, i32(ir, 0), { pred: 'ne' }), q) };
    },
    cases: () => [
      { form: 'lop3.and.b32', a: 12, b: 10, c: 0, table: 0xc0, q: 1, d: 8, p: 1, why: 'a and b, not 0' },
      { form: 'lop3.or.b32', a: 1, b: 2, c: 0, table: 0xc0, q: 0, d: 0, p: 0, why: 'neither holds' },
      { form: 'lop3.or.b32', a: 1, b: 2, c: 4, table: 0, q: 1, d: 0, p: 1, why: 'q holds' },
    ],
  }),
  row({
    syntax: 'shf.dir.mode.b32 d, a, b, c',
    values: { dir: ['l', 'r'], mode: ['clamp', 'wrap'] },
    types: { d: 'b32', a: 'b32', b: 'b32', c: 'u32' },
    since: { ptx: 3.1, sm: 32 },
    doc: 'Shifts the 64 bits of b and a. A left shift gives the high 32 bits of the result, a right shift the low ones. The count is clamped to 32, or taken modulo 32.',
    source: '9.7.8.8',
    status: 'exact',
    lower: ({ a, b, c }, { dir, mode }, ir) => funnel(ir, dir === 'r' ? a : b, dir === 'r' ? b : a, { c, dir, mode }),
    cases: () => [
      { form: 'shf.l.clamp.b32', a: 0x80000000, b: 1, c: 1, d: 3, why: 'a bit moves between the halves' },
      { form: 'shf.r.wrap.b32', a: 0x12345678, b: 0x12345678, c: 8, d: 0x78123456, why: 'a rotation' },
      { form: 'shf.l.clamp.b32', a: 7, b: 9, c: 99, d: 7, why: 'at most 32' },
      { form: 'shf.l.wrap.b32', a: 7, b: 9, c: 32, d: 9, why: '32 modulo 32' },
    ],
  }),
  row({
    syntax: 'prmt.b32 d, a, b, c',
    types: { d: 'b32', a: 'b32', b: 'b32', c: 'b32' },
    since: fermi,
    doc: 'Four bytes of a (0 to 3) and b (4 to 7), each selected by four bits of c. The highest of the four replicates the sign of the byte.',
    source: '9.7.9.7',
    status: 'exact',
    asFunction: ({ c }, _, ir) => (ir.constantOf(c) === undefined ? permutation(hasNoSigns(ir, c)) : undefined),
    lower: ({ a, b, c }, _, ir) => permute(ir, a, b, c),
    cases: () => [
      { form: 'prmt.b32', a: 0x33221100, b: 0x77665544, c: 0x0123, d: 0x00112233, why: 'the bytes of a reversed' },
      { form: 'prmt.b32', a: 0x33221100, b: 0x77665544, c: 0x7654, d: 0x77665544, why: 'b' },
      { form: 'prmt.b32', a: 0x00008000, b: 0, c: 0x0009, d: 0x000000ff, why: 'the sign of byte 1' },
    ],
  }),
  row({
    syntax: 'prmt.b32.mode d, a, b, c',
    values: { mode: ['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16'] },
    types: { d: 'b32', a: 'b32', b: 'b32', c: 'b32' },
    since: fermi,
    doc: 'Four bytes of a and b in one of four patterns of the mode. The two low bits of c select the pattern.',
    source: '9.7.9.7',
    status: 'exact',
    lower: ({ a, b, c }, { mode }, ir) => permute(ir, a, b, selectorOf(ir, c, mode)),
    cases: () => [
      { form: 'prmt.b32.f4e', a: 0x33221100, b: 0x77665544, c: 1, d: 0x44332211, why: 'four bytes from byte 1' },
      { form: 'prmt.b32.rc8', a: 0x33221100, b: 0, c: 2, d: 0x22222222, why: 'byte 2 everywhere' },
      { form: 'prmt.b32.b4e', a: 0x33221100, b: 0x77665544, c: 0, d: 0x55667700, why: 'backwards' },
    ],
  }),
  row({
    syntax: 'slct.dtype.s32 d, a, b, c',
    values: { dtype: ['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] },
    types: { d: '.dtype', a: '.dtype', b: '.dtype', c: 's32' },
    since: { ptx: 1, sm: 10 },
    doc: 'a if c is not negative, else b.',
    source: '9.7.6.4',
    status: 'exact',
    lower: ({ a, b, c }, _, ir) => ir.select(ir.icmp(c, i32(ir, 0), { pred: 'sge' }), a, b),
    cases: () => [
      { form: 'slct.b32.s32', a: 1, b: 2, c: 0, d: 1, why: '0 is not negative' },
      { form: 'slct.f32.s32', a: 0x3f800000, b: 0x40000000, c: 0xffffffff, d: 0x40000000, why: '-1 is' },
      { form: 'slct.u64.s32', a: 1n, b: 2n, c: 5, d: 1n, why: 'of 64 bits' },
    ],
  }),
  row({
    syntax: 'slct{.ftz}.dtype.f32 d, a, b, c',
    values: { dtype: ['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] },
    types: { d: '.dtype', a: '.dtype', b: '.dtype', c: 'f32' },
    since: { ptx: 1, sm: 10 },
    doc: 'a if c is at least 0, else b. -0 is at least 0, and a NaN is not.',
    source: '9.7.6.4',
    status: 'exact',
    // Flushing only matters for negative subnormals, which become -0.
    lower({ a, b, c }, { ftz }, ir) {
      const least = ir.const('f32', ftz ? 0x80800000 : 0);
      return ir.select(ir.fcmp(c, least, { pred: ftz ? 'ogt' : 'oge' }), a, b);
    },
    cases: () => [
      { form: 'slct.b32.f32', a: 1, b: 2, c: 0x80000000, d: 1, why: '-0' },
      { form: 'slct.b32.f32', a: 1, b: 2, c: 0x7fc00000, d: 2, why: 'a NaN' },
      { form: 'slct.ftz.b32.f32', a: 1, b: 2, c: 0x80000001, d: 1, why: 'a negative subnormal is treated as -0' },
    ],
  }),
  row({
    syntax: 'copysign.type d, a, b',
    values: { type: ['f32', 'f64'] },
    since: fermi,
    doc: 'The magnitude of b with the sign of a.',
    source: '9.7.3.2',
    status: 'exact',
    lower({ a, b }, { type }, ir) {
      const int = type === 'f32' ? 'i32' : 'i64';
      const sign = ir.const(int, 1n << BigInt(bitsOf(int) - 1));
      const magnitude = ir.and(ir.bitcast(int, b), ir.xor(sign, ir.const(int, -1n)));
      return ir.bitcast(type, ir.or(ir.and(ir.bitcast(int, a), sign), magnitude));
    },
    cases: () => [
      { form: 'copysign.f32', a: 0x80000000, b: 0x40400000, d: 0xc0400000, why: 'the sign of -0' },
      { form: 'copysign.f32', a: 0x3f800000, b: 0xc0400000, d: 0x40400000, why: 'made positive' },
      { form: 'copysign.f64', a: 0xbff0000000000000n, b: 0n, d: 0x8000000000000000n, why: 'a negative zero' },
    ],
  }),
  row({
    syntax: 'testp.op.type d, a',
    values: { op: ['finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'], type: ['f32', 'f64'] },
    types: { d: 'pred' },
    since: fermi,
    doc: 'Whether a float belongs to a class. Zeros are normal.',
    source: '9.7.3.1',
    status: 'exact',
    lower({ a }, { op, type }, ir) {
      const [infinity, least] = type === 'f32' ? [0x7f800000n, 0x00800000n] : [0x7ff0000000000000n, 0x0010000000000000n];
      const size = ir.fabs(a);
      const below = ir.fcmp(size, ir.const(type, infinity), { pred: 'olt' });
      const isSmall = ir.fcmp(size, ir.const(type, least), { pred: 'olt' });
      const isZero = ir.fcmp(a, ir.const(type, 0), { pred: 'oeq' });
      const isSubnormal = ir.and(isSmall, ir.xor(isZero, ir.const('i1', 1)));
      if (op === 'finite') return below;
      if (op === 'infinite') return ir.fcmp(size, ir.const(type, infinity), { pred: 'oeq' });
      if (op === 'number' || op === 'notanumber') return ir.fcmp(a, a, { pred: op === 'number' ? 'ord' : 'uno' });
      return op === 'subnormal' ? isSubnormal : ir.and(below, ir.xor(isSubnormal, ir.const('i1', 1)));
    },
    cases: () => [
      { form: 'testp.finite.f32', a: 0x7f800000, d: 0, why: 'infinity is not finite' },
      { form: 'testp.subnormal.f32', a: 1, d: 1, why: 'the smallest one' },
      { form: 'testp.normal.f32', a: 0x80000000, d: 1, why: 'zero is normal' },
      { form: 'testp.notanumber.f64', a: 0x7ff8000000000000n, d: 1, why: 'a NaN' },
    ],
  }),
];
