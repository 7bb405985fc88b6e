/** CUDA arrays: memory in two or three dimensions, or layers of it, that textures and surfaces show. Source: CUDA Runtime API, `cudaMallocArray`. */
import type { Allocation } from './allocations.ts';
import type { CudaArray, Extent, Format, MipmappedArray } from './array-types.ts';
import { allocate } from './device-memory.ts';
import { must, plainRow, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';

/** Kinds of channels. Source: `cudaChannelFormatKind`. */
export const channelKinds = { signed: 0, unsigned: 1, float: 2 } as const;

/** Flags of arrays; those of the driver API are the same. */
export const arrayFlags = { layered: 1, surface: 2, cubemap: 4, gather: 8 } as const;
/** Arrays whose memory comes later, as a whole or in parts. */
const laterFlags = 0xc0;

export const texelBytes = ({ bits, channels }: Format): number => (bits / 8) * channels;

/** Rows of a plane, and planes or layers, at least 1. */
export const rowsOf = ({ extent }: Pick<CudaArray, 'extent'>): number => Math.max(1, extent.height);
export const planesOf = ({ extent }: Pick<CudaArray, 'extent'>): number => Math.max(1, extent.depth);

/** The format at a `cudaChannelFormatDesc`. */
export function formatAt(state: CudaState, at: bigint): Format {
  const [x = 0, y = 0, z = 0, w = 0, kind = 0] = [0n, 4n, 8n, 12n, 16n].map(
    (offset) => state.memory.u32(at + offset) ?? fail('cudaErrorInvalidValue'),
  );
  const bits = [x, y, z, w];
  const channels = bits.filter((n) => n !== 0).length;
  if (bits.some((n, i) => n !== (i < channels ? x : 0))) fail('cudaErrorInvalidChannelDescriptor');
  return checkedFormat({ kind, bits: x, channels });
}

export function checkedFormat(format: Format): Format {
  const { kind, bits, channels } = format;
  const isWidth = bits === 16 || bits === 32 || (bits === 8 && kind !== channelKinds.float);
  if (!isWidth || kind > channelKinds.float || ![1, 2, 4].includes(channels)) fail('cudaErrorInvalidChannelDescriptor');
  return format;
}

export function putFormat(state: CudaState, to: bigint, { kind, bits, channels }: Format): void {
  const words = [...[0, 1, 2, 3].map((i) => (i < channels ? bits : 0)), kind];
  must(state.memory.put(to, new Uint8Array(new Uint32Array(words).buffer)));
}

export function extentAt({ memory }: CudaState, at: bigint): Extent {
  const [width = 0, height = 0, depth = 0] = [0n, 8n, 16n].map((offset) =>
    Number(memory.u64(at + offset) ?? fail('cudaErrorInvalidValue')),
  );
  return { width, height, depth };
}

/** Limits of extents, as of every device of NVIDIA since compute capability 3.0. Source: CUDA C++ Programming Guide, technical specifications. */
const most = { line: 131_072, plane: [131_072, 65_536], box: 16_384, cube: 32_768, layers: 2048, layeredLine: 32_768 } as const;

function checkExtent({ width, height, depth }: Extent, flags: number): void {
  const isLayered = (flags & arrayFlags.layered) !== 0;
  const isCube = (flags & arrayFlags.cubemap) !== 0;
  const isBad =
    width === 0 ||
    ((flags & arrayFlags.gather) !== 0 && !isLayered && (depth > 0 || height === 0)) ||
    (isCube && (width !== height || depth === 0 || depth % 6 !== 0 || (!isLayered && depth !== 6))) ||
    (isLayered && (depth === 0 || depth > most.layers)) ||
    (!isLayered && !isCube && depth > 0 && height === 0);
  if ((flags & laterFlags) !== 0) fail('cudaErrorNotSupported');
  if (isBad || !isWithin({ width, height, depth }, isLayered || isCube)) fail('cudaErrorInvalidValue');
}

function isWithin({ width, height, depth }: Extent, hasLayers: boolean): boolean {
  if (hasLayers) return width <= most.layeredLine && height <= most.cube;
  if (depth > 0) return Math.max(width, height, depth) <= most.box;
  return height > 0 ? width <= most.plane[0] && height <= most.plane[1] : width <= most.line;
}

const levelExtent = ({ width, height, depth }: Extent, flags: number, level: number): Extent => {
  const half = (n: number): number => (n === 0 ? 0 : Math.max(1, n >>> level));
  const hasLayers = (flags & (arrayFlags.layered | arrayFlags.cubemap)) !== 0;
  return { width: half(width), height: half(height), depth: hasLayers ? depth : half(depth) };
};

/** Rows start where vectors of 16 bytes may, as the whole array does. */
const rowAlignment = 16;

type Shape = Pick<CudaArray, 'format' | 'extent' | 'flags' | 'pitch' | 'slice' | 'offset'>;

function shapeOf(format: Format, extent: Extent, flags: number, offset: number): Shape {
  const pitch = Math.ceil((extent.width * texelBytes(format)) / rowAlignment) * rowAlignment;
  return { format, extent, flags, pitch, slice: pitch * Math.max(1, extent.height), offset };
}

/** An array, with its handle. */
export function allocateArray(state: CudaState, format: Format, extent: Extent, flags: number): bigint {
  checkExtent(extent, flags);
  const shape = shapeOf(format, extent, flags, 0);
  const allocation = allocateImages(state, shape.slice * planesOf(shape));
  return addArray(state, { ...shape, allocation, isLevel: false });
}

/** Addresses in images are counted with 32 bits. */
function allocateImages(state: CudaState, bytes: number): Allocation {
  return bytes < 2 ** 32 ? allocate(state, bytes) : fail('cudaErrorMemoryAllocation');
}

function addArray(state: CudaState, array: CudaArray): bigint {
  const handle = state.newHandle();
  state.arrays.set(handle, array);
  return handle;
}

/** A mipmapped array with at most as many levels as there are. */
export function allocateMipmap(state: CudaState, format: Format, extent: Extent, count: number, flags: number): bigint {
  checkExtent(extent, flags);
  const longest = Math.max(extent.width, extent.height, flags & (arrayFlags.layered | arrayFlags.cubemap) ? 0 : extent.depth);
  const levels = Math.max(1, Math.min(count, 1 + Math.floor(Math.log2(longest))));
  let bytes = 0;
  const shapes = Array.from({ length: levels }, (_, level) => {
    const shape = shapeOf(format, levelExtent(extent, flags, level), flags, bytes);
    bytes += Math.ceil((shape.slice * planesOf(shape)) / 256) * 256;
    return shape;
  });
  const allocation = allocateImages(state, bytes);
  const handle = state.newHandle();
  const handles = shapes.map((shape) => addArray(state, { ...shape, allocation, isLevel: true }));
  state.mipmaps.set(handle, { levels: handles, allocation });
  return handle;
}

export const arrayOf = ({ arrays }: CudaState, handle: bigint): CudaArray => arrays.get(handle) ?? fail('cudaErrorInvalidResourceHandle');
export const mipmapOf = ({ mipmaps }: CudaState, handle: bigint): MipmappedArray =>
  mipmaps.get(handle) ?? fail('cudaErrorInvalidResourceHandle');

export function freeArray(state: CudaState, handle: bigint): void {
  if (handle === 0n) return;
  const { allocation, isLevel } = arrayOf(state, handle);
  // The mipmapped array has the memory of its levels.
  if (isLevel) return;
  state.arrays.delete(handle);
  freeImages(state, allocation);
}

export function freeMipmap(state: CudaState, handle: bigint): void {
  if (handle === 0n) return;
  const { levels, allocation } = mipmapOf(state, handle);
  for (const level of levels) state.arrays.delete(level);
  state.mipmaps.delete(handle);
  freeImages(state, allocation);
}

function freeImages(state: CudaState, allocation: Allocation): void {
  state.shadows.get(allocation)?.image.free();
  state.shadows.delete(allocation);
  state.allocations.remove(allocation);
  allocation.buffer.free();
}

const putHandle = (state: CudaState, to: bigint, handle: bigint): void => must(state.memory.putU64(to, handle));

export function levelOf(state: CudaState, to: bigint, mipmap: bigint, level: number): void {
  putHandle(state, to, mipmapOf(state, mipmap).levels[level] ?? fail('cudaErrorInvalidValue'));
}

/** Bytes of a texture of linear memory at most. Source: recorded on an NVIDIA H200. */
const linearBytes = 2 ** 32;

/** Words of a `cudaChannelFormatDesc` at a place that the caller gives. */
function createFormat({ memory }: CudaState, to: bigint, ...words: number[]): bigint {
  memory.put(to, new Uint8Array(new Int32Array(words).buffer));
  return to;
}

export const arrays: Readonly<Record<string, Row>> = {
  cudaCreateChannelDesc: plainRow(['pointer', 'int', 'int', 'int', 'int', 'int'], 'pointer', createFormat),
  cudaMallocArray: row(['pointer', 'pointer', 'size', 'size', 'uint'], (state, to, format, width, height, flags) => {
    if (flags & (arrayFlags.layered | arrayFlags.cubemap)) fail('cudaErrorInvalidValue');
    putHandle(state, to, allocateArray(state, formatAt(state, format), { width, height, depth: 0 }, flags));
  }),
  cudaMalloc3DArray: row(['pointer', 'pointer', 'pointer', 'uint'], (state, to, format, extent, flags) =>
    putHandle(state, to, allocateArray(state, formatAt(state, format), extentAt(state, extent), flags)),
  ),
  cudaMallocMipmappedArray: row(['pointer', 'pointer', 'pointer', 'uint', 'uint'], (state, to, format, extent, levels, flags) =>
    putHandle(state, to, allocateMipmap(state, formatAt(state, format), extentAt(state, extent), levels, flags)),
  ),
  cudaGetMipmappedArrayLevel: row(['pointer', 'pointer', 'uint'], levelOf),
  cudaFreeArray: row(['pointer'], freeArray),
  cudaFreeMipmappedArray: row(['pointer'], freeMipmap),
  cudaArrayGetInfo: row(['pointer', 'pointer', 'pointer', 'pointer'], (state, format, extent, flags, handle) => {
    const array = arrayOf(state, handle);
    const { width, height, depth } = array.extent;
    if (format !== 0n) putFormat(state, format, array.format);
    if (extent !== 0n) for (const [i, n] of [width, height, depth].entries()) must(state.memory.putU64(extent + BigInt(8 * i), n));
    if (flags !== 0n) must(state.memory.putU32(flags, array.flags));
  }),
  cudaDeviceGetTexture1DLinearMaxWidth: row(['pointer', 'pointer', 'int'], (state, to, format, device) => {
    if (device !== 0) fail('cudaErrorInvalidDevice');
    must(state.memory.putU64(to, Math.floor(linearBytes / texelBytes(formatAt(state, format)))));
  }),
  cudaGetChannelDesc: row(['pointer', 'pointer'], (state, to, handle) => putFormat(state, to, arrayOf(state, handle).format)),
};
