/** Launches of kernels by kernels on the CPU device (`src/device/children.ts`). */

import * as children from '../../children.ts';
import type { LaunchArgument, LaunchRequest } from '../../device.ts';
import type { CpuBuffer } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import type { LoadedKernel } from './library.ts';
import type { Scope } from './scope.ts';

export { isLaunching, launchesBytes } from '../../children.ts';

/** What a grid launched. */
export type ChildWork = children.ChildWork<LoadedKernel>;

/** Memory for what a grid launches, with its header and the table: 0 for a kernel that launches nothing, undefined if the device has none. */
export function openLaunches(
  memory: DeviceMemory,
  scope: Scope,
  kernel: LoadedKernel,
  kernelsOf: () => readonly LoadedKernel[] = () => [],
): number | undefined {
  if (!children.isLaunching(kernel)) return 0;
  const address = memory.take(children.launchesBytes);
  if (address === undefined) return undefined;
  scope.defer(() => memory.give(address));
  const start = children.startOfLaunches(kernelsOf());
  memory.view(address, start.length).set(start);
  return address;
}

/** What was launched, in the order in which it runs. */
export const launchesIn = (memory: DeviceMemory, address: number, kernels: readonly LoadedKernel[]): ChildWork[] =>
  children.launchesIn((bytes) => memory.view(address, bytes), kernels);

/** The launch of a kernel by another. */
export const requestOfChild = (memory: DeviceMemory, parent: LaunchRequest, work: ChildWork & { readonly kind: 'kernel' }): LaunchRequest =>
  children.requestOfChild(parent, work, (address) => argumentAt(memory, address));

/** An address as an argument, of which no more is known. */
export function argumentAt(memory: DeviceMemory, address: bigint): LaunchArgument {
  const buffer: CpuBuffer = { ...children.passedBuffer(address), owner: memory, address: Number(address) };
  return { kind: 'buffer', buffer };
}

/** Copies or fills memory. */
export function doWork(memory: DeviceMemory, work: children.MemoryWork): void {
  const [to, bytes] = [Number(work.to), Number(work.bytes)];
  if (work.kind === 'fill') memory.view(to, bytes).fill(work.value);
  else memory.view(to, bytes).set(memory.view(Number(work.from), bytes).slice());
}
