/**
 * Known bits: which bits of an integer are 0 and which are 1, from the instructions that make it. Every claim holds for all operands of `evalOp`. The
 * analysis is on demand: it follows operands to a depth, and does not follow loops. Bounds (`value-range.ts`) say of which bits the highest are 0.
 */
import { constantOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { bitsOf, isInt } from '../types.ts';
import { bitLength, valueRanges } from './value-range.ts';

export interface KnownBits {
  /** The bits that are 0. */
  readonly zeros: bigint;
  /** The bits that are 1. */
  readonly ones: bigint;
}

/** The known bits of a kernel's values as they are now; a rewrite that keeps the value of an instruction keeps its claims. */
export type KnownBitsOf = (value: Value) => KnownBits;

const deepest = 5;
const nothing: KnownBits = { zeros: 0n, ones: 0n };
/** So many ones, by number: every query asks for them. */
const onesOfWidths: readonly bigint[] = Array.from({ length: 129 }, (_, bits) => (1n << BigInt(bits)) - 1n);
const onesOf = (bits: number): bigint => onesOfWidths[bits]!;

/** Known bits that no depth has cut, and how many operands deep they were looked for. */
interface WholeClaim {
  readonly bits: KnownBits;
  readonly height: number;
}

/** A claim that the depth has cut is one of its depth alone, so that none depends on earlier queries; any other holds wherever its operands are within the depth. */
export function knownBits(kernel: Kernel): KnownBitsOf {
  const ranges = valueRanges(kernel);
  const whole: (WholeClaim | undefined)[] = [];
  /** By value and depth. */
  const partial = new Map<number, KnownBits>();
  /** The depth that the query at hand has reached. */
  let reached = 0;

  function at(value: Value, depth: number): KnownBits {
    const inst = kernel.insts[value]!;
    if (!isInt(inst.type)) return nothing;
    const claim = whole[value];
    if (claim !== undefined && depth + claim.height <= deepest) {
      reached = Math.max(reached, depth + claim.height);
      return claim.bits;
    }
    if (inst.op === 'const') {
      const bits = { zeros: onesOf(bitsOf(inst.type)) & ~inst.bits, ones: inst.bits };
      // A constant is known beyond the depth, too.
      whole[value] = { bits, height: -1 };
      return bits;
    }
    if (depth > deepest) {
      reached = depth;
      return nothing;
    }
    const key = value * (deepest + 1) + depth;
    const cut = partial.get(key);
    if (cut !== undefined) {
      reached = deepest + 1;
      return cut;
    }
    const before = reached;
    reached = depth;
    const structure = structureOf(kernel, inst, (operand) => at(operand, depth + 1));
    const bits = bounded(value, inst, structure);
    if (reached > deepest) partial.set(key, bits);
    else whole[value] = { bits, height: reached - depth };
    reached = Math.max(before, reached);
    return bits;
  }

  function bounded(value: Value, inst: Inst, known: KnownBits): KnownBits {
    const bits = bitsOf(inst.type);
    const max = ranges.unsignedMax(value);
    if (max === undefined || max > onesOf(bits - 1)) return known;
    const high = max === 0n ? onesOf(bits) : onesOf(bits) & ~onesOf(bitLength(max));
    return { zeros: known.zeros | high, ones: known.ones };
  }
  return (value) => {
    reached = 0;
    return at(value, 0);
  };
}

/** The known bits of a result, by those of its operands. */
function structureOf(kernel: Kernel, inst: Inst, of: (operand: Value) => KnownBits): KnownBits {
  const bits = bitsOf(inst.type);
  const mask = onesOf(bits);
  switch (inst.op) {
    case 'and': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return { zeros: a.zeros | b.zeros, ones: a.ones & b.ones };
    }
    case 'or': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return { zeros: a.zeros & b.zeros, ones: a.ones | b.ones };
    }
    case 'xor': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return { zeros: (a.zeros & b.zeros) | (a.ones & b.ones), ones: (a.zeros & b.ones) | (a.ones & b.zeros) };
    }
    case 'select': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return { zeros: a.zeros & b.zeros, ones: a.ones & b.ones };
    }
    case 'zext': {
      const a = of(inst.a);
      return { zeros: (a.zeros & onesOf(widthOf(kernel, inst.a))) | (mask & ~onesOf(widthOf(kernel, inst.a))), ones: a.ones };
    }
    case 'sext': {
      const a = of(inst.a);
      const width = widthOf(kernel, inst.a);
      const sign = 1n << BigInt(width - 1);
      const high = mask & ~onesOf(width);
      return { zeros: a.zeros & sign ? a.zeros | high : a.zeros, ones: a.ones & sign ? a.ones | high : a.ones };
    }
    case 'trunc': {
      const a = of(inst.a);
      return { zeros: a.zeros & mask, ones: a.ones & mask };
    }
    case 'add':
    case 'sub':
    case 'mul':
      return { zeros: lowZeros(inst.op, of(inst.a).zeros, of(inst.b).zeros) & mask, ones: 0n };
    case 'shl':
    case 'lshr':
    case 'ashr':
      return shifted(kernel, inst, of(inst.a), bits);
    default:
      return nothing;
  }
}

const widthOf = (kernel: Kernel, value: Value): number => bitsOf(kernel.insts[value]!.type);

/** The lowest bits that are 0 in sums of numbers whose lowest bits are. */
function lowZeros(op: 'add' | 'sub' | 'mul', a: bigint, b: bigint): bigint {
  if (op === 'mul') return onesOf(trailingOnes(a) + trailingOnes(b));
  return onesOf(Math.min(trailingOnes(a), trailingOnes(b)));
}

const trailingOnes = (bits: bigint): number => ((bits & 1n) === 0n ? 0 : bitLength(~bits & (bits + 1n)) - 1);

function shifted(kernel: Kernel, inst: Extract<Inst, { op: 'shl' | 'lshr' | 'ashr' }>, a: KnownBits, bits: number): KnownBits {
  const by = constantOf(kernel, inst.b);
  const mask = onesOf(bits);
  if (by === undefined || by >= BigInt(bits)) return nothing;
  if (inst.op === 'shl') return { zeros: ((a.zeros << by) | onesOf(Number(by))) & mask, ones: (a.ones << by) & mask };
  const high = mask & ~(mask >> by);
  const sign = 1n << BigInt(bits - 1);
  const isZero = inst.op === 'lshr' || (a.zeros & sign) !== 0n;
  const isOne = inst.op === 'ashr' && (a.ones & sign) !== 0n;
  return { zeros: (a.zeros >> by) | (isZero ? high : 0n), ones: (a.ones >> by) | (isOne ? high : 0n) };
}
