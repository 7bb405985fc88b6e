/** What a launch is prepared from, and the memory that it takes: areas of the launch and of its blocks, heap, locks, clusters. */
import { product } from '../../../base/dim3.ts';
import { defaultHeapBytes, lockTableBytes } from '../../../ir/index.ts';
import type { Dispatch } from '../../cluster-groups.ts';
import type { DeviceInfo, Dim3, LaunchRequest, NativeMode } from '../../device.ts';
import { clusterOfLaunch } from '../../launch-shape.ts';
import type { DeviceMemory } from '../memory.ts';
import { type Allocations, newAllocations } from '../observe/allocations.ts';
import type { BlockTurns, ObservedLaunch } from '../observe/observer.ts';
import { launchesBytes, openLaunches } from './children.ts';
import { type Heap, heapOf } from './heap.ts';
import type { CompiledKernel, LoadedKernel } from './library.ts';
import { useLocks } from './lock-table.ts';
import { type Area, areaOf, clusterBytesOf, fillArea, fillClusters, type ResidentAreas, residentAreas } from './memory-layout.ts';
import type { Scope } from './scope.ts';

/** The module and the device that a kernel is launched on. */
export interface LaunchEnvironment {
  readonly info: DeviceInfo;
  /** Address of the memory of the module's variables; 0 if there are none. */
  readonly ownMemory: number;
  /** All kernels of the library, for those that launch others. */
  readonly kernels?: () => readonly LoadedKernel[];
  /** Threads that may share a launch; 1 by default. */
  readonly threads?: number;
  /** The allocations of the device, for the sanitizers. */
  readonly allocations?: Allocations;
  /** The address that is bound to a slot, for a caller that has bound all of them itself. */
  readonly bound?: (slot: number) => bigint;
  /** Whether the caller goes on while the launch runs, and other launches may write what it waits for. */
  readonly isInBackground?: boolean;
  /** Whether a sanitized launch uses the precise sanitizer from the start. */
  readonly isPrecise?: boolean;
  /** Whether launches run native code; `never` by default. */
  readonly native?: NativeMode;
}

/** What a launch is prepared from. */
export interface Inputs {
  readonly memory: DeviceMemory;
  readonly environment: LaunchEnvironment;
  readonly kernel: LoadedKernel;
  readonly request: Dispatch;
}

/** A launch with its memory. */
export interface Allocated extends ObservedLaunch {
  readonly kernel: LoadedKernel;
  readonly compiled: CompiledKernel;
  readonly area: Area & { readonly start: number };
  /** Where blocks are that run by turns. */
  readonly resident: (ResidentAreas & { readonly start: number }) | undefined;
  /** What the launch has for clusters; 0 for a kernel without them. */
  readonly clusters: number;
}

const noHeap: Heap = { address: 0, bytes: 0 };

/** Areas of blocks that run by turns. The sanitizer follows one cluster after the other, and a grid with barriers as if it were one. */
function areasOf(compiled: CompiledKernel, { params }: LoadedKernel, request: LaunchRequest, cluster: Dim3): ResidentAreas {
  const together = request.sanitize && params.some(({ service }) => service === 'grid') ? request.grid : cluster;
  const all = residentAreas(compiled, request, together);
  return request.sanitize ? { ...all, count: product(together) } : all;
}

const turnsOf = ({ area, cluster }: ResidentAreas, start: number, service: BlockTurns['service']): BlockTurns => ({
  ...{ cluster, area, start, bytes: area.bytes },
  service,
});

/** Allocates and fills the memory of a launch; the number of bytes if the device has no more. */
export function allocate({ memory, environment, kernel, request }: Inputs, compiled: CompiledKernel, scope: Scope): Allocated | number {
  const area = areaOf(compiled, kernel, request);
  const start = memory.take(area.bytes);
  if (start === undefined) return area.bytes;
  scope.defer(() => memory.give(start));
  const needsHeap = kernel.reflection.services?.some(({ service }) => service === 'heap');
  const heap = needsHeap ? heapOf(memory, request.heapBytes ?? defaultHeapBytes) : noHeap;
  if (!heap) return request.heapBytes ?? defaultHeapBytes;
  const locks = kernel.reflection.locks ? useLocks(memory, scope) : 0;
  if (locks === undefined) return lockTableBytes;
  const launches = openLaunches(memory, scope, kernel, environment.kernels);
  if (launches === undefined) return launchesBytes;
  const cluster = clusterOfLaunch(kernel.reflection, request);
  const areas = compiled.parts && areasOf(compiled, kernel, request, cluster ?? [1, 1, 1]);
  const bytes = areas ? areas.count * areas.area.bytes : 0;
  const first = areas && memory.take(bytes);
  if (areas && first === undefined) return bytes;
  if (first !== undefined) scope.defer(() => memory.give(first));
  const hasClusters = kernel.reflection.services?.some(({ service }) => service === 'cluster') === true;
  // Observers run one block after the other, each in the area of the launch.
  const placed: ResidentAreas = areas ?? { area, count: 1, cluster: [1, 1, 1] };
  const clusterBytes = hasClusters ? clusterBytesOf(placed) : 0;
  const clusters = clusterBytes > 0 ? memory.take(clusterBytes) : 0;
  if (clusters === undefined) return clusterBytes;
  if (clusters > 0) {
    scope.defer(() => memory.give(clusters));
    fillClusters(memory.view(clusters, clusterBytes), placed, cluster !== undefined);
  }
  fillArea(memory, start, area, compiled, kernel, request);
  return {
    memory,
    allocations: environment.allocations ?? newAllocations(memory),
    kernel,
    compiled,
    request,
    area: { ...area, start },
    resident: areas && { ...areas, start: first! },
    turns: areas && turnsOf(areas, first!, { address: clusters, bytes: clusterBytes }),
    clusters,
    locks,
    heap,
    launches: { address: launches, bytes: launches > 0 ? launchesBytes : 0 },
    own: { address: environment.ownMemory, bytes: kernel.params.find((param) => param.memory)?.memory?.size ?? 0 },
  };
}
