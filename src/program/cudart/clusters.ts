/** Launches in clusters of blocks, and the attributes of launches. */
import { estimate } from '../../api/occupancy.ts';
import type { DeviceModule } from '../../device/index.ts';
import { clusterProblem, maxClusterBlocks } from '../../device/validate-launch.ts';
import { coresOf } from './devices.ts';
import { type CudaState, fail, type LaunchShape } from './state.ts';

type Reflection = DeviceModule['kernels'][number];

/** A kernel of a module that is loaded. */
export interface LoadedKernel {
  readonly module: DeviceModule;
  readonly kernel: Reflection;
}

/** Blocks of a kernel that a core runs at the same time: what the driver says, where it knows the registers of the kernel. */
export const blocksPerCore = (
  { options: { device } }: CudaState,
  { module, kernel }: LoadedKernel,
  threads: number,
  bytes: number,
): number => module.blocksPerCore?.(kernel.name, threads, bytes) ?? estimate(device.info, kernel, threads, bytes).blocksPerCore;

/** Attributes of a launch by number. Those of the last list change nothing here. Source: `cudaLaunchAttributeID`. */
const [cooperative, clusterDimension] = [2, 4];
const harmlessAttributes = new Set([0, 1, 3, 5, 6, 8]);

/** The most blocks of a cluster, unless a kernel allows more. Source: CUDA C++ Programming Guide, "Thread Block Clusters". */
const portableClusterBlocks = 8;

/** Fails where the blocks of a launch cannot run in its clusters. */
export function assertClusters(state: CudaState, stub: bigint, kernel: Reflection, { grid, cluster }: LaunchShape): void {
  const [x, y, z] = cluster ?? kernel.cluster?.required ?? [1, 1, 1];
  const isAllowed = x * y * z <= portableClusterBlocks || state.largeClusters.has(stub) || kernel.cluster?.required !== undefined;
  if (!isAllowed || clusterProblem(kernel, { grid, ...(cluster ? { cluster } : {}) })) fail('cudaErrorInvalidClusterSize');
}

/** Clusters of a launch that run at the same time, if all are of this kernel: those whose blocks the cores have room for. */
export function activeClusters(state: CudaState, stub: bigint, loaded: LoadedKernel, shape: LaunchShape): number {
  const { kernel } = loaded;
  const [threads, [x, y, z]] = [shape.block.reduce((a, b) => a * b), shape.cluster ?? kernel.cluster?.required ?? [1, 1, 1]];
  assertClusters(state, stub, kernel, shape);
  return Math.floor((blocksPerCore(state, loaded, threads, shape.sharedBytes) * coresOf(state)) / (x * y * z));
}

/** The most blocks of a cluster of a kernel. */
export function potentialCluster(state: CudaState, stub: bigint, loaded: LoadedKernel, shape: LaunchShape): number {
  const { kernel } = loaded;
  const limit = state.largeClusters.has(stub) ? maxClusterBlocks : portableClusterBlocks;
  const most = kernel.cluster?.required?.reduce((a, b) => a * b) ?? Math.min(limit, kernel.cluster?.most ?? limit);
  const threads = shape.block.reduce((a, b) => a * b);
  return blocksPerCore(state, loaded, threads, shape.sharedBytes) === 0 ? 0 : most;
}

/** A `cudaLaunchConfig_t` or `CUlaunchConfig`, whose attributes are alike. */
export interface LaunchConfig {
  readonly shape: LaunchShape;
  readonly isTogether: boolean;
}

/** The attributes of a launch. Fails for one that is not supported. */
export function launchAttributes(
  { memory }: CudaState,
  attributes: bigint,
  count: number,
): Pick<LaunchShape, 'cluster'> & { isTogether: boolean } {
  let isTogether = false;
  let cluster: LaunchShape['cluster'];
  for (let i = 0; i < count; i++) {
    const at = attributes + BigInt(72 * i);
    const id = memory.u32(at);
    if (id === cooperative) isTogether = memory.u32(at + 8n) !== 0;
    else if (id === clusterDimension) cluster = [8n, 12n, 16n].map((by) => memory.u32(at + by) ?? 0) as unknown as LaunchShape['cluster'];
    else if (!harmlessAttributes.has(id ?? -1)) fail('cudaErrorNotSupported');
  }
  return { isTogether, ...(cluster ? { cluster } : {}) };
}
