/**
 * Integer arithmetic. An integer whose width is not that of its register is zero-extended there, and results are cut to the width.
 * Source: LLVM Language Reference, "Binary Operations"; PTX ISA 9.0, 9.7.1 and 9.7.8.
 */
import type { BinaryOpcode, Predicate } from '../../bitcode/index.ts';
import { refuse } from '../refused.ts';
import { type FunctionState, into } from '../state.ts';

/** Bits of the register of an integer of 2 to 64 bits. */
export const containerBits = (bits: number): number => (bits <= 16 ? 16 : bits <= 32 ? 32 : 64);
const prefixes: Readonly<Record<number, string>> = { 16: 'rs', 32: 'r', 64: 'rd' };
/** The register prefix of an integer of 2 to 64 bits. */
export const intPrefix = (bits: number): string => prefixes[containerBits(bits)]!;

/** Cuts a register to its width. */
export function truncated(s: FunctionState, register: string, bits: number): string {
  const container = containerBits(bits);
  return bits === container ? register : into(s, intPrefix(bits), `and.b${container}`, register, String((1n << BigInt(bits)) - 1n));
}

/** The register with the sign of a narrower integer extended to its whole width. */
export function signExtended(s: FunctionState, text: string, bits: number): string {
  const container = containerBits(bits);
  if (bits === container) return text;
  const by = container - bits;
  const left = into(s, intPrefix(bits), `shl.b${container}`, text, by);
  return into(s, intPrefix(bits), `shr.s${container}`, left, by);
}

/** An integer of 2 to 64 bits in another width; a narrower source is extended by zeros or its sign. */
export function resized(s: FunctionState, text: string, from: number, to: number, isSigned = false): string {
  const [a, b] = [containerBits(from), containerBits(to)];
  const source = isSigned && to > from ? signExtended(s, text, from) : text;
  const moved =
    a === b
      ? source
      : into(s, prefixes[b]!, `cvt.${isSigned && to > from ? 's' : 'u'}${b}.${isSigned && to > from ? 's' : 'u'}${a}`, source);
  return to < from || (isSigned && to > from) ? truncated(s, moved, to) : moved;
}

const mnemonics: Partial<Readonly<Record<BinaryOpcode, string>>> = {
  add: 'add.s',
  sub: 'sub.s',
  mul: 'mul.lo.s',
  udiv: 'div.u',
  sdiv: 'div.s',
  urem: 'rem.u',
  srem: 'rem.s',
  and: 'and.b',
  or: 'or.b',
  xor: 'xor.b',
};
const signed: ReadonlySet<BinaryOpcode> = new Set(['sdiv', 'srem']);
/** Results of zero-extended operands that are zero-extended too. */
const staysNarrow: ReadonlySet<BinaryOpcode> = new Set(['udiv', 'urem', 'and', 'or', 'xor', 'lshr']);

/** An operation on integers of 1 to 64 bits. */
export function integerBinary(s: FunctionState, opcode: BinaryOpcode, bits: number, a: string, b: string): string {
  if (bits === 1) return predicateBinary(s, opcode, a, b);
  if (opcode === 'shl' || opcode === 'lshr' || opcode === 'ashr') return shifted(s, opcode, bits, a, b);
  const mnemonic = mnemonics[opcode] ?? refuse(`${opcode} of integers`);
  const [x, y] = signed.has(opcode) ? [signExtended(s, a, bits), signExtended(s, b, bits)] : [a, b];
  const result = into(s, intPrefix(bits), `${mnemonic}${containerBits(bits)}`, x, y);
  return staysNarrow.has(opcode) ? result : truncated(s, result, bits);
}

/** Counts are less than the width in LLVM; those of PTX have 32 bits. */
function shifted(s: FunctionState, opcode: 'shl' | 'lshr' | 'ashr', bits: number, a: string, b: string): string {
  const container = containerBits(bits);
  const count = b.startsWith('%') ? resized(s, b, bits, 32) : b;
  const mnemonic = opcode === 'shl' ? `shl.b${container}` : `shr.${opcode === 'ashr' ? 's' : 'u'}${container}`;
  const result = into(s, intPrefix(bits), mnemonic, opcode === 'ashr' ? signExtended(s, a, bits) : a, count);
  return opcode === 'lshr' ? result : truncated(s, result, bits);
}

