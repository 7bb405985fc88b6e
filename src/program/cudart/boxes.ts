/** Memory in three dimensions. Structures are given by pointers. Source: CUDA Runtime API, `cudaMemcpy3DParms`, `cudaPitchedPtr`. */
import { arrayVolume, copyVolume, memoryVolume, type Size } from './array-copies.ts';
import { arrayOf, texelBytes } from './arrays.ts';
import { type Box, copyBox, fillRectangle, wantedOf } from './copies.ts';
import { allocate, pitchAlignment } from './device-memory.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { plainWorkRow, workRow } from './work.ts';

/** Numbers of 64 bits, one behind the other. */
function numbers({ memory }: CudaState, at: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => memory.u64(at + BigInt(8 * i)) ?? fail('cudaErrorInvalidValue'));
}

interface PitchedPointer {
  readonly pointer: bigint;
  readonly pitch: number;
  /** Rows of a plane. */
  readonly height: number;
}

function pitchedPointer(state: CudaState, at: bigint): PitchedPointer {
  const [pointer, pitch, , height] = numbers(state, at, 4);
  return { pointer: pointer!, pitch: Number(pitch), height: Number(height) };
}

/** Offsets of the structure: source array, position and pointer, then those of the destination, the extent, and the direction. */
const offsets = { fromArray: 0n, fromAt: 8n, from: 32n, toArray: 64n, toAt: 72n, to: 96n, extent: 128n, kind: 152n } as const;

const startOf = ({ pointer, pitch, height }: PitchedPointer, [x, y, z]: readonly bigint[]): bigint =>
  pointer + x! + BigInt(pitch) * (y! + BigInt(height) * z!);

/** The copy that a `cudaMemcpy3DParms` asks for. */
export function boxCopy(state: CudaState, at: bigint): () => void {
  const arrays = [offsets.fromArray, offsets.toArray].map((offset) => numbers(state, at + offset, 1)[0]!);
  if (arrays.some((handle) => handle !== 0n)) return arrayBoxCopy(state, at);
  const [from, to] = [pitchedPointer(state, at + offsets.from), pitchedPointer(state, at + offsets.to)];
  const [width, height, depth] = numbers(state, at + offsets.extent, 3).map(Number);
  const kind = state.memory.u32(at + offsets.kind) ?? fail('cudaErrorInvalidValue');
  const box: Box = {
    ...{ from: startOf(from, numbers(state, at + offsets.fromAt, 3)), fromPitch: from.pitch, fromHeight: from.height },
    ...{ to: startOf(to, numbers(state, at + offsets.toAt, 3)), toPitch: to.pitch, toHeight: to.height },
    ...{ width: width!, height: height!, depth: depth! },
  };
  return () => copyBox(state, box, kind);
}

/** A copy of which one side or both are arrays: extents and positions are in texels then, also on the side of memory. */
function arrayBoxCopy(state: CudaState, at: bigint): () => void {
  const kind = state.memory.u32(at + offsets.kind) ?? fail('cudaErrorInvalidValue');
  const [wantedTo, wantedFrom] = wantedOf(kind);
  const ends = [
    { array: offsets.fromArray, at: offsets.fromAt, pointer: offsets.from, wanted: wantedFrom },
    { array: offsets.toArray, at: offsets.toAt, pointer: offsets.to, wanted: wantedTo },
  ].map((end) => ({ ...end, handle: numbers(state, at + end.array, 1)[0]! }));
  const arrays = ends.map(({ handle }) => (handle === 0n ? undefined : arrayOf(state, handle)));
  const texel = texelBytes((arrays[0] ?? arrays[1])!.format);
  if (arrays.some((array) => array && texelBytes(array.format) !== texel)) fail('cudaErrorInvalidValue');
  const [width = 0, height = 0, depth = 0] = numbers(state, at + offsets.extent, 3).map(Number);
  const size: Size = [width * texel, height, depth];
  const volumes = ends.map(({ at: place, pointer, wanted }, i) => {
    const [x = 0, y = 0, z = 0] = numbers(state, at + place, 3).map(Number);
    const array = arrays[i];
    const other = pitchedPointer(state, at + pointer);
    if (array && (other.pointer !== 0n || wanted === 'host')) fail('cudaErrorInvalidValue');
    if (array) return () => arrayVolume(array, [x * texel, y, z], size);
    const { pitch, height: rows } = other;
    const start = startOf(other, [BigInt(x * texel), BigInt(y), BigInt(z)]);
    return () => memoryVolume(state, start, { pitch, slice: pitch * rows }, size, wanted);
  });
  // What is wrong with an array is wrong at once, as nothing is copied.
  for (const [i, volume] of volumes.entries()) if (arrays[i]) volume();
  return () => {
    if (!size.includes(0)) copyVolume(volumes[1]!(), volumes[0]!(), size);
  };
}

function boxFill(state: CudaState, pitched: bigint, value: number, extent: bigint): () => void {
  const { pointer, pitch, height: planeRows } = pitchedPointer(state, pitched);
  const [width, height, depth] = numbers(state, extent, 3).map(Number);
  return () => {
    for (let z = 0; z < depth!; z++) fillRectangle(state, pointer + BigInt(z * pitch * planeRows), pitch, value, width!, height!);
  };
}

export const boxes: Readonly<Record<string, Row>> = {
  cudaMalloc3D: row(['pointer', 'pointer'], (state, to, extent) => {
    const [width, height, depth] = numbers(state, extent, 3).map(Number);
    const pitch = Math.ceil(width! / pitchAlignment) * pitchAlignment;
    const { address } = allocate(state, pitch * height! * depth!);
    for (const [i, value] of [address, pitch, width!, height!].entries()) must(state.memory.putU64(to + BigInt(8 * i), value));
  }),
  cudaMemcpy3D: plainWorkRow(['pointer'], 'copy', boxCopy),
  cudaMemcpy3DAsync: workRow(['pointer'], 'copy', boxCopy),
  cudaMemset3D: plainWorkRow(['pointer', 'int', 'pointer'], 'fill', boxFill),
  cudaMemset3DAsync: workRow(['pointer', 'int', 'pointer'], 'fill', boxFill),
};
