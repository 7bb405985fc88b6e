/** What a launch says of shared memory and clusters, together with the kernel. */
import type { KernelReflection } from '../air/abi.ts';
import { alignUp } from '../base/bytes.ts';
import type { Dim3, LaunchRequest } from './device.ts';

/** Offsets of the parts of dynamic shared memory, and their total size, in bytes. Each part starts at a multiple of 16. */
export function sharedParts({ dynamicSharedBytes, dynamicSharedParts = [dynamicSharedBytes] }: LaunchRequest): {
  starts: number[];
  size: number;
} {
  const starts: number[] = [];
  let size = 0;
  for (const bytes of dynamicSharedParts) {
    starts.push(alignUp(size, 16));
    size = starts[starts.length - 1]! + bytes;
  }
  return { starts, size: Math.max(size, dynamicSharedBytes) };
}

/** Blocks of a cluster along each axis; undefined where neither the kernel nor the launch says anything of clusters. */
export const clusterOfLaunch = ({ cluster }: KernelReflection, request: LaunchRequest): Dim3 | undefined =>
  request.cluster ?? cluster?.required;
