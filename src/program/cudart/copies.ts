/** Copies and fills. All are done when the call returns, which every order of streams allows. */
import type { Allocation } from './allocations.ts';
import { bytesOfBuffer } from './device-memory.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail, type Variable } from './state.ts';

/** Directions. Source: `cudaMemcpyKind`. */
const kinds = { hostToHost: 0, hostToDevice: 1, deviceToHost: 2, deviceToDevice: 3, infer: 4 } as const;

/** Bytes on one side of a copy. */
interface Side {
  read(offset: number, bytes: number): Uint8Array;
  write(offset: number, bytes: Uint8Array): void;
}

/** The bytes at a pointer: of the program, or of the device. Fails if there are fewer than `bytes`, or if the copy's direction says otherwise. */
function side(state: CudaState, pointer: bigint, bytes: number, wanted: 'host' | 'device' | 'any'): Side {
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

const isPinned = ({ pinned }: CudaState, pointer: bigint): boolean =>
  [...pinned].some(([start, { bytes }]) => pointer >= start && pointer < start + BigInt(Math.max(1, bytes)));

function hostSide(state: CudaState, pointer: bigint, bytes: number): Side {
  if (!state.memory.has(pointer, bytes)) fail('cudaErrorInvalidValue');
  return {
    read: (offset, count) => state.memory.slice(pointer + BigInt(offset), count) ?? fail('cudaErrorInvalidValue'),
    write: (offset, from) => must(state.memory.put(pointer + BigInt(offset), from)),
  };
}

const deviceSide = ({ buffer }: Allocation, start: number): Side => ({
  read: (offset, count) => bytesOfBuffer(buffer).subarray(start + offset, start + offset + count),
  // Of the same memory perhaps, which may overlap.
  write: (offset, from) => buffer.write(from, start + offset),
});

const wantedOf = (kind: number): readonly ['host' | 'device' | 'any', 'host' | 'device' | 'any'] => {
  if (kind === kinds.hostToHost) return ['host', 'host'];
  if (kind === kinds.hostToDevice) return ['device', 'host'];
  if (kind === kinds.deviceToHost) return ['host', 'device'];
  if (kind === kinds.deviceToDevice) return ['device', 'device'];
  return kind === kinds.infer ? ['any', 'any'] : fail('cudaErrorInvalidMemcpyDirection');
};

function copy(state: CudaState, to: bigint, from: bigint, bytes: number, kind: number): void {
  const [wantedTo, wantedFrom] = wantedOf(kind);
  if (bytes === 0) return;
  const source = side(state, from, bytes, wantedFrom);
  side(state, to, bytes, wantedTo).write(0, source.read(0, bytes));
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
  if (width > toPitch || width > fromPitch) fail('cudaErrorInvalidValue');
  if (width === 0 || height === 0) return;
  const target = side(state, to, toPitch * (height - 1) + width, wantedTo);
  const source = side(state, from, fromPitch * (height - 1) + width, wantedFrom);
  for (let y = 0; y < height; y++) target.write(toPitch * y, source.read(fromPitch * y, width));
}

function fill(state: CudaState, pointer: bigint, value: number, bytes: number): void {
  if (bytes === 0) return;
  if (state.memory.isOwn(pointer) && !isPinned(state, pointer)) fail('cudaErrorInvalidValue');
  side(state, pointer, bytes, 'any').write(0, new Uint8Array(bytes).fill(value));
}

// ── variables ──

/** The variable of a symbol: that of the device, or what stands for one that no kernel names. */
function symbolSide(state: CudaState, symbol: bigint, offset: number, bytes: number): Side {
  const variable: Variable = state.variables.get(symbol) ?? fail('cudaErrorInvalidSymbol');
  if (offset + bytes > variable.size) fail('cudaErrorInvalidValue');
  const found = state.moduleOf(variable.image).symbols.find(({ name }) => name === variable.name);
  if (found)
    return {
      read: (at, count) => found.read().subarray(offset + at, offset + at + count),
      write: (at, from) => found.write(from, offset + at),
    };
  const { unused } = variable;
  return { read: (at, count) => unused.subarray(offset + at, offset + at + count), write: (at, from) => unused.set(from, offset + at) };
}

const toSymbol = row(['pointer', 'pointer', 'size', 'size', 'int'], (state, symbol, from, bytes, offset, kind) => {
  if (kind === kinds.deviceToHost || kind === kinds.hostToHost) fail('cudaErrorInvalidMemcpyDirection');
  symbolSide(state, symbol, offset, bytes).write(0, side(state, from, bytes, kind === kinds.hostToDevice ? 'host' : 'any').read(0, bytes));
});
const fromSymbol = row(['pointer', 'pointer', 'size', 'size', 'int'], (state, to, symbol, bytes, offset, kind) => {
  if (kind === kinds.hostToDevice || kind === kinds.hostToHost) fail('cudaErrorInvalidMemcpyDirection');
  side(state, to, bytes, kind === kinds.deviceToHost ? 'host' : 'any').write(0, symbolSide(state, symbol, offset, bytes).read(0, bytes));
});

const copyRow = row(['pointer', 'pointer', 'size', 'int'], copy);
const fillRow = row(['pointer', 'int', 'size'], fill);
const copy2D = row(
  ['pointer', 'size', 'pointer', 'size', 'size', 'size', 'int'],
  (state, to, toPitch, from, fromPitch, width, height, kind) => copyRectangle(state, { to, toPitch, from, fromPitch, width, height }, kind),
);
const fill2D = row(['pointer', 'size', 'int', 'size', 'size'], (state, pointer, pitch, value, width, height) => {
  if (width > pitch) fail('cudaErrorInvalidValue');
  for (let y = 0; y < height; y++) fill(state, pointer + BigInt(pitch * y), value, width);
});

const peerRow = row(['pointer', 'int', 'pointer', 'int', 'size'], (state, to, toDevice, from, fromDevice, bytes) => {
  if (toDevice !== 0 || fromDevice !== 0) fail('cudaErrorInvalidDevice');
  copy(state, to, from, bytes, kinds.infer);
});

export const copies: Readonly<Record<string, Row>> = {
  cudaMemcpy: copyRow,
  cudaMemcpyAsync: copyRow,
  cudaMemcpyPeer: peerRow,
  cudaMemcpyPeerAsync: peerRow,
  cudaMemset: fillRow,
  cudaMemsetAsync: fillRow,
  cudaMemcpy2D: copy2D,
  cudaMemcpy2DAsync: copy2D,
  cudaMemset2D: fill2D,
  cudaMemset2DAsync: fill2D,
  cudaMemcpyToSymbol: toSymbol,
  cudaMemcpyToSymbolAsync: toSymbol,
  cudaMemcpyFromSymbol: fromSymbol,
  cudaMemcpyFromSymbolAsync: fromSymbol,
  cudaGetSymbolSize: row(['pointer', 'pointer'], (state, to, symbol) => {
    must(state.memory.putU64(to, (state.variables.get(symbol) ?? fail('cudaErrorInvalidSymbol')).size));
  }),
};
