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

import { bug } from '../../../base/bug.ts';
import { alignUp } from '../../../base/bytes.ts';
import { entryNumber } from '../../../base/entry-number.ts';
import type { Dim3, LaunchArgument, LaunchRequest } from '../../device.ts';
import type { CpuBuffer } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import type { LoadedKernel } from './library.ts';
import type { Scope } from './scope.ts';

/** Bytes for the launches of one grid: 131072 of few parameters. */
export const launchesBytes = 2 ** 24;

/** What a grid launched. */
export type ChildWork =
  | {
      readonly kind: 'kernel';
      readonly kernel: LoadedKernel;
      readonly grid: Dim3;
      readonly block: Dim3;
      readonly shared: number;
      readonly params: Uint8Array;
    }
  | { readonly kind: 'copy'; readonly to: bigint; readonly from: bigint; readonly bytes: bigint }
  | { readonly kind: 'fill'; readonly to: bigint; readonly value: number; readonly bytes: bigint };

const [headerBytes, entryBytes, unit] = [64, 16, 64];
const at = { taken: 8, kernels: 20, kernel: 0, grid: 4, block: 16, shared: 28, stream: 32, number: 40, units: 44, kind: 48 } as const;
const kinds = ['kernel', 'copy', 'fill'] as const;
const tailStream = 3n;

/** Whether a kernel may launch others. */
export const isLaunching = ({ reflection }: LoadedKernel): boolean =>
  reflection.services?.some(({ service }) => service === 'launches') === true;

/** Memory for what a grid launches, with its header and the table: 0 for a kernel that launches nothing, undefined if the device has none. */
export function openLaunches(
  memory: DeviceMemory,
  scope: Scope,
  kernel: LoadedKernel,
  kernelsOf: () => readonly LoadedKernel[] = () => [],
): number | undefined {
  if (!isLaunching(kernel)) return 0;
  const kernels = kernelsOf();
  const address = memory.take(launchesBytes);
  if (address === undefined) return undefined;
  scope.defer(() => memory.give(address));
  const first = alignUp(headerBytes + entryBytes * kernels.length, unit);
  memory.view(address, first).fill(0);
  const view = new DataView(memory.memory.buffer, address);
  view.setBigUint64(0, BigInt(launchesBytes), true);
  view.setUint32(at.taken, first / unit, true);
  view.setUint32(at.kernels, kernels.length, true);
  kernels.forEach((each, i) => {
    view.setBigUint64(headerBytes + entryBytes * i, entryNumber(each.reflection.name), true);
    view.setUint32(headerBytes + entryBytes * i + 8, layoutOf(each).bytes, true);
  });
  return address;
}

/** What was launched, in the order in which it runs. */
export function launchesIn(memory: DeviceMemory, address: number, kernels: readonly LoadedKernel[]): ChildWork[] {
  const view = new DataView(memory.memory.buffer, address);
  const end = unit * view.getUint32(at.taken, true);
  const found: { readonly number: number; readonly isTail: boolean; readonly work: ChildWork }[] = [];
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
      work: workIn(memory, address + record, kernels),
    });
  }
  found.sort((a, b) => Number(a.isTail) - Number(b.isTail) || a.number - b.number);
  return found.map(({ work }) => work);
}

function workIn(memory: DeviceMemory, address: number, kernels: readonly LoadedKernel[]): ChildWork {
  const view = new DataView(memory.memory.buffer, address);
  const long = (index: number): bigint => view.getBigUint64(unit + 8 * index, true);
  const kind = kinds[view.getUint32(at.kind, true)]!;
  if (kind === 'copy') return { kind, to: long(0), from: long(1), bytes: long(2) };
  if (kind === 'fill') return { kind, to: long(0), value: Number(long(1) & 255n), bytes: long(2) };
  const three = (from: number): Dim3 => [view.getUint32(from, true), view.getUint32(from + 4, true), view.getUint32(from + 8, true)];
  const kernel = kernels[view.getUint32(at.kernel, true)]!;
  const params = memory.view(address + unit, layoutOf(kernel).bytes).slice();
  return { kind, kernel, grid: three(at.grid), block: three(at.block), shared: view.getUint32(at.shared, true), params };
}

/** Where the parameters of a kernel are in the buffer that device code fills, as those of a C++ function. */
function layoutOf({ reflection: { params } }: LoadedKernel): { readonly places: readonly number[]; readonly bytes: number } {
  let bytes = 0;
  const places = params.map(({ kind, size, align }) => {
    const [own, alignment] = kind === 'buffer' ? [8, 8] : [size, align];
    const place = alignUp(bytes, alignment);
    bytes = place + own;
    return place;
  });
  return { places, bytes };
}

/** The launch of a kernel by another. What observes a single launch is left to that of the host. */
export function requestOfChild(
  memory: DeviceMemory,
  { profile: _, trace: __, progress: ___, dynamicSharedParts: ____, cooperative: _____, cluster: ______, ...parent }: LaunchRequest,
  { kernel, grid, block, shared, params }: ChildWork & { readonly kind: 'kernel' },
): LaunchRequest {
  const { places } = layoutOf(kernel);
  const view = new DataView(params.buffer, params.byteOffset);
  const args = kernel.reflection.params.map(({ kind, size }, i): LaunchArgument => {
    if (kind === 'bytes') return { kind, bytes: params.slice(places[i]!, places[i]! + size) };
    return { kind, buffer: bufferAt(memory, view.getBigUint64(places[i]!, true)) };
  });
  return { ...parent, kernel: kernel.reflection.name, grid, block, dynamicSharedBytes: shared, args };
}

/** An address as a buffer, of which no more is known. */
function bufferAt(memory: DeviceMemory, address: bigint): CpuBuffer {
  const none = (): never => bug('the host uses memory that a kernel passed');
  return {
    owner: memory,
    address: Number(address),
    size: 2 ** 31,
    isFree: false,
    read: none,
    write: none,
    free: none,
    deviceAddress: () => address,
  };
}

/** Copies or fills memory. */
export function doWork(memory: DeviceMemory, work: Exclude<ChildWork, { readonly kind: 'kernel' }>): void {
  const [to, bytes] = [Number(work.to), Number(work.bytes)];
  if (work.kind === 'fill') memory.view(to, bytes).fill(work.value);
  else memory.view(to, bytes).set(memory.view(Number(work.from), bytes).slice());
}
