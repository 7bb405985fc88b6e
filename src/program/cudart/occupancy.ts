/** How many blocks of a kernel run at the same time. Source: CUDA Driver API, "Occupancy". */
import { activeClusters, blocksPerCore, type LaunchConfig, potentialCluster } from './clusters.ts';
import { propertiesOf } from './devices.ts';
import { inContext } from './driver-row.ts';
import { kernelNamed } from './launches.ts';
import { must, type Row } from './row.ts';
import { type CudaState, fail } from './state.ts';

const named = (state: CudaState, fn: bigint): ReturnType<typeof kernelNamed> =>
  kernelNamed(state, state.functions.get(fn) ?? fail('cudaErrorInvalidResourceHandle'));

/** The size of blocks with which most threads run at the same time, the largest of several, and the blocks that the device then runs. */
function bestBlock(
  state: CudaState,
  fn: bigint,
  bytesOf: (size: number) => number,
  limit: number,
): { readonly size: number; readonly blocks: number } {
  const loaded = named(state, fn);
  const { kernel } = loaded;
  const { info } = state.options.device;
  const allowed = Math.min(kernel.maxThreads ?? info.limits.maxThreadsPerThreadgroup, info.limits.maxThreadsPerThreadgroup);
  const most = limit > 0 ? Math.min(allowed, limit) : allowed;
  let best = { size: 0, blocks: 0 };
  for (let size = most; size > 0; size = Math.floor((size - 1) / 32) * 32) {
    const blocks = blocksPerCore(state, loaded, size, bytesOf(size));
    if (blocks * size > best.blocks * best.size) best = { size, blocks };
  }
  return best;
}

/** `configOf` reads a `CUlaunchConfig`. */
export const occupancy = (configOf: (state: CudaState, config: bigint) => LaunchConfig): Readonly<Record<string, Row>> => ({
  cuOccupancyMaxActiveBlocksPerMultiprocessor: inContext(['pointer', 'pointer', 'int', 'size'], (state, to, fn, threads, bytes) => {
    must(state.memory.putU32(to, blocksPerCore(state, named(state, fn), threads, bytes)));
  }),
  cuOccupancyMaxActiveClusters: inContext(['pointer', 'pointer', 'pointer'], (state, to, fn, config) => {
    must(state.memory.putU32(to, activeClusters(state, fn, named(state, fn), configOf(state, config).shape)));
  }),
  cuOccupancyMaxPotentialClusterSize: inContext(['pointer', 'pointer', 'pointer'], (state, to, fn, config) => {
    must(state.memory.putU32(to, potentialCluster(state, fn, named(state, fn), configOf(state, config).shape)));
  }),
  cuOccupancyMaxPotentialBlockSize: inContext(
    ['pointer', 'pointer', 'pointer', 'pointer', 'size', 'int'],
    (state, gridTo, sizeTo, fn, bytesOf, bytes, limit) => {
      const call = bytesOf === 0n ? () => bytes : (state.exports.function(bytesOf) ?? fail('cudaErrorInvalidValue'));
      const { size, blocks } = bestBlock(state, fn, (threads) => Number(call(threads)), limit);
      const processors = Number(propertiesOf(state).multiProcessorCount);
      must(state.memory.putU32(gridTo, blocks * processors) && state.memory.putU32(sizeTo, size));
    },
  ),
});
