/** Memory in three dimensions. Structures are given by pointers. Source: CUDA Runtime API, `cudaMemcpy3DParms`, `cudaPitchedPtr`. */
import { type Box, copyBox, fillRectangle } from './copies.ts';
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

/** The copy that a `cudaMemcpy3DParms` asks for. Arrays have no address here, so that there is none to name. */
export function boxCopy(state: CudaState, at: bigint): () => void {
  const [fromArray, toArray] = [offsets.fromArray, offsets.toArray].map((offset) => numbers(state, at + offset, 1)[0]);
  if (fromArray !== 0n || toArray !== 0n) fail('cudaErrorNotSupported');
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
