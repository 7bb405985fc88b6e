/** Where a thread is: special registers. Source: PTX ISA 9.0, chapter 10. */
import { computed } from './handle.ts';
import { registerNode } from './nodes.ts';
import { trace } from './trace.ts';
import { Value } from './value.ts';

/** A dimension of a block or a grid. */
export type Dimension = 'x' | 'y' | 'z';

const special = (name: string): Value<'u32'> => new Value('u32', computed('u32', 'mov.u32', [registerNode(name)]));

/** The index of the thread in its block. */
export const threadIndex = (dimension: Dimension = 'x'): Value<'u32'> => special(`%tid.${dimension}`);
/** The threads of a block. */
export const blockSize = (dimension: Dimension = 'x'): Value<'u32'> => special(`%ntid.${dimension}`);
/** The index of the block in the grid. */
export const blockIndex = (dimension: Dimension = 'x'): Value<'u32'> => special(`%ctaid.${dimension}`);
/** The blocks of the grid. */
export const gridSize = (dimension: Dimension = 'x'): Value<'u32'> => special(`%nctaid.${dimension}`);
/** The index of the thread in the grid: `blockIndex * blockSize + threadIndex`. */
export const globalIndex = (dimension: Dimension = 'x'): Value<'u32'> =>
  blockIndex(dimension).mad(blockSize(dimension), threadIndex(dimension));
/** The threads of the grid along a dimension: the step of a loop in which the threads share a range. */
export const globalSize = (dimension: Dimension = 'x'): Value<'u32'> => gridSize(dimension).mul(blockSize(dimension));
/** The index of the thread in its warp, 0 to 31. */
export const laneIndex = (): Value<'u32'> => special('%laneid');
/** The index of the warp in a block of one dimension: `threadIndex / 32`. */
export const warpIndex = (): Value<'u32'> => threadIndex().shr(5);
/** A mask of the lanes before this one. */
export const lanesBefore = (): Value<'u32'> => special('%lanemask_lt');
/** The index of the block in its cluster; it needs sm_90. */
export const clusterRank = (): Value<'u32'> => {
  trace().needs.push({ sm: 90, ptx: 7.8 });
  return special('%cluster_ctarank');
};

/** A counter of cycles, read where it is called. */
export function clock(): Value<'u32'> {
  const register = trace().fresh('u32');
  trace().emit('mov.u32', [registerNode(register), registerNode('%clock')]);
  return new Value('u32', register);
}
