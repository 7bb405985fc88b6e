/** The memory of a launch beside its buffers: its layout, its initial contents, and the globals that hold its addresses. */
import { alignUp } from '../../../base/bytes.ts';
import { product } from '../../../base/dim3.ts';
import { clusterBytes, clusterHead, endedAt, gridWorkspaceBytes, groupHead, printBufferBytes } from '../../../ir/index.ts';
import type { Dispatch } from '../../cluster-groups.ts';
import type { Dim3, LaunchRequest } from '../../device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../../launch-arguments.ts';
import { sharedParts } from '../../launch-shape.ts';
import { emptyPrintBuffer } from '../../printed.ts';
import { addressOf } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import type { Globals } from '../workers/instance.ts';
import type { CompiledKernel, LoadedKernel } from './library.ts';

/** Offsets of the memory of one share of a launch. */
export interface OwnArea {
  readonly shared: number;
  readonly local: number;
  readonly records: number;
  readonly states: number;
  readonly bytes: number;
}

/** Offsets of the memory of a launch, with the area of its first share. */
export interface Area extends OwnArea {
  readonly constant: number;
  /** The fault word, by which the kernel stops itself. */
  readonly faults: number;
  /** The workspace of the grid. */
  readonly grid: number;
  /** The word with the size of the stack of a thread. */
  readonly stack: number;
  /** What the kernel reads of a launch whose clusters are blocks. */
  readonly group: number;
  /** The print buffer. */
  readonly printed: number;
  readonly printedBytes: number;
  /** The offset of each parameter by value. */
  readonly values: readonly number[];
}

function newPlaces(): { place(size: number): number; bytes(): number } {
  let bytes = 0;
  return {
    place(size) {
      const at = bytes;
      bytes = alignUp(bytes + size, 16);
      return at;
    },
    bytes: () => bytes,
  };
}

type Place = (size: number) => number;

/** Unused bytes before and behind shared memory: a masked store of a lane group rewrites the words of inactive lanes. */
const paddingBytes = 128;

function placeOwn(
  place: Place,
  { windows, recordBytes, stagingBytes = 0, lanes }: CompiledKernel,
  request: LaunchRequest,
): Omit<OwnArea, 'bytes'> {
  const threads = product(request.block);
  return {
    shared: place(paddingBytes + alignUp(windows.shared, 16) + sharedParts(request).size + paddingBytes) + paddingBytes,
    local: place(windows.local * Math.ceil(threads / lanes) * lanes),
    records: place(lanes > 1 ? recordBytes : alignUp(recordBytes * threads, 16) + stagingBytes),
    states: place(4 * threads),
  };
}

/** The area of an additional share. */
export function ownAreaOf(compiled: CompiledKernel, request: LaunchRequest): OwnArea {
  const { place, bytes } = newPlaces();
  const own = placeOwn(place, compiled, request);
  return { ...own, bytes: bytes() };
}

/** Bytes of areas for blocks that wait, unless all blocks of the launch have to begin. */
const usualResidentBytes = 2 ** 26;

/** How many areas a launch has for blocks that have begun, and their area. */
export function residentAreas(
  compiled: CompiledKernel,
  { grid, block, cooperative, ...rest }: LaunchRequest,
  cluster: Dim3,
): ResidentAreas {
  const area = ownAreaOf(compiled, { grid, block, ...rest });
  const blocks = product(grid);
  const size = product(cluster);
  const fitting = Math.floor(usualResidentBytes / area.bytes);
  return { area, cluster, count: cooperative ? blocks : Math.max(size, Math.min(blocks, fitting - (fitting % size))) };
}

/** Areas for blocks that have begun: those of a cluster follow each other. */
export interface ResidentAreas {
  readonly area: OwnArea;
  readonly count: number;
  /** Blocks of a cluster along each axis. */
  readonly cluster: Dim3;
}

/** Bytes of what a launch has for clusters. */
export const clusterBytesOf = ({ count, cluster }: ResidentAreas): number => clusterBytes(count / product(cluster), count);

/** Writes what a launch has for clusters. */
export function fillClusters(view: Uint8Array, { area, count, cluster }: ResidentAreas, isExplicit: boolean): void {
  view.fill(0);
  const words = new DataView(view.buffer, view.byteOffset);
  const put = (at: number, value: number): void => words.setUint32(at, value, true);
  clusterHead.blocks.forEach((at, axis) => void put(at, cluster[axis]!));
  put(clusterHead.isExplicit, isExplicit ? 1 : 0);
  put(clusterHead.areaBytes, area.bytes);
  put(clusterHead.places, count / product(cluster));
  put(clusterHead.ended, endedAt(count / product(cluster)));
}

/** The words that hold an address in the area of a share. */
export const ownWords = ['shared', 'local', 'records', 'states'] as const;

/** The latest area of a code, with what it depends on of a launch. */
interface KnownArea {
  readonly threads: number;
  readonly dynamicSharedBytes: number;
  readonly params: LoadedKernel['params'];
  readonly area: Area;
}

const known = new WeakMap<CompiledKernel, KnownArea>();

