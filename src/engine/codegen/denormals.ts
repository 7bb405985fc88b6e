/**
 * Singles as GPUs compute them that have no subnormal ones (`--denormals=flush`): what computes takes a subnormal operand for the zero of its
 * sign, and gives that zero for a subnormal result, after rounding. What moves, chooses or changes a sign keeps all bits, as do
 * halves and doubles.
 */
import type { Op } from '../../ir/index.ts';
import { call, type Emitter, typeOf } from './emitter.ts';

const computing: ReadonlySet<Op> = new Set<Op>([
  'fadd',
  'fsub',
  'fmul',
  'fdiv',
  'fma',
  'fsqrt',
  'fmin',
  'fmax',
  'frint',
  'ftrunc',
  'ffloor',
  'fceil',
  'fexp2',
  'flog2',
  'fsin',
  'fcos',
  'ftanh',
  'frsqrt',
  'fcmp',
  'fptosi',
  'fptoui',
  'fpext',
  'fptrunc',
]);

/** Whether an op takes and gives no subnormal singles where they are flushed. */
export const computesSingles = (op: Op): boolean => computing.has(op);

/** The emitter for an op's rule: operands that are singles are flushed when they are put on the stack. */
export function flushing(e: Emitter): Emitter {
  const push: Emitter['values']['push'] = (value) => {
    e.values.push(value);
    if (typeOf(e, value) === 'f32') call(e, 'flush32');
  };
  return { ...e, values: { ...e.values, push } };
}
