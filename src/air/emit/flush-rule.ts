/** Flushes of subnormals (`ftz`): four instructions in place or, where a kernel has many, calls of a function that has them. */
import type { Value as LlvmValue } from '../../bitcode/model.ts';
import { types } from '../../bitcode/types.ts';
import { addBlock, addBlockParam, builder, emptyKernel, type InstOf, type Kernel, type PureFunction } from '../../ir/index.ts';
import { positiveZero, smallestNormal } from '../flush-to-zero.ts';
import { intrinsicFor } from '../intrinsics.ts';
import type { KernelEmitter } from './emitter.ts';

/** Flushes of a kernel from which on the function is shorter. */
const many = 16;

/** As `flush-to-zero.ts` says. Readers put functions in the place of calls, and find the four instructions then. */
export function flushRule(e: KernelEmitter, { a }: InstOf<'ftz'>): LlvmValue {
  const value = e.value(a);
  if (!e.target.allowsCpuOnly && hasMany(e.kernel)) return e.callFunction(flushing.body.name, [value], flushing);
  const size = e.call(intrinsicFor('fabs', 'f32', 'f32')!, [value]);
  const condition = e.b.emit('fcmp', types.i1, { predicate: 'olt', a: size, b: smallestNormal, flags: 0 });
  return e.b.select(condition, e.b.binary('fmul', value, positiveZero), value);
}

const flushing: PureFunction = (() => {
  const body = emptyKernel('cumetal.ftz.f32');
  const block = addBlock(body);
  const a = addBlockParam(body, block, 'f32');
  return { body, result: builder(body, block).ftz(a) };
})();

const known = new WeakMap<Kernel, boolean>();

/** Whether a kernel has so many flushes; a kernel is emitted as it is. */
function hasMany(kernel: Kernel): boolean {
  const before = known.get(kernel);
  if (before !== undefined) return before;
  let count = 0;
  for (const { body } of kernel.blocks) for (const value of body) if (kernel.insts[value]!.op === 'ftz') count++;
  known.set(kernel, count >= many);
  return count >= many;
}
