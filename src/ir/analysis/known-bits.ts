/**
 * Known bits: which bits of an integer are 0 and which are 1, from the instructions that make it. Every claim holds for all operands of `evalOp`. The
 * analysis is on demand: it follows operands to a depth, and does not follow loops. Bounds (`value-range.ts`) say of which bits the highest are 0.
 */
import { constantOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { bitsOf, isInt } from '../types.ts';
import { claimsTo } from './claims.ts';
import { valueRanges } from './value-range.ts';

/** 64 bits as two words, so that computing them allocates no large integers. */
class Words {
  readonly low: number;
  readonly high: number;
  constructor(low: number, high: number) {
    this.low = low;
    this.high = high;
  }
}

/** What is known of the bits of an integer. */
export class KnownBits {
  readonly zeroWords: Words;
  readonly oneWords: Words;
  readonly #width: number;
  #zeros: bigint | undefined;
  #ones: bigint | undefined;
  #open: bigint | undefined;
  constructor(zeros: Words, ones: Words, width: number) {
    this.zeroWords = zeros;
    this.oneWords = ones;
    this.#width = width;
  }

  /** The bits that are 0. */
  get zeros(): bigint {
    this.#zeros ??= numberOf(this.zeroWords);
    return this.#zeros;
  }

  /** The bits that are 1. */
  get ones(): bigint {
    this.#ones ??= numberOf(this.oneWords);
    return this.#ones;
  }

  /** The bits that may be 1. */
  get open(): bigint {
    this.#open ??= numberOf(without(onesOf(this.#width), this.zeroWords));
    return this.#open;
  }
}

/** The known bits of a kernel's values as they are now; a rewrite that keeps the value of an instruction keeps its claims. */
export type KnownBitsOf = (value: Value) => KnownBits;

const numberOf = ({ low, high }: Words): bigint => (high === 0 ? BigInt(low >>> 0) : (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
const wordsOf = (bits: bigint): Words => new Words(Number(BigInt.asIntN(32, bits)), Number(BigInt.asIntN(32, bits >> 32n)));

const either = (a: Words, b: Words): Words => new Words(a.low | b.low, a.high | b.high);
const both = (a: Words, b: Words): Words => new Words(a.low & b.low, a.high & b.high);
const without = (a: Words, b: Words): Words => new Words(a.low & ~b.low, a.high & ~b.high);
const differing = (a: Words, b: Words): Words => new Words(a.low ^ b.low, a.high ^ b.high);
const not = ({ low, high }: Words): Words => new Words(~low, ~high);
function plus(a: Words, b: Words): Words {
  const low = (a.low >>> 0) + (b.low >>> 0);
  return new Words(low | 0, a.high + b.high + (low > 0xffff_ffff ? 1 : 0));
}
const isZero = ({ low, high }: Words): boolean => low === 0 && high === 0;
const has = ({ low, high }: Words, bit: number): boolean => ((bit < 32 ? low >>> bit : high >>> (bit - 32)) & 1) !== 0;

/** So many ones, by number. */
const onesByWidth: readonly Words[] = Array.from({ length: 65 }, (_, bits) => wordsOf((1n << BigInt(bits)) - 1n));
const onesOf = (bits: number): Words => onesByWidth[Math.min(bits, 64)]!;
const none = onesOf(0);

/** Shifts by less than 64 to the left and to the right, with zeros behind. */
function up({ low, high }: Words, by: number): Words {
  if (by === 0) return new Words(low, high);
  return by < 32 ? new Words(low << by, (high << by) | (low >>> (32 - by))) : new Words(0, low << (by - 32));
}
function down({ low, high }: Words, by: number): Words {
  if (by === 0) return new Words(low, high);
  return by < 32 ? new Words((low >>> by) | (high << (32 - by)), high >>> by) : new Words(high >>> (by - 32), 0);
}

const deepest = 5;
const nothings: readonly KnownBits[] = Array.from({ length: 65 }, (_, width) => new KnownBits(none, none, width));
const nothingOf = (width: number): KnownBits => nothings[Math.min(width, 64)]!;

export function knownBits(kernel: Kernel): KnownBitsOf {
  const ranges = valueRanges(kernel);
  const ofOperands = claimsTo(
    deepest,
    (value) => nothingOf(bitsOf(kernel.insts[value]!.type)),
    (value, depth): KnownBits => {
      const inst = kernel.insts[value]!;
      const structure = structureOf(kernel, inst, (operand) => at(operand, depth + 1));
      return bounded(structure, ranges.maxLength(value), bitsOf(inst.type));
    },
  );
  const constants = new Map<Value, KnownBits>();

  /** A constant is known at any depth. */
  function at(value: Value, depth: number): KnownBits {
    const inst = kernel.insts[value]!;
    const width = bitsOf(inst.type);
    if (!isInt(inst.type)) return nothingOf(width);
    if (inst.op !== 'const') return ofOperands(value, depth);
    let known = constants.get(value);
    if (known === undefined) {
      const ones = wordsOf(inst.bits);
      known = new KnownBits(without(onesOf(width), ones), ones, width);
      constants.set(value, known);
    }
    return known;
  }

  return (value) => at(value, 0);
}

/** Known bits of a number with at most so many bits; where it may have the highest one of its type, that says nothing. */
function bounded(known: KnownBits, length: number, width: number): KnownBits {
  if (length >= width) return known;
  return new KnownBits(either(known.zeroWords, without(onesOf(width), onesOf(length))), known.oneWords, width);
}

/** The known bits of a result, by those of its operands. */
function structureOf(kernel: Kernel, inst: Inst, of: (operand: Value) => KnownBits): KnownBits {
  const bits = bitsOf(inst.type);
  switch (inst.op) {
    case 'and': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return new KnownBits(either(a.zeroWords, b.zeroWords), both(a.oneWords, b.oneWords), bits);
    }
    case 'or': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return new KnownBits(both(a.zeroWords, b.zeroWords), either(a.oneWords, b.oneWords), bits);
    }
    case 'xor': {
      const [a, b] = [of(inst.a), of(inst.b)];
      const zeros = either(both(a.zeroWords, b.zeroWords), both(a.oneWords, b.oneWords));
      return new KnownBits(zeros, either(both(a.zeroWords, b.oneWords), both(a.oneWords, b.zeroWords)), bits);
    }
    case 'select': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return new KnownBits(both(a.zeroWords, b.zeroWords), both(a.oneWords, b.oneWords), bits);
    }
    case 'zext':
      return zeroExtended(of(inst.a), widthOf(kernel, inst.a), bits);
    case 'sext':
      return signExtended(of(inst.a), widthOf(kernel, inst.a), bits);
    case 'trunc': {
      const a = of(inst.a);
      return new KnownBits(both(a.zeroWords, onesOf(bits)), both(a.oneWords, onesOf(bits)), bits);
    }
    case 'add':
      return added(of(inst.a), of(inst.b), none, bits);
    case 'sub': {
      // a - b = a + ~b + 1.
      const { zeroWords, oneWords } = of(inst.b);
      return added(of(inst.a), new KnownBits(oneWords, zeroWords, bits), onesOf(1), bits);
    }
    case 'mul': {
      const count = trailingOnes(of(inst.a).zeroWords) + trailingOnes(of(inst.b).zeroWords);
      return new KnownBits(both(onesOf(count), onesOf(bits)), none, bits);
    }
    case 'shl':
    case 'lshr':
    case 'ashr':
      return shifted(kernel, inst, of(inst.a), bits);
    default:
      return nothingOf(bits);
  }
}

