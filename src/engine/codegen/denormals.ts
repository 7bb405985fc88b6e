/**
 * Flush to zero: f32 arithmetic as GPUs without subnormals compute it (`--denormals=flush`). An arithmetic op reads a subnormal operand as the
 * zero of its sign and gives that zero for a subnormal result, after rounding. Moves, selects and sign changes keep all bits; so do f16 and
 * f64 operations.
 */
import type { Op } from '../../ir/index.ts';
import { call, type Emitter, typeOf } from './emitter.ts';

const arithmetic: ReadonlySet<Op> = new Set<Op>([
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
  'frcp',
  'frsqrt',
  'fcmp',
  'fptosi',
  'fptoui',
  'fpext',
  'fptrunc',
]);

/** Whether an op flushes its f32 operands and result. */
export const isFlushedOp = (op: Op): boolean => arithmetic.has(op);

/** The emitter for a flushed op's rule: f32 operands are flushed when they are pushed. */
export function flushingEmitter(e: Emitter): Emitter {
  const push: Emitter['values']['push'] = (value) => {
    e.values.push(value);
    if (typeOf(e, value) === 'f32') call(e, 'flush32');
  };
  return { ...e, values: { ...e.values, push } };
}
