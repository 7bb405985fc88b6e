/** Copies to and from CUDA arrays. Source: CUDA Runtime API, memory management. */
import type { CudaArray } from './array-types.ts';
import { arrayOf, planesOf, rowsOf, texelBytes } from './arrays.ts';
import { deviceSide, type Side, side, transfer, wantedOf } from './copies.ts';
import { type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { plainWorkRow, work, workRow } from './work.ts';

/** Bytes in rows and planes, of memory or of an array. */
export interface Volume {
  readonly side: Side;
  readonly pitch: number;
  readonly slice: number;
}

/** Where something is in a volume: bytes, rows and planes. */
export type Position = readonly [x: number, y: number, z: number];

/** Bytes of a row, rows and planes. */
export type Size = readonly [bytes: number, rows: number, planes: number];

/** An array from a position on, which has at least a size there. */
export function arrayVolume(array: CudaArray, [x, y, z]: Position, [bytes, rows, planes]: Size): Volume {
  const texel = texelBytes(array.format);
  const isInside = x + bytes <= array.extent.width * texel && y + rows <= rowsOf(array) && z + planes <= planesOf(array);
  if (!isInside) fail('cudaErrorInvalidValue');
  const { allocation, offset, pitch, slice } = array;
  return { side: deviceSide(allocation, offset + x + pitch * y + slice * z), pitch, slice };
}

type Wanted = Parameters<typeof side>[3];

/** Memory in rows: from a pointer on. */
export function memoryVolume(
  state: CudaState,
  pointer: bigint,
  { pitch, slice }: { readonly pitch: number; readonly slice: number },
  [bytes, rows, planes]: Size,
  wanted: Wanted,
): Volume {
  if ((rows > 1 && bytes > pitch) || (planes > 1 && rows * pitch > slice)) fail('cudaErrorInvalidPitchValue');
  const end = Math.max(0, planes - 1) * slice + Math.max(0, rows - 1) * pitch + bytes;
  return { side: side(state, pointer, end, wanted), pitch, slice };
}

export function copyVolume(to: Volume, from: Volume, [bytes, rows, planes]: Size): void {
  for (let z = 0; z < planes; z++)
    for (let y = 0; y < rows; y++) transfer(to.side, from.side, bytes, z * to.slice + y * to.pitch, z * from.slice + y * from.pitch);
}

const isNone = (size: Size): boolean => size.includes(0);

/** Fails where a direction says that an array is on the host. */
function assertOnDevice(kind: number, which: 'to' | 'from'): Wanted {
  const [to, from] = wantedOf(kind);
  if ((which === 'to' ? to : from) === 'host') fail('cudaErrorInvalidMemcpyDirection');
  return which === 'to' ? from : to;
}

const toArrayArguments = ['pointer', 'size', 'size', 'pointer', 'size', 'size', 'size', 'int'] as const;
type ToArray = [handle: bigint, x: number, y: number, from: bigint, pitch: number, width: number, height: number, kind: number];

const toArray = (state: CudaState, ...[handle, x, y, from, pitch, width, height, kind]: ToArray): (() => void) => {
  const wanted = assertOnDevice(kind, 'to');
  const size: Size = [width, height, 1];
  const to = arrayVolume(arrayOf(state, handle), [x, y, 0], size);
  // A single row has no pitch: an H200 takes 0.
  if (height > 1 && width > pitch) fail('cudaErrorInvalidPitchValue');
  return () => {
    if (!isNone(size)) copyVolume(to, memoryVolume(state, from, { pitch, slice: 0 }, size, wanted), size);
  };
};

const fromArrayArguments = ['pointer', 'size', 'pointer', 'size', 'size', 'size', 'size', 'int'] as const;
type FromArray = [to: bigint, pitch: number, handle: bigint, x: number, y: number, width: number, height: number, kind: number];

const fromArray = (state: CudaState, ...[to, pitch, handle, x, y, width, height, kind]: FromArray): (() => void) => {
  const wanted = assertOnDevice(kind, 'from');
  const size: Size = [width, height, 1];
  const from = arrayVolume(arrayOf(state, handle), [x, y, 0], size);
  if (width > pitch) fail('cudaErrorInvalidPitchValue');
  return () => {
    if (!isNone(size)) copyVolume(memoryVolume(state, to, { pitch, slice: 0 }, size, wanted), from, size);
  };
};

/** Bytes one behind the other as the rows of an array, from a position on; `each` receives a part of a row. */
function runs(
  { extent, format, ...array }: CudaArray,
  x: number,
  y: number,
  count: number,
  each: (at: Position, from: number, bytes: number) => void,
): void {
  const width = extent.width * texelBytes(format);
  const rows = rowsOf({ extent, ...array } as CudaArray);
  if (x >= width || y * width + x + count > rows * width) fail('cudaErrorInvalidValue');
  for (let done = 0; done < count; ) {
    const at = x + done;
    const bytes = Math.min(count - done, width - (at % width));
    each([at % width, y + Math.floor(at / width), 0], done, bytes);
    done += bytes;
  }
}

const lineToArguments = ['pointer', 'size', 'size', 'pointer', 'size', 'int'] as const;
const lineTo =
  (state: CudaState, ...[handle, x, y, from, count, kind]: [bigint, number, number, bigint, number, number]) =>
  () => {
    const wanted = assertOnDevice(kind, 'to');
    const array = arrayOf(state, handle);
    if (count === 0) return;
    const source = side(state, from, count, wanted);
    runs(array, x, y, count, (at, start, bytes) => arrayVolume(array, at, [bytes, 1, 1]).side.write(0, source.read(start, bytes)));
  };

const lineFromArguments = ['pointer', 'pointer', 'size', 'size', 'size', 'int'] as const;
const lineFrom =
  (state: CudaState, ...[to, handle, x, y, count, kind]: [bigint, bigint, number, number, number, number]) =>
  () => {
    const wanted = assertOnDevice(kind, 'from');
    const array = arrayOf(state, handle);
    if (count === 0) return;
    const target = side(state, to, count, wanted);
    runs(array, x, y, count, (at, start, bytes) => target.write(start, arrayVolume(array, at, [bytes, 1, 1]).side.read(0, bytes)));
  };

function lineBetween(
  state: CudaState,
  ...[to, tx, ty, from, fx, fy, count]: [bigint, number, number, bigint, number, number, number, number]
): void {
  const [target, source] = [arrayOf(state, to), arrayOf(state, from)];
  const bytes = new Uint8Array(count);
  runs(source, fx, fy, count, (at, start, part) => bytes.set(arrayVolume(source, at, [part, 1, 1]).side.read(0, part), start));
  runs(target, tx, ty, count, (at, start, part) =>
    arrayVolume(target, at, [part, 1, 1]).side.write(0, bytes.subarray(start, start + part)),
  );
}

const between2D = (
  state: CudaState,
  ...[to, tx, ty, from, fx, fy, width, height]: [bigint, number, number, bigint, number, number, number, number, number]
): void => {
  const size: Size = [width, height, 1];
  copyVolume(arrayVolume(arrayOf(state, to), [tx, ty, 0], size), arrayVolume(arrayOf(state, from), [fx, fy, 0], size), size);
};

export const arrayCopies: Readonly<Record<string, Row>> = {
  cudaMemcpy2DToArray: plainWorkRow(toArrayArguments, 'copy', toArray),
  cudaMemcpy2DToArrayAsync: workRow(toArrayArguments, 'copy', toArray),
  cudaMemcpy2DFromArray: plainWorkRow(fromArrayArguments, 'copy', fromArray),
  cudaMemcpy2DFromArrayAsync: workRow(fromArrayArguments, 'copy', fromArray),
  cudaMemcpyToArray: plainWorkRow(lineToArguments, 'copy', lineTo),
  cudaMemcpyToArrayAsync: workRow(lineToArguments, 'copy', lineTo),
  cudaMemcpyFromArray: plainWorkRow(lineFromArguments, 'copy', lineFrom),
  cudaMemcpyFromArrayAsync: workRow(lineFromArguments, 'copy', lineFrom),
  cudaMemcpyArrayToArray: row(['pointer', 'size', 'size', 'pointer', 'size', 'size', 'size', 'int'], (state, ...given) =>
    work(state, 0n, 'copy', () => lineBetween(state, ...given)),
  ),
  cudaMemcpy2DArrayToArray: row(['pointer', 'size', 'size', 'pointer', 'size', 'size', 'size', 'size', 'int'], (state, ...given) =>
    work(state, 0n, 'copy', () => between2D(state, ...given)),
  ),
};