/** Arithmetic modulo 2; a division by zero has no result. */
function predicateBinary(s: FunctionState, opcode: BinaryOpcode, a: string, b: string): string {
  switch (opcode) {
    case 'add':
    case 'sub':
    case 'xor':
      return into(s, 'p', 'xor.pred', a, b);
    case 'mul':
    case 'and':
      return into(s, 'p', 'and.pred', a, b);
    case 'or':
      return into(s, 'p', 'or.pred', a, b);
    case 'udiv':
    case 'sdiv':
    case 'shl':
    case 'lshr':
    case 'ashr':
      return a;
    case 'urem':
    case 'srem':
      return into(s, 'p', 'mov.pred', 0);
    default:
      return refuse(`${opcode} of predicates`);
  }
}

const unsignedWords: Partial<Readonly<Record<Predicate, string>>> = { eq: 'eq', ne: 'ne', ugt: 'gt', uge: 'ge', ult: 'lt', ule: 'le' };
const signedWords: Partial<Readonly<Record<Predicate, string>>> = { sgt: 'gt', sge: 'ge', slt: 'lt', sle: 'le' };

/** A comparison of integers of 1 to 64 bits. */
export function compareIntegers(s: FunctionState, predicate: Predicate, bits: number, a: string, b: string): string {
  if (bits === 1) return comparePredicates(s, predicate, a, b);
  const isSigned = signedWords[predicate];
  const container = containerBits(bits);
  if (isSigned) return into(s, 'p', `setp.${isSigned}.s${container}`, signExtended(s, a, bits), signExtended(s, b, bits));
  return into(s, 'p', `setp.${unsignedWords[predicate] ?? refuse(`icmp ${predicate}`)}.u${container}`, a, b);
}

/** As a signed number, true is -1. */
function comparePredicates(s: FunctionState, predicate: Predicate, a: string, b: string): string {
  const differ = (): string => into(s, 'p', 'xor.pred', a, b);
  const not = (x: string): string => into(s, 'p', 'not.pred', x);
  switch (predicate) {
    case 'ne':
      return differ();
    case 'eq':
      return not(differ());
    case 'ugt':
    case 'slt':
      return into(s, 'p', 'and.pred', a, not(b));
    case 'ult':
    case 'sgt':
      return into(s, 'p', 'and.pred', not(a), b);
    case 'uge':
    case 'sle':
      return into(s, 'p', 'or.pred', a, not(b));
    case 'ule':
    case 'sge':
      return into(s, 'p', 'or.pred', not(a), b);
    default:
      return refuse(`icmp ${predicate}`);
  }
}

/** A selection between parts of one type; `type` is that of a move. */
export function selected(s: FunctionState, prefix: string, type: string, condition: string, a: string, b: string): string {
  if (type !== 'pred') return into(s, prefix, `selp.${type}`, a, b, condition);
  const yes = into(s, 'p', 'and.pred', condition, a);
  const no = into(s, 'p', 'and.pred', into(s, 'p', 'not.pred', condition), b);
  return into(s, 'p', 'or.pred', yes, no);
}

/** Integers of more than 64 bits, as limbs of 64 bits, the lowest first. */
export function wideBinary(s: FunctionState, opcode: BinaryOpcode, bits: number, a: readonly string[], b: readonly string[]): string[] {
  const cut = (limbs: string[]): string[] => cutLast(s, limbs, bits);
  switch (opcode) {
    case 'and':
    case 'or':
    case 'xor':
      return a.map((x, i) => into(s, 'rd', `${opcode}.b64`, x, b[i]!));
    case 'add':
    case 'sub':
      return cut(a.map((x, i) => into(s, 'rd', `${opcode}${i === 0 ? '' : 'c'}${i < a.length - 1 ? '.cc' : ''}.s64`, x, b[i]!)));
    case 'mul':
      return cut(wideProduct(s, a, b));
    case 'shl':
    case 'lshr':
    case 'ashr':
      return cut(wideShift(s, opcode, bits, a, b[0]!));
    default:
      return refuse(`${opcode} of integers of ${bits} bits`);
  }
}

