/** LLVM's intrinsics on integers, for one element. Source: LLVM Language Reference, "Bit Manipulation", "Arithmetic with Overflow", "Saturation". */
import type { BinaryOpcode, Predicate } from '../../bitcode/index.ts';
import { refuse } from '../refused.ts';
import {
  compareIntegers,
  containerBits,
  integerBinary,
  intPrefix,
  resized,
  selected,
  signExtended,
  truncated,
} from '../select/integers.ts';
import { type FunctionState, into } from '../state.ts';

/** One element of the operands; integers of 2 to 64 bits. */
export type IntegerIntrinsic = (s: FunctionState, bits: number, operands: readonly string[]) => string;

const extreme =
  (predicate: Predicate): IntegerIntrinsic =>
  (s, bits, [a, b]) => {
    const isFirst = compareIntegers(s, predicate, bits, a!, b!);
    return selected(s, bits === 1 ? 'p' : intPrefix(bits), bits === 1 ? 'pred' : `b${containerBits(bits)}`, isFirst, a!, b!);
  };

/** An instruction on 32 or 64 bits, whose result has 32 bits, for any width. `adjust` is what a narrower width takes from the result. */
const counted =
  (mnemonic: string, adjust: (bits: number, container: number) => number): IntegerIntrinsic =>
  (s, bits, [a]) => {
    const container = bits <= 32 ? 32 : 64;
    const count = into(s, 'r', `${mnemonic}.b${container}`, resized(s, inRegister(s, a!, bits), bits, container));
    const less = adjust(bits, container);
    return resized(s, less === 0 ? count : into(s, 'r', 'sub.s32', count, less), 32, bits);
  };

const inRegister = (s: FunctionState, text: string, bits: number): string =>
  text.startsWith('%') ? text : into(s, intPrefix(bits), `mov.b${containerBits(bits)}`, text);

/** The bits in reverse order: those of the container, moved down. */
const reversed: IntegerIntrinsic = (s, bits, [a]) => {
  const container = bits <= 32 ? 32 : 64;
  const all = into(s, intPrefix(container), `brev.b${container}`, resized(s, inRegister(s, a!, bits), bits, container));
  const low = bits === container ? all : into(s, intPrefix(container), `shr.u${container}`, all, container - bits);
  return resized(s, low, container, bits);
};

/** Zeros below the lowest set bit; the width for 0. */
const trailing: IntegerIntrinsic = (s, bits, [a]) => {
  const container = bits <= 32 ? 32 : 64;
  const wide = resized(s, inRegister(s, a!, bits), bits, container);
  const ended = bits === container ? wide : into(s, intPrefix(container), `or.b${container}`, wide, String(1n << BigInt(bits)));
  const count = into(s, 'r', `clz.b${container}`, into(s, intPrefix(container), `brev.b${container}`, ended));
  return resized(s, count, 32, bits);
};

const swapped: IntegerIntrinsic = (s, bits, [a]) => {
  const value = inRegister(s, a!, bits);
  if (bits === 16) return resized(s, into(s, 'r', 'prmt.b32', resized(s, value, 16, 32), 0, '0x4401'), 32, 16);
  if (bits === 32) return into(s, 'r', 'prmt.b32', value, 0, '0x0123');
  if (bits !== 64) return refuse(`bswap of integers of ${bits} bits`);
  const low = into(s, 'r', 'cvt.u32.u64', value);
  const high = into(s, 'r', 'cvt.u32.u64', into(s, 'rd', 'shr.u64', value, 32));
  return into(s, 'rd', 'mov.b64', `{${into(s, 'r', 'prmt.b32', high, 0, '0x0123')}, ${into(s, 'r', 'prmt.b32', low, 0, '0x0123')}}`);
};

/** The high or low half of two words, shifted by a count modulo the width. */
const funnel =
  (isLeft: boolean): IntegerIntrinsic =>
  (s, bits, [high, low, count]) => {
    if (bits === 32) return into(s, 'r', `shf.${isLeft ? 'l' : 'r'}.wrap.b32`, low!, high!, count!);
    const n = integerBinary(s, 'urem', bits, inRegister(s, count!, bits), String(bits));
    const rest = integerBinary(s, 'sub', bits, inRegister(s, String(bits), bits), n);
    const isZero = compareIntegers(s, 'eq', bits, n, '0');
    const [near, far] = isLeft ? [high!, low!] : [low!, high!];
    const own = integerBinary(s, isLeft ? 'shl' : 'lshr', bits, near, n);
    const other = integerBinary(s, isLeft ? 'lshr' : 'shl', bits, far, rest);
    return selected(s, intPrefix(bits), `b${containerBits(bits)}`, isZero, near, integerBinary(s, 'or', bits, own, other));
  };

