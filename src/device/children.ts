/**
 * Launches of kernels by kernels. A kernel notes them in the memory of the service `launches`, by the code of `src/compile/device-runtime.ts`:
 *
 * - a header: bytes of all (u64), units of 64 bytes that are taken (u32), launches so far (u32), 4 bytes without use, kernels (u32);
 * - from byte 64 on a table: for each kernel its number (u64, `entryNumber`) and the bytes of its parameters (u32), in 16 bytes;
 * - records: place of the kernel in the table, grid, block, shared memory (u32 each, 32 bytes), stream (u64), number of the launch or 0 (u32), units
 *   (u32), kind (u32), and from byte 64 on the parameters.
 *
 * A grid that has ended is followed by what it launched, in the order of the launches, the tail stream last, and each of these by its own.
 * Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism": a parent ends after its children, and does not wait for them itself.
 */

import type { KernelReflection } from '../air/abi.ts';
import { bug } from '../base/bug.ts';
import { alignUp } from '../base/bytes.ts';
import { entryNumber } from '../base/entry-number.ts';
import type { DeviceBuffer, Dim3, LaunchArgument, LaunchRequest } from './device.ts';

/** Bytes for the launches of one grid: 131072 of few parameters. */
export const launchesBytes = 2 ** 24;

/** A kernel that may be launched. */
export interface Launchable {
  readonly reflection: KernelReflection;
}

/** What a grid launched. */
export type ChildWork<K extends Launchable> = ChildLaunch<K> | MemoryWork;

export interface ChildLaunch<K extends Launchable> {
  readonly kind: 'kernel';
  readonly kernel: K;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly shared: number;
  readonly params: Uint8Array;
}

export type MemoryWork =
  | { readonly kind: 'copy'; readonly to: bigint; readonly from: bigint; readonly bytes: bigint }
  | { readonly kind: 'fill'; readonly to: bigint; readonly value: number; readonly bytes: bigint };

const [headerBytes, entryBytes, unit] = [64, 16, 64];
const at = { taken: 8, kernels: 20, kernel: 0, grid: 4, block: 16, shared: 28, stream: 32, number: 40, units: 44, kind: 48 } as const;
const kinds = ['kernel', 'copy', 'fill'] as const;
const tailStream = 3n;

/** Whether a kernel may launch others. */
export const isLaunching = ({ reflection }: Launchable): boolean =>
  reflection.services?.some(({ service }) => service === 'launches') === true;

/** The start of the memory for what a grid launches: its header and the table; the rest is zeros. */
export function startOfLaunches(kernels: readonly Launchable[]): Uint8Array {
  const first = alignUp(headerBytes + entryBytes * kernels.length, unit);
  const bytes = new Uint8Array(first);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(launchesBytes), true);
  view.setUint32(at.taken, first / unit, true);
  view.setUint32(at.kernels, kernels.length, true);
  kernels.forEach((each, i) => {
    view.setBigUint64(headerBytes + entryBytes * i, entryNumber(each.reflection.name), true);
    view.setUint32(headerBytes + entryBytes * i + 8, layoutOf(each).bytes, true);
  });
  return bytes;
}

/** What was launched, in the order in which it runs. `read` gives the first bytes of the memory. */
export function launchesIn<K extends Launchable>(read: (bytes: number) => Uint8Array, kernels: readonly K[]): ChildWork<K>[] {
  const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength);
  const end = unit * viewOf(read(headerBytes)).getUint32(at.taken, true);
  const bytes = read(end);
  const view = viewOf(bytes);
  const found: { readonly number: number; readonly isTail: boolean; readonly work: ChildWork<K> }[] = [];
  for (
    let record = alignUp(headerBytes + entryBytes * kernels.length, unit);
    record < end;
    record += unit * view.getUint32(record + at.units, true)
  ) {
    const number = view.getUint32(record + at.number, true);
    if (number === 0) continue;
    found.push({
      number,
      isTail: view.getBigUint64(record + at.stream, true) === tailStream,
      work: workIn(bytes.subarray(record), kernels),
    });
  }
  found.sort((a, b) => Number(a.isTail) - Number(b.isTail) || a.number - b.number);
  return found.map(({ work }) => work);
}