function cutLast(s: FunctionState, limbs: string[], bits: number): string[] {
  const last = bits % 64;
  return last === 0 ? limbs : limbs.map((limb, i) => (i < limbs.length - 1 ? limb : truncated64(s, limb, last)));
}

const truncated64 = (s: FunctionState, limb: string, bits: number): string =>
  into(s, 'rd', 'and.b64', limb, String((1n << BigInt(bits)) - 1n));

function wideProduct(s: FunctionState, a: readonly string[], b: readonly string[]): string[] {
  if (a.length !== 2) return refuse('products of integers of more than 128 bits');
  const low = into(s, 'rd', 'mul.lo.s64', a[0]!, b[0]!);
  const first = into(s, 'rd', 'mul.hi.u64', a[0]!, b[0]!);
  const second = into(s, 'rd', 'mad.lo.s64', a[0]!, b[1]!, first);
  return [low, into(s, 'rd', 'mad.lo.s64', a[1]!, b[0]!, second)];
}

/** Shifts of up to 127 bits: those by 64 and more move a whole limb. Counts above the width of a register give 0, or the sign. */
function wideShift(s: FunctionState, opcode: 'shl' | 'lshr' | 'ashr', bits: number, a: readonly string[], count: string): string[] {
  if (a.length !== 2 || (opcode === 'ashr' && bits !== 128)) return refuse(`${opcode} of integers of ${bits} bits`);
  const n = count.startsWith('%') ? into(s, 'r', 'cvt.u32.u64', count) : into(s, 'r', 'mov.b32', count);
  const over = into(s, 'r', 'sub.s32', n, 64);
  const left = into(s, 'r', 'sub.s32', into(s, 'r', 'mov.b32', 64), n);
  const isFar = into(s, 'p', 'setp.ge.u32', n, 64);
  const [near, across, far] =
    opcode === 'shl'
      ? ['shl.b64', 'shr.u64', 'shl.b64']
      : [`shr.${opcode === 'ashr' ? 's' : 'u'}64`, 'shl.b64', `shr.${opcode === 'ashr' ? 's' : 'u'}64`];
  const [kept, moving] = opcode === 'shl' ? [a[0]!, a[1]!] : [a[1]!, a[0]!];
  // The limb that bits come into: its own bits, those of the other one, or those of the other one alone.
  const own = into(s, 'rd', opcode === 'shl' ? 'shl.b64' : 'shr.u64', moving, n);
  const both = into(s, 'rd', 'or.b64', own, into(s, 'rd', across!, kept, left));
  const receiving = into(s, 'rd', 'selp.b64', into(s, 'rd', far!, kept, over), both, isFar);
  const rest = opcode === 'ashr' ? into(s, 'rd', 'shr.s64', kept, 63) : '0';
  const giving = into(s, 'rd', 'selp.b64', rest, into(s, 'rd', near!, kept, n), isFar);
  return opcode === 'shl' ? [giving, receiving] : [receiving, giving];
}

/** A comparison of integers of more than 64 bits. */
export function compareWide(s: FunctionState, predicate: Predicate, bits: number, a: readonly string[], b: readonly string[]): string {
  if (predicate === 'eq' || predicate === 'ne') {
    const differences = a.map((x, i) => into(s, 'rd', 'xor.b64', x, b[i]!));
    const any = differences.reduce((all, each) => into(s, 'rd', 'or.b64', all, each));
    return into(s, 'p', `setp.${predicate}.u64`, any, 0);
  }
  if (a.length !== 2 || (signedWords[predicate] && bits !== 128)) return refuse(`icmp ${predicate} of integers of ${bits} bits`);
  const isSigned = signedWords[predicate] !== undefined;
  const word = signedWords[predicate] ?? unsignedWords[predicate] ?? refuse(`icmp ${predicate}`);
  const high = into(s, 'p', `setp.${word.slice(0, 1)}t.${isSigned ? 's' : 'u'}64`, a[1]!, b[1]!);
  const same = into(s, 'p', 'setp.eq.u64', a[1]!, b[1]!);
  const low = into(s, 'p', `setp.${word}.u64`, a[0]!, b[0]!);
  return into(s, 'p', 'or.pred', high, into(s, 'p', 'and.pred', same, low));
}
