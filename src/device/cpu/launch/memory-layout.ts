/** What a launch needs besides its buffers: where everything stands, and what a kernel's globals say of it. */
import { alignUp } from '../../../base/bytes.ts';
import { product } from '../../../base/dim3.ts';
import { printBufferBytes } from '../../../ir/index.ts';
import type { Dim3, LaunchRequest } from '../../device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../../launch-arguments.ts';
import { emptyPrintBuffer } from '../../printed.ts';
import { sharedParts } from '../../validate-launch.ts';
import { addressOf } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import type { Globals } from '../workers/instance.ts';
import type { CompiledKernel, LoadedKernel } from './library.ts';

/** Offsets of what each of those has who run blocks of a launch. */
export interface OwnArea {
  readonly shared: number;
  readonly local: number;
  readonly records: number;
  readonly states: number;
  readonly bytes: number;
}

/** Offsets of what a launch has, with the own area of the thread that calls. */
export interface Area extends OwnArea {
  readonly constant: number;
  /** The word in which the kernel says that it stopped itself. */
  readonly faults: number;
  /** What the kernel prints. */
  readonly printed: number;
  readonly printedBytes: number;
  /** By parameter: where its bytes stand, for those passed by value. */
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

/** Bytes before and behind shared memory that are nobody else's: of a strip's words, those of lanes that do not run are written as they are. */
const beside = 128;

function placeOwn(place: Place, { windows, recordBytes, lanes }: CompiledKernel, request: LaunchRequest): Omit<OwnArea, 'bytes'> {
  const threads = product(request.block);
  return {
    shared: place(beside + alignUp(windows.shared, 16) + sharedParts(request).size + beside) + beside,
    local: place(windows.local * Math.ceil(threads / lanes) * lanes),
    records: place(lanes > 1 ? recordBytes : recordBytes * threads),
    states: place(4 * threads),
  };
}

/** What one more has that runs blocks. */
export function ownAreaOf(compiled: CompiledKernel, request: LaunchRequest): OwnArea {
  const { place, bytes } = newPlaces();
  const own = placeOwn(place, compiled, request);
  return { ...own, bytes: bytes() };
}

/** What a launch has. */
export function areaOf(compiled: CompiledKernel, kernel: LoadedKernel, request: LaunchRequest): Area {
  const { place, bytes } = newPlaces();
  const printedBytes = kernel.reflection.printf ? printBufferBytes : 0;
  const area = {
    constant: place(compiled.windows.constant),
    ...placeOwn(place, compiled, request),
    faults: place(4),
    printed: place(printedBytes),
    printedBytes,
    values: kernel.params.map((param) => (param.kind === 'value' ? place(param.size) : 0)),
  };
  return { ...area, bytes: bytes() };
}

/** Puts constants and values where the kernel finds them. */
export function fillArea(
  memory: DeviceMemory,
  start: number,
  area: Area,
  { pool, windows }: CompiledKernel,
  kernel: LoadedKernel,
  request: LaunchRequest,
): void {
  const view = memory.view(start, area.bytes);
  view.fill(0);
  view.set(kernel.constants, area.constant);
  if (pool) view.set(pool, area.constant + windows.constant - pool.length);
  if (area.printedBytes > 0) emptyPrintBuffer(view.subarray(area.printed, area.printed + area.printedBytes));
  kernel.params.forEach(({ kind, slot, size }, i) => {
    const at = area.values[i]!;
    if (kind === 'value') writeValuesOfSlot(kernel.reflection, request.args, slot, view.subarray(at, at + size));
  });
}

export interface Starts {
  /** Of the area. */
  readonly start: number;
  /** Of the own area of who runs blocks, and where things stand in it. */
  readonly own: { readonly start: number; readonly area: OwnArea };
  readonly ownMemory: number;
  /** What the kernel sees of a slot, for a caller that has bound all of them itself. */
  readonly bound: ((slot: number) => bigint) | undefined;
}

/** What the globals of a kernel are set to, for one of those who run its blocks. */
export function globalsOf(
  { start, own, ownMemory, bound }: Starts,
  area: Area,
  { windows }: CompiledKernel,
  kernel: LoadedKernel,
  request: LaunchRequest,
): Globals {
  const dims = (name: 'ntid' | 'nctaid', [x, y, z]: Dim3) => ({ [`${name}.x`]: x, [`${name}.y`]: y, [`${name}.z`]: z });
  const parts = sharedParts(request);
  let part = 0;
  const paramAddresses = kernel.params.map((param, i): bigint => {
    if (bound && param.kind !== 'threadgroup') return bound(param.slot);
    if (param.memory) return BigInt(ownMemory);
    if (param.faults) return BigInt(start + area.faults);
    if (param.formats) return BigInt(start + area.printed);
    if (param.kind === 'threadgroup') return BigInt(own.start + own.area.shared + windows.shared + parts.starts[part++]!);
    if (param.kind === 'value') return BigInt(start + area.values[i]!);
    const argument = bufferOfSlot(kernel.reflection, request.args, param.slot);
    return argument ? BigInt((addressOf(argument.buffer) ?? 0) + (argument.offset ?? 0)) : 0n;
  });
  const words = {
    ...dims('ntid', request.block),
    ...dims('nctaid', request.grid),
    threads: product(request.block),
    constant: start + area.constant,
    shared: own.start + own.area.shared,
    local: own.start + own.area.local,
    records: own.start + own.area.records,
    states: own.start + own.area.states,
  };
  return { words, paramAddresses };
}
