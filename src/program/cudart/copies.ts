/** Copies and fills. All are done when the call returns, which every order of streams allows. */
import type { Allocation } from './allocations.ts';
import { bytesOfBuffer } from './device-memory.ts';
import { must, type Row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { plainWorkRow, workRow } from './work.ts';

/** Directions. Source: `cudaMemcpyKind`. */
export const kinds = { hostToHost: 0, hostToDevice: 1, deviceToHost: 2, deviceToDevice: 3, infer: 4 } as const;

/** Bytes on one side of a copy. */
export interface Side {
  read(offset: number, bytes: number): Uint8Array;
  write(offset: number, bytes: Uint8Array): void;
  /** Reads bytes to where they are wanted, if that saves a copy. */
  readTo?(offset: number, to: Uint8Array): void;
  /** The memory itself, for bytes that are all written at once. */
  place?(offset: number, bytes: number): Uint8Array | undefined;
}

/** Copies bytes from one side to the other. */
export function transfer(to: Side, from: Side, bytes: number, toOffset = 0, fromOffset = 0): void {
  const place = from.readTo && to.place?.(toOffset, bytes);
  if (place) from.readTo!(fromOffset, place);
  else to.write(toOffset, from.read(fromOffset, bytes));
}

/** The bytes at a pointer: of the program, or of the device. Fails if there are fewer than `bytes`, or if the copy's direction says otherwise. */
export function side(state: CudaState, pointer: bigint, bytes: number, wanted: 'host' | 'device' | 'any'): Side {
  if (state.memory.isOwn(pointer)) {
    if (wanted === 'device' && !isPinned(state, pointer)) fail('cudaErrorInvalidValue');
    return hostSide(state, pointer, bytes);
  }
  const found = state.allocations.find(pointer);
  if (!found || found.offset + bytes > found.allocation.size) fail('cudaErrorInvalidValue');
  const { allocation, offset } = found!;
  // What the host sees as well counts there between launches.
  if (allocation.host) return hostSide(state, allocation.host.pointer + BigInt(offset), bytes);
  if (wanted === 'host') fail('cudaErrorInvalidValue');
  return deviceSide(allocation, offset);
}

/** Whether memory of the host is memory of the device as well: allocated or registered for it, or a managed variable. */
const isPinned = ({ pinned, allocations }: CudaState, pointer: bigint): boolean =>
  [...pinned].some(([start, { bytes }]) => pointer >= start && pointer < start + BigInt(Math.max(1, bytes))) ||
  allocations.mapping(pointer) !== undefined;

function hostSide(state: CudaState, pointer: bigint, bytes: number): Side {
  if (!state.memory.has(pointer, bytes)) fail('cudaErrorInvalidValue');
  return {
    read: (offset, count) => state.memory.slice(pointer + BigInt(offset), count) ?? fail('cudaErrorInvalidValue'),
    readTo: (offset, to) => must(state.memory.read(pointer + BigInt(offset), to)),
    write: (offset, from) => must(state.memory.put(pointer + BigInt(offset), from)),
  };
}

export const deviceSide = ({ buffer }: Allocation, start: number): Side => ({
  read: (offset, count) => bytesOfBuffer(buffer).subarray(start + offset, start + offset + count),
  // Of the same memory perhaps, which may overlap.
  write: (offset, from) => buffer.write(from, start + offset),
  place: (offset, bytes) => buffer.place?.(start + offset, bytes),
});

export const wantedOf = (kind: number): readonly ['host' | 'device' | 'any', 'host' | 'device' | 'any'] => {
  if (kind === kinds.hostToHost) return ['host', 'host'];
  if (kind === kinds.hostToDevice) return ['device', 'host'];
  if (kind === kinds.deviceToHost) return ['host', 'device'];
  if (kind === kinds.deviceToDevice) return ['device', 'device'];
  return kind === kinds.infer ? ['any', 'any'] : fail('cudaErrorInvalidMemcpyDirection');
};

export function copy(state: CudaState, to: bigint, from: bigint, bytes: number, kind: number): void {
  const [wantedTo, wantedFrom] = wantedOf(kind);
  if (bytes === 0) return;
  const source = side(state, from, bytes, wantedFrom);
  transfer(side(state, to, bytes, wantedTo), source, bytes);
}

/** Rows of a rectangle, each behind the other by its pitch. */
interface Rectangle {
  readonly to: bigint;
  readonly toPitch: number;
  readonly from: bigint;
  readonly fromPitch: number;
  readonly width: number;
  readonly height: number;
}

function copyRectangle(state: CudaState, { to, toPitch, from, fromPitch, width, height }: Rectangle, kind: number): void {
  const [wantedTo, wantedFrom] = wantedOf(kind);
  if (width > toPitch || width > fromPitch) fail('cudaErrorInvalidPitchValue');
  if (width === 0 || height === 0) return;
  const target = side(state, to, toPitch * (height - 1) + width, wantedTo);
  const source = side(state, from, fromPitch * (height - 1) + width, wantedFrom);
  for (let y = 0; y < height; y++) transfer(target, source, width, toPitch * y, fromPitch * y);
}

const arrays = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const;

/** Fills with an element of some bytes, `count` times: memory of the device where it is, because a copy of it may be a gigabyte. */
function fillSide(to: Side, value: number, size: 1 | 2 | 4, count: number): void {
  const place = to.place?.(0, size * count);
  const all = place ?? new Uint8Array(size * count);
  new arrays[size](all.buffer as ArrayBuffer, all.byteOffset, count).fill(value);
  if (!place) to.write(0, all);
}

function fill(state: CudaState, pointer: bigint, value: number, bytes: number): void {
  if (bytes === 0) return;
  if (state.memory.isOwn(pointer) && !isPinned(state, pointer)) fail('cudaErrorInvalidValue');
  fillSide(side(state, pointer, bytes, 'any'), value, 1, bytes);
}

/** Fills with elements of more than a byte; `count` of them. */
export function fillWords(state: CudaState, pointer: bigint, value: number, size: 1 | 2 | 4, count: number): void {
  if (count === 0) return;
  if (pointer % BigInt(size) !== 0n) fail('cudaErrorInvalidValue');
  fillSide(side(state, pointer, size * count, 'any'), value, size, count);
}

/** Planes of rows: pitches are bytes of a row, heights rows of a plane. */
export interface Box {
  readonly to: bigint;
  readonly toPitch: number;
  readonly toHeight: number;
  readonly from: bigint;
  readonly fromPitch: number;
  readonly fromHeight: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

export function copyBox(state: CudaState, box: Box, kind: number): void {
  const { to, toPitch, toHeight, from, fromPitch, fromHeight, width, height, depth } = box;
  if (depth > 1 && (height > toHeight || height > fromHeight)) fail('cudaErrorInvalidValue');
  for (let z = 0; z < depth; z++) {
    const [atTo, atFrom] = [to + BigInt(z * toPitch * toHeight), from + BigInt(z * fromPitch * fromHeight)];
    copyRectangle(state, { to: atTo, toPitch, from: atFrom, fromPitch, width, height }, kind);
  }
}

export function fillRectangle(state: CudaState, pointer: bigint, pitch: number, value: number, width: number, height: number): void {
  if (width > pitch && height > 1) fail('cudaErrorInvalidValue');
  for (let y = 0; y < height; y++) fill(state, pointer + BigInt(pitch * y), value, width);
}

type CopyArguments = readonly ['pointer', 'pointer', 'size', 'int'];
const copyArguments: CopyArguments = ['pointer', 'pointer', 'size', 'int'];
const copyLater = (state: CudaState, to: bigint, from: bigint, bytes: number, kind: number) => () => copy(state, to, from, bytes, kind);
const fillLater = (state: CudaState, pointer: bigint, value: number, bytes: number) => () => fill(state, pointer, value, bytes);
const rectangle = ['pointer', 'size', 'pointer', 'size', 'size', 'size', 'int'] as const;
const copy2D =
  (state: CudaState, ...[to, toPitch, from, fromPitch, width, height, kind]: [bigint, number, bigint, number, number, number, number]) =>
  () =>
    copyRectangle(state, { to, toPitch, from, fromPitch, width, height }, kind);
const fill2D = (state: CudaState, pointer: bigint, pitch: number, value: number, width: number, height: number) => () =>
  fillRectangle(state, pointer, pitch, value, width, height);
const fillArguments = ['pointer', 'size', 'int', 'size', 'size'] as const;
const peerArguments = ['pointer', 'int', 'pointer', 'int', 'size'] as const;
const peer = (state: CudaState, to: bigint, toDevice: number, from: bigint, fromDevice: number, bytes: number) => () => {
  if (toDevice !== 0 || fromDevice !== 0) fail('cudaErrorInvalidDevice');
  copy(state, to, from, bytes, kinds.infer);
};

export const copies: Readonly<Record<string, Row>> = {
  cudaMemcpy: plainWorkRow(copyArguments, 'copy', copyLater),
  cudaMemcpyAsync: workRow(copyArguments, 'copy', copyLater),
  cudaMemcpyPeer: plainWorkRow(peerArguments, 'copy', peer),
  cudaMemcpyPeerAsync: workRow(peerArguments, 'copy', peer),
  cudaMemset: plainWorkRow(['pointer', 'int', 'size'], 'fill', fillLater),
  cudaMemsetAsync: workRow(['pointer', 'int', 'size'], 'fill', fillLater),
  cudaMemcpy2D: plainWorkRow(rectangle, 'copy', copy2D),
  cudaMemcpy2DAsync: workRow(rectangle, 'copy', copy2D),
  cudaMemset2D: plainWorkRow(fillArguments, 'fill', fill2D),
  cudaMemset2DAsync: workRow(fillArguments, 'fill', fill2D),
};