const absolute: IntegerIntrinsic = (s, bits, [a]) =>
  truncated(s, into(s, intPrefix(bits), `abs.s${containerBits(bits)}`, signExtended(s, a!, bits)), bits);

/** Sums and differences that stop at the ends of the range, computed in a wider register, or by comparison for 64 bits. */
const saturating =
  (opcode: 'add' | 'sub', isSigned: boolean): IntegerIntrinsic =>
  (s, bits, [a, b]) => {
    const { result, overflows } = withOverflow(s, opcode, isSigned, bits, a!, b!);
    const [least, most] = isSigned ? [1n << BigInt(bits - 1), (1n << BigInt(bits - 1)) - 1n] : [0n, (1n << BigInt(bits)) - 1n];
    const text = (n: bigint): string => String(bits === 32 || bits === 64 ? BigInt.asIntN(bits, n) : n);
    const prefix = intPrefix(bits);
    const move = `b${containerBits(bits)}`;
    const end = isSigned
      ? selected(s, prefix, move, compareIntegers(s, 'slt', bits, a!, '0'), text(least), text(most))
      : text(opcode === 'add' ? most : least);
    return selected(s, prefix, move, overflows, end, result);
  };

/** Intrinsics on one element by their names. The second operand of `ctlz`, `cttz` and `abs` says what has no result; all have one here. */
export const integerIntrinsics: Readonly<Record<string, IntegerIntrinsic>> = {
  'llvm.smax': extreme('sgt'),
  'llvm.smin': extreme('slt'),
  'llvm.umax': extreme('ugt'),
  'llvm.umin': extreme('ult'),
  'llvm.abs': absolute,
  'llvm.ctpop': counted('popc', () => 0),
  'llvm.ctlz': counted('clz', (bits, container) => container - bits),
  'llvm.cttz': trailing,
  'llvm.bitreverse': reversed,
  'llvm.bswap': swapped,
  'llvm.fshl': funnel(true),
  'llvm.fshr': funnel(false),
  'llvm.sadd.sat': saturating('add', true),
  'llvm.uadd.sat': saturating('add', false),
  'llvm.ssub.sat': saturating('sub', true),
  'llvm.usub.sat': saturating('sub', false),
};

interface Checked {
  readonly result: string;
  /** A predicate. */
  readonly overflows: string;
}

/** A sum, difference or product, and whether it is beyond the range. */
export function withOverflow(s: FunctionState, opcode: BinaryOpcode, isSigned: boolean, bits: number, a: string, b: string): Checked {
  const result = integerBinary(s, opcode, bits, a, b);
  if (opcode === 'mul') return { result, overflows: productOverflows(s, isSigned, bits, a, b, result) };
  if (!isSigned) return { result, overflows: compareIntegers(s, 'ult', bits, opcode === 'add' ? result : a, opcode === 'add' ? a : b) };
  // The sign differs from that of both operands, or, for a difference, from that of the first, which differ.
  const first = integerBinary(s, 'xor', bits, a, result);
  const second = opcode === 'add' ? integerBinary(s, 'xor', bits, b, result) : integerBinary(s, 'xor', bits, a, b);
  return { result, overflows: compareIntegers(s, 'slt', bits, integerBinary(s, 'and', bits, first, second), '0') };
}

/** Whether the high half of a product is not the extension of its low half. */
function productOverflows(s: FunctionState, isSigned: boolean, bits: number, a: string, b: string, low: string): string {
  const sign = isSigned ? 's' : 'u';
  if (bits < 32) {
    const [x, y] = [a, b].map((text) => resized(s, inRegister(s, text, bits), bits, 64, isSigned));
    const whole = into(s, 'rd', 'mul.lo.s64', x!, y!);
    return into(s, 'p', 'setp.ne.u64', whole, resized(s, low, bits, 64, isSigned));
  }
  const container = containerBits(bits);
  if (bits !== container) return refuse(`products with overflow of ${bits} bits`);
  const high = into(s, intPrefix(bits), `mul.hi.${sign}${container}`, a, b);
  const extension = isSigned ? into(s, intPrefix(bits), `shr.s${container}`, low, container - 1) : '0';
  return into(s, 'p', `setp.ne.u${container}`, high, extension);
}