const widthOf = (kernel: Kernel, value: Value): number => bitsOf(kernel.insts[value]!.type);

function zeroExtended(a: KnownBits, from: number, to: number): KnownBits {
  const high = without(onesOf(to), onesOf(from));
  return new KnownBits(either(both(a.zeroWords, onesOf(from)), high), a.oneWords, to);
}

function signExtended(a: KnownBits, from: number, to: number): KnownBits {
  const high = without(onesOf(to), onesOf(from));
  const zeros = has(a.zeroWords, from - 1) ? either(a.zeroWords, high) : a.zeroWords;
  return new KnownBits(zeros, has(a.oneWords, from - 1) ? either(a.oneWords, high) : a.oneWords, to);
}

/**
 * The bits of a sum where those of both terms and the carry are known: the carries of the least and of the greatest terms are the least and the
 * most that there are. Source: LLVM's KnownBits::computeForAddCarry.
 */
function added(a: KnownBits, b: KnownBits, carry: Words, bits: number): KnownBits {
  if (isUnknown(a) || isUnknown(b)) return nothingOf(bits);
  const all = onesOf(bits);
  const most = plus(plus(without(all, a.zeroWords), without(all, b.zeroWords)), carry);
  const least = plus(plus(a.oneWords, b.oneWords), carry);
  const isNoCarry = not(differing(most, differing(a.zeroWords, b.zeroWords)));
  const isCarry = differing(least, differing(a.oneWords, b.oneWords));
  const known = both(both(either(a.zeroWords, a.oneWords), either(b.zeroWords, b.oneWords)), both(either(isNoCarry, isCarry), all));
  return new KnownBits(without(known, most), both(least, known), bits);
}

function trailingOnes({ low, high }: Words): number {
  const inLow = lowestOf(~low);
  return inLow < 32 ? inLow : 32 + lowestOf(~high);
}

/** The place of the lowest 1; 32 for none. */
const lowestOf = (word: number): number => (word === 0 ? 32 : 31 - Math.clz32(word & -word));

function shifted(kernel: Kernel, inst: Extract<Inst, { op: 'shl' | 'lshr' | 'ashr' }>, a: KnownBits, bits: number): KnownBits {
  const count = constantOf(kernel, inst.b);
  if (count === undefined || count >= bits) return nothingOf(bits);
  const by = Number(count);
  const mask = onesOf(bits);
  if (inst.op === 'shl') return new KnownBits(both(either(up(a.zeroWords, by), onesOf(by)), mask), both(up(a.oneWords, by), mask), bits);
  const high = without(mask, down(mask, by));
  const getsZeros = inst.op === 'lshr' || has(a.zeroWords, bits - 1);
  const getsOnes = inst.op === 'ashr' && has(a.oneWords, bits - 1);
  const [zeros, ones] = [down(a.zeroWords, by), down(a.oneWords, by)];
  return new KnownBits(getsZeros ? either(zeros, high) : zeros, getsOnes ? either(ones, high) : ones, bits);
}

/** Whether nothing is known of a value. */
export const isUnknown = ({ zeroWords, oneWords }: KnownBits): boolean => isZero(zeroWords) && isZero(oneWords);
