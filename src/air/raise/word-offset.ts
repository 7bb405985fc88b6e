/**
 * Byte offsets of indices that are words of 32 bits. The writer of AIR divides what programs add up in bytes (`emit/quotient.ts`); where the product of index
 * and size is below 2^32, the offset is that sum again, and of 32 bits, which the CPU device computes in fewer steps than one of 64.
 */
import { type Builder, constantOf, type Value, valueRanges } from '../../ir/index.ts';

/** How deep a shift goes into sums. */
const deepest = 6;

/**
 * An i32 times a power of two, as an i64; undefined where the product may have more than 32 bits. In buffers, whose addresses have 64 bits, only a masked word
 * is taken for an offset of 32 bits.
 */
export function wordOffset(b: Builder, word: Value, size: bigint, isInWindow: boolean): Value | undefined {
  const mask = 2n ** 32n / size - 1n;
  const inst = b.kernel.insts[word]!;
  // Of a masked word, the shift drops what the mask does.
  const whole = inst.op === 'and' && constantOf(b.kernel, inst.b) === mask ? inst.a : word;
  if (whole === word && (!isInWindow || (valueRanges(b.kernel).unsignedMax(word) ?? mask + 1n) > mask)) return undefined;
  return b.zext('i64', shifted(b, whole, BigInt(Math.log2(Number(size))), 0));
}

/** A shift of a sum is the sum of shifts, where one of them is a constant or joins another shift. */
function shifted(b: Builder, value: Value, by: bigint, depth: number): Value {
  const { kernel } = b;
  const inst = kernel.insts[value]!;
  const whole = (): Value => b.shl(value, b.const('i32', by));
  if (inst.op === 'const') return b.const('i32', inst.bits << by);
  if (depth > deepest) return whole();
  if (inst.op === 'shl') {
    const count = constantOf(kernel, inst.b);
    return count === undefined || count + by > 31n ? whole() : b.shl(inst.a, b.const('i32', count + by));
  }
  if (inst.op !== 'add' && inst.op !== 'sub') return whole();
  const isFree = [inst.a, inst.b].some((operand) => {
    const of = kernel.insts[operand]!;
    return of.op === 'const' || (of.op === 'shl' && constantOf(kernel, of.b) !== undefined);
  });
  return isFree ? b[inst.op](shifted(b, inst.a, by, depth + 1), shifted(b, inst.b, by, depth + 1)) : whole();
}
