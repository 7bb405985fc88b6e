/** Which operations on floats of 32 bits never give subnormals. */
import type { Op } from './ops.ts';

/** The exponent of the smallest number that is not subnormal. */
export const minExponent = -126;

/** Operations whose results are no subnormals, whatever their operands are: those that flush, whole numbers, roots and logarithms. */
export const neverSubnormal: ReadonlySet<Op> = new Set([
  'ftz',
  'sitofp',
  'uitofp',
  'frint',
  'ftrunc',
  'ffloor',
  'fceil',
  'fsqrt',
  'frsqrt',
  'flog2',
] as const);
