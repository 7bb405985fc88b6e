/**
 * Indices out of byte offsets of 32 bits. Programs add up where an element is in bytes, as in `(x << 2) + (y << 2)`, and an access counts in elements:
 * what is a sum of multiples is the sum of their quotients, so that the shifts go. Sums of 32 bits wrap, so that of the quotient only the bits that a
 * quotient can have count.
 */
import type { Value as LlvmValue } from '../../bitcode/model.ts';
import { isInt, type Value } from '../../ir/index.ts';
import { i32Constant } from '../constants.ts';
import type { KernelEmitter } from './emitter.ts';
import { constantValue } from './function-builder.ts';

/** A number of 32 bits that equals the quotient but for the bits that a quotient cannot have, and the most that it is. */
interface Part {
  readonly value: LlvmValue;
  readonly max: bigint;
}

const deepest = 8;
const all = 0xffff_ffffn;
const ones = (bits: bigint): bigint => (1n << BigInt(bits.toString(2).length)) - 1n;
const bounded = (max: bigint): bigint => (max > all ? all : max);

/**
 * An i32 divided by a power of two, where the instructions that make it show that it is a multiple; undefined where they do not, or if nothing is
 * gained.
 */
export function quotientOf(e: KernelEmitter, value: Value, shift: number): LlvmValue | undefined {
  if (e.kernel.insts[value]!.type !== 'i32') return undefined;
  const part = partOf(e, value, BigInt(shift), 0);
  if (part === undefined) return undefined;
  const mask = all >> BigInt(shift);
  return part.max <= mask ? part.value : e.b.binary('and', part.value, i32Constant(mask));
}

function partOf(e: KernelEmitter, value: Value, shift: bigint, depth: number): Part | undefined {
  const inst = e.kernel.insts[value]!;
  // An address in a window is a number here.
  const known = constantValue(e.value(value));
  if (known !== undefined) return known & ((1n << shift) - 1n) ? undefined : { value: i32Constant(known >> shift), max: known >> shift };
  if (depth > deepest) return undefined;
  switch (inst.op) {
    case 'shl':
      return ofShifted(e, inst.a, constantOf(e, inst.b), shift);
    case 'mul':
      return ofProduct(e, inst.a, constantOf(e, inst.b), shift);
    case 'and':
      return ofMasked(e, inst.a, constantOf(e, inst.b), shift, depth);
    case 'add':
    case 'sub':
    case 'or':
    case 'xor': {
      const [a, b] = [partOf(e, inst.a, shift, depth + 1), partOf(e, inst.b, shift, depth + 1)];
      return a && b && { value: e.b.binary(inst.op, a.value, b.value), max: maxOf[inst.op](a.max, b.max) };
    }
    default:
      return undefined;
  }
}

const maxOf = {
  add: (a: bigint, b: bigint) => bounded(a + b),
  sub: () => all,
  or: (a: bigint, b: bigint) => ones(a | b),
  xor: (a: bigint, b: bigint) => ones(a | b),
};

const constantOf = (e: KernelEmitter, value: Value): bigint | undefined => constantValue(e.value(value));

/** The most that an integer is. */
function maxIn(e: KernelEmitter, value: Value): bigint {
  const { type } = e.kernel.insts[value]!;
  return isInt(type) ? e.bits(value).open : all;
}

function ofShifted(e: KernelEmitter, a: Value, by: bigint | undefined, shift: bigint): Part | undefined {
  if (by === undefined || by < shift || by > 31n) return undefined;
  return { value: e.b.binary('shl', e.value(a), i32Constant(by - shift)), max: bounded(maxIn(e, a) << (by - shift)) };
}

function ofProduct(e: KernelEmitter, a: Value, by: bigint | undefined, shift: bigint): Part | undefined {
  if (by === undefined || by & ((1n << shift) - 1n)) return undefined;
  return { value: e.b.binary('mul', e.value(a), i32Constant(by >> shift)), max: bounded(maxIn(e, a) * (by >> shift)) };
}

/** The bits of a mask that has none of the lowest. */
function ofMasked(e: KernelEmitter, a: Value, mask: bigint | undefined, shift: bigint, depth: number): Part | undefined {
  if (mask === undefined || mask & ((1n << shift) - 1n)) return undefined;
  const inner = e.kernel.insts[a]!;
  const by = inner.op === 'lshr' ? constantOf(e, inner.b) : undefined;
  if (inner.op === 'lshr' && by !== undefined && by + shift < 32n) {
    const shifted = e.b.binary('lshr', e.value(inner.a), i32Constant(by + shift));
    return masked(e, shifted, maxIn(e, inner.a) >> (by + shift), mask >> shift);
  }
  const part = partOf(e, a, shift, depth + 1);
  if (part) return masked(e, part.value, part.max, mask >> shift);
  // As a term of a sum, a shift of its own takes the place of one of the sum.
  return depth === 0 ? undefined : masked(e, e.b.binary('lshr', e.value(a), i32Constant(shift)), maxIn(e, a) >> shift, mask >> shift);
}

function masked(e: KernelEmitter, value: LlvmValue, max: bigint, mask: bigint): Part {
  // A mask of every bit that there is does nothing.
  if ((ones(max) & ~mask) === 0n) return { value, max };
  return { value: e.b.binary('and', value, i32Constant(mask)), max: max < mask ? max : mask };
}