/** The area of a launch. Launches of one code mostly have the same. */
export function areaOf(compiled: CompiledKernel, kernel: LoadedKernel, request: LaunchRequest): Area {
  const { dynamicSharedBytes, dynamicSharedParts } = request;
  if (dynamicSharedParts) return newArea(compiled, kernel, request);
  const { params } = kernel;
  const threads = product(request.block);
  const last = known.get(compiled);
  if (last?.threads === threads && last.dynamicSharedBytes === dynamicSharedBytes && last.params === params) return last.area;
  const area = newArea(compiled, kernel, request);
  known.set(compiled, { threads, dynamicSharedBytes, params, area });
  return area;
}

function newArea(compiled: CompiledKernel, kernel: LoadedKernel, request: LaunchRequest): Area {
  const { place, bytes } = newPlaces();
  const printedBytes = kernel.reflection.printf ? printBufferBytes : 0;
  const area = {
    constant: place(compiled.windows.constant),
    ...placeOwn(place, compiled, request),
    faults: place(4),
    grid: place(gridWorkspaceBytes),
    stack: place(4),
    group: place(groupHead.bytes),
    printed: place(printedBytes),
    printedBytes,
    values: kernel.params.map((param) => (param.kind === 'value' ? place(param.size) : 0)),
  };
  return { ...area, bytes: bytes() };
}

/** Writes constants, values and the header of the print buffer. */
export function fillArea(
  memory: DeviceMemory,
  start: number,
  area: Area,
  { pool, windows }: CompiledKernel,
  kernel: LoadedKernel,
  request: Dispatch,
): void {
  const view = memory.view(start, area.bytes);
  view.fill(0);
  view.set(kernel.constants, area.constant);
  if (pool) view.set(pool, area.constant + windows.constant - pool.length);
  if (area.printedBytes > 0) emptyPrintBuffer(view.subarray(area.printed, area.printed + area.printedBytes));
  // The area is zeros where the kernel has no stack.
  if (kernel.stackBytes > 0) new DataView(view.buffer, view.byteOffset).setUint32(area.stack, kernel.stackBytes, true);
  if (request.groupHead) view.set(request.groupHead, area.group);
  for (let i = 0; i < kernel.params.length; i++) {
    const { kind, slot, size } = kernel.params[i]!;
    const at = area.values[i]!;
    if (kind === 'value') writeValuesOfSlot(kernel.reflection, request.args, slot, view.subarray(at, at + size));
  }
}

/** Start addresses of a share. */
export interface Starts {
  /** The area of the launch. */
  readonly start: number;
  /** The area of the share, with its offsets. */
  readonly own: { readonly start: number; readonly area: OwnArea };
  readonly ownMemory: number;
  /** The lock table; 0 for a kernel without it. */
  readonly locks: number;
  /** The heap of kernels; 0 for a kernel without it. */
  readonly heap: number;
  /** The memory for launches by the kernel; 0 for a kernel that makes none. */
  readonly launches: number;
  /** What the launch has for clusters; 0 for a kernel without them. */
  readonly clusters: number;
  /** The address that is bound to a slot, for a caller that has bound all of them itself. */
  readonly bound: ((slot: number) => bigint) | undefined;
}

/** The globals of the instance that runs a share. */
export function globalsOf(
  { start, own, ownMemory, locks, heap, launches, clusters, bound }: Starts,
  area: Area,
  { windows }: CompiledKernel,
  kernel: LoadedKernel,
  request: LaunchRequest,
): Globals {
  const { block, grid } = request;
  let parts: ReturnType<typeof sharedParts> | undefined;
  const services = {
    heap,
    launches,
    alone: 0,
    cluster: clusters,
    stack: start + area.stack,
    group: start + area.group,
    grid: start + area.grid,
  };
  let part = 0;
  const paramAddresses = kernel.params.map((param, i): bigint => {
    if (bound && param.kind !== 'threadgroup') return bound(param.slot);
    if (param.memory) return BigInt(ownMemory);
    if (param.locks) return BigInt(locks);
    if (param.faults) return BigInt(start + area.faults);
    if (param.service) return BigInt(services[param.service]);
    if (param.formats) return BigInt(start + area.printed);
    if (param.kind === 'threadgroup') {
      parts ??= sharedParts(request);
      return BigInt(own.start + own.area.shared + windows.shared + parts.starts[part++]!);
    }
    if (param.kind === 'value') return BigInt(start + area.values[i]!);
    const argument = bufferOfSlot(kernel.reflection, request.args, param.slot);
    return argument ? BigInt((addressOf(argument.buffer) ?? 0) + (argument.offset ?? 0)) : 0n;
  });
  const words = {
    'ntid.x': block[0],
    'ntid.y': block[1],
    'ntid.z': block[2],
    'nctaid.x': grid[0],
    'nctaid.y': grid[1],
    'nctaid.z': grid[2],
    threads: product(block),
    constant: start + area.constant,
    shared: own.start + own.area.shared,
    local: own.start + own.area.local,
    records: own.start + own.area.records,
    states: own.start + own.area.states,
  };
  return { words, paramAddresses };
}
