/** Whether results are the same: which NaN a NaN is stays open, in each half of a packed type too. */
import { isNan, type ScalarType } from '../../src/ir/index.ts';

/** Equal bits of a PTX type, or both no number. */
export function areSame(type: string | undefined, want: bigint, got: bigint): boolean {
  if (want === got) return true;
  if (type === undefined) return false;
  if (!type.endsWith('x2')) return isNan(type as ScalarType, want) && isNan(type as ScalarType, got);
  const half = type.slice(0, -2);
  return [0n, 16n].every((at) => areSame(half, BigInt.asUintN(16, want >> at), BigInt.asUintN(16, got >> at)));
}