function workIn<K extends Launchable>(record: Uint8Array, kernels: readonly K[]): ChildWork<K> {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const long = (index: number): bigint => view.getBigUint64(unit + 8 * index, true);
  const kind = kinds[view.getUint32(at.kind, true)]!;
  if (kind === 'copy') return { kind, to: long(0), from: long(1), bytes: long(2) };
  if (kind === 'fill') return { kind, to: long(0), value: Number(long(1) & 255n), bytes: long(2) };
  const three = (from: number): Dim3 => [view.getUint32(from, true), view.getUint32(from + 4, true), view.getUint32(from + 8, true)];
  const kernel = kernels[view.getUint32(at.kernel, true)]!;
  const params = record.slice(unit, unit + layoutOf(kernel).bytes);
  return { kind, kernel, grid: three(at.grid), block: three(at.block), shared: view.getUint32(at.shared, true), params };
}

/** Where the parameters of a kernel are in the buffer that device code fills, as those of a C++ function. */
function layoutOf({ reflection: { params } }: Launchable): { readonly places: readonly number[]; readonly bytes: number } {
  let bytes = 0;
  const places = params.map(({ kind, size, align }) => {
    const [own, alignment] = kind === 'buffer' ? [8, 8] : [size, align];
    const place = alignUp(bytes, alignment);
    bytes = place + own;
    return place;
  });
  return { places, bytes };
}

/** The launch of a kernel by another. What observes a single launch is left to that of the host. `argumentAt` gives an address as an argument. */
export function requestOfChild<K extends Launchable>(
  { profile: _, trace: __, progress: ___, dynamicSharedParts: ____, cooperative: _____, cluster: ______, ...parent }: LaunchRequest,
  { kernel, grid, block, shared, params }: ChildLaunch<K>,
  argumentAt: (address: bigint) => LaunchArgument,
): LaunchRequest {
  const { places } = layoutOf(kernel);
  const view = new DataView(params.buffer, params.byteOffset);
  const args = kernel.reflection.params.map(({ kind, size }, i): LaunchArgument => {
    if (kind === 'bytes') return { kind, bytes: params.slice(places[i]!, places[i]! + size) };
    return argumentAt(view.getBigUint64(places[i]!, true));
  });
  return { ...parent, kernel: kernel.reflection.name, grid, block, dynamicSharedBytes: shared, args };
}

/** What a buffer at an address that a kernel passed has in common on all devices: no more is known of it. */
export function passedBuffer(address: bigint): Omit<DeviceBuffer, 'view'> & { readonly isFree: false } {
  const none = (): never => bug('the host uses memory that a kernel passed');
  return { size: 2 ** 31, isFree: false, read: none, write: none, free: none, deviceAddress: () => address };
}

/** A grid that has ended. */
export interface EndedGrid<K extends Launchable> {
  readonly durationMs: number;
  readonly launched: readonly ChildWork<K>[];
}

/** How a device follows the launches of kernels. */
interface Follower<K extends Launchable> {
  /** Runs one grid to its end. */
  run(kernel: K, request: LaunchRequest): EndedGrid<K> | undefined;
  argumentAt(address: bigint): LaunchArgument;
  doWork(work: MemoryWork): void;
}

/** Runs a kernel to its end, and all that it launches: each grid is followed by its own launches. Undefined once one fails. */
export function runWithChildren<K extends Launchable>(
  { run, argumentAt, doWork }: Follower<K>,
  kernel: K,
  request: LaunchRequest,
): { readonly durationMs: number } | undefined {
  const first = run(kernel, request);
  if (!first) return undefined;
  const left = [...first.launched].reverse();
  let { durationMs } = first;
  for (let work = left.pop(); work; work = left.pop()) {
    if (work.kind !== 'kernel') doWork(work);
    else {
      const result = run(work.kernel, requestOfChild(request, work, argumentAt));
      if (!result) return undefined;
      durationMs += result.durationMs;
      for (const next of [...result.launched].reverse()) left.push(next);
    }
  }
  return { durationMs };
}
