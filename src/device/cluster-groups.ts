/** Launches of kernels of which a whole cluster is one block of the device (`src/compile/cluster-groups.ts`): what is dispatched in their place. */
import type { KernelReflection } from '../air/abi.ts';
import { alignUp } from '../base/bytes.ts';
import { product } from '../base/dim3.ts';
import { groupHead } from '../ir/services.ts';
import type { DeviceInfo, Dim3, LaunchRequest } from './device.ts';
import { clusterOfLaunch, sharedParts } from './launch-shape.ts';

/** A launch as a device dispatches it. */
export interface Dispatch extends LaunchRequest {
  /** What the kernel reads of the launch, if it does (`groupHead`). */
  readonly groupHead?: Uint8Array;
}

const one: Dim3 = [1, 1, 1];

/** Bytes of shared memory of a block of the source. */
const areaBytes = ({ staticSharedBytes }: KernelReflection, request: LaunchRequest): number =>
  alignUp(alignUp(staticSharedBytes, 16) + sharedParts(request).size, 16);

/** Why a device cannot run a whole cluster of a valid launch as one block. */
export function groupProblem({ name, limits }: DeviceInfo, kernel: KernelReflection, request: LaunchRequest): string | undefined {
  const { group } = kernel.cluster ?? {};
  if (!group) return undefined;
  const blocks = product(clusterOfLaunch(kernel, request) ?? one);
  const threads = product(request.block);
  const bytes = blocks * areaBytes(kernel, request);
  const is = `a cluster of ${blocks} blocks is one block of ${name}`;
  if (group.isOfWarps && blocks > 1 && threads % 32 !== 0) return `${is}, and the ${threads} threads of each are not whole warps`;
  const { maxThreadsPerThreadgroup: maxThreads, maxThreadgroupBytes: maxBytes } = limits;
  if (blocks * threads > maxThreads) return `${is}, which has at most ${maxThreads} threads, and not ${blocks * threads}`;
  return bytes > maxBytes ? `${is}, which has at most ${maxBytes} bytes of shared memory, and not ${bytes}` : undefined;
}

/** What a device dispatches for a valid launch: blocks that are clusters, with what the kernel reads of them, or the launch itself. */
export function dispatchOf(kernel: KernelReflection, request: LaunchRequest): Dispatch {
  if (!kernel.services?.some(({ service }) => service === 'group')) return request;
  const given = clusterOfLaunch(kernel, request);
  const cluster = given ?? one;
  const bytes = areaBytes(kernel, request);
  const head = new Uint8Array(groupHead.bytes);
  const words = new DataView(head.buffer);
  groupHead.blocks.forEach((at, axis) => void words.setUint32(at, cluster[axis]!, true));
  groupHead.threads.forEach((at, axis) => void words.setUint32(at, request.block[axis]!, true));
  words.setUint32(groupHead.isExplicit, given ? 1 : 0, true);
  words.setUint32(groupHead.areaBytes, bytes, true);
  // A kernel that only asks for its place runs as it is.
  if (!kernel.cluster?.group) return { ...request, groupHead: head };
  const { cluster: _, dynamicSharedParts: __, ...others } = request;
  const grid = request.grid.map((blocks, axis) => blocks / cluster[axis]!) as unknown as Dim3;
  return {
    ...others,
    ...{ grid, block: [product(cluster) * product(request.block), 1, 1], dynamicSharedBytes: product(cluster) * bytes, groupHead: head },
  };
}
