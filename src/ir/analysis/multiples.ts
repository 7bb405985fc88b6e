/** Which integers are multiples of a number. */
import { constantOf, type InstOf, type Kernel, type Value } from '../kernel.ts';
import { type Interval, isSingle } from './interval.ts';

/** Whether a value is a multiple of a number; of powers of two only where it is no single number. */
export function isMultiple(kernel: Kernel, rangeOf: (value: Value) => Interval, value: Value, of: bigint): boolean {
  const range = rangeOf(value);
  if (of === 1n || (isSingle(range) && range.min % of === 0n)) return true;
  const inst = kernel.insts[value]!;
  const isOne = (operand: Value): boolean => isMultiple(kernel, rangeOf, operand, of);
  if ((of & (of - 1n)) !== 0n) return false;
  switch (inst.op) {
    case 'and':
      return (BigInt.asUintN(64, constantOf(kernel, inst.b) ?? 1n) & (of - 1n)) === 0n;
    case 'sub':
      return isRest(kernel, inst, of) || (isOne(inst.a) && isOne(inst.b));
    case 'add':
      return isOne(inst.a) && isOne(inst.b);
    case 'shl':
      return 1n << (constantOf(kernel, inst.b) ?? 0n) >= of;
    default:
      return false;
  }
}

/** Whether a difference is a number without its last bits: x - (x and a mask). */
function isRest(kernel: Kernel, { a, b }: InstOf<'sub'>, of: bigint): boolean {
  const low = kernel.insts[b]!;
  return low.op === 'and' && low.a === a && (constantOf(kernel, low.b) ?? -1n) === of - 1n;
}
