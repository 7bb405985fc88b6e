/** Arrays, textures and surfaces by the driver API. Structures are those of CUDA Driver API, data types. */
import { arrayVolume, copyVolume, memoryVolume, type Size, type Volume } from './array-copies.ts';
import type { Extent, Format, Resource, Sampler } from './array-types.ts';
import { allocateArray, allocateMipmap, arrayOf, channelKinds, checkedFormat, freeArray, freeMipmap, levelOf } from './arrays.ts';
import { inContext } from './driver-row.ts';
import { must, type Row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import {
  arrayResource,
  createSurface,
  createTexture,
  destroyObject,
  linearResource,
  mipmapResource,
  pitchedResource,
  resourceTypes,
  structBytes,
} from './texture-objects.ts';
import { work } from './work.ts';

/** Formats by the numbers of `CUarray_format`. */
const formats: Readonly<Record<number, readonly [kind: number, bits: number]>> = {
  1: [channelKinds.unsigned, 8],
  2: [channelKinds.unsigned, 16],
  3: [channelKinds.unsigned, 32],
  8: [channelKinds.signed, 8],
  9: [channelKinds.signed, 16],
  10: [channelKinds.signed, 32],
  16: [channelKinds.float, 16],
  32: [channelKinds.float, 32],
};

function formatOf(number: number, channels: number): Format {
  const [kind, bits] = formats[number] ?? fail('cudaErrorInvalidValue');
  if (![1, 2, 4].includes(channels)) fail('cudaErrorInvalidValue');
  return checkedFormat({ kind: kind!, bits: bits!, channels });
}

const numberOf = ({ kind, bits }: Format): number =>
  Number(Object.entries(formats).find(([, [k, b]]) => k === kind && b === bits)?.[0] ?? 0);

const long = ({ memory }: CudaState, at: bigint): bigint => memory.u64(at) ?? fail('cudaErrorInvalidValue');
const size = (state: CudaState, at: bigint): number => Number(long(state, at));
const word = ({ memory }: CudaState, at: bigint): number => memory.u32(at) ?? fail('cudaErrorInvalidValue');

interface Described {
  readonly format: Format;
  readonly extent: Extent;
  readonly flags: number;
}

/** A `CUDA_ARRAY_DESCRIPTOR`. */
function planeAt(state: CudaState, at: bigint): Described {
  const extent = { width: size(state, at), height: size(state, at + 8n), depth: 0 };
  return { format: formatOf(word(state, at + 16n), word(state, at + 20n)), extent, flags: 0 };
}

/** A `CUDA_ARRAY3D_DESCRIPTOR`. */
function boxAt(state: CudaState, at: bigint): Described {
  const extent = { width: size(state, at), height: size(state, at + 8n), depth: size(state, at + 16n) };
  return { format: formatOf(word(state, at + 24n), word(state, at + 28n)), extent, flags: word(state, at + 32n) };
}

function putDescriptor(state: CudaState, to: bigint, handle: bigint, hasDepth: boolean): void {
  const { format, extent, flags } = arrayOf(state, handle);
  const { memory } = state;
  const axes = [extent.width, extent.height, ...(hasDepth ? [extent.depth] : [])];
  for (const [i, n] of axes.entries()) must(memory.putU64(to + BigInt(8 * i), n));
  const words = [numberOf(format), format.channels, ...(hasDepth ? [flags, 0] : [])];
  for (const [i, n] of words.entries()) must(memory.putU32(to + BigInt(8 * axes.length + 4 * i), n));
}

const make = (state: CudaState, to: bigint, { format, extent, flags }: Described): void =>
  must(state.memory.putU64(to, allocateArray(state, format, extent, flags)));

// ── copies ──

/** Kinds of memory. Source: `CUmemorytype`. */
const memoryTypes = { host: 1, device: 2, array: 3, unified: 4 } as const;

/** Offsets of one side of a `CUDA_MEMCPY2D` or `CUDA_MEMCPY3D` from its start. */
const sides = {
  plane: { y: 8n, z: undefined, type: 16n, host: 24n, device: 32n, array: 40n, pitch: 48n, height: undefined },
  box: { y: 8n, z: 16n, type: 32n, host: 40n, device: 48n, array: 56n, pitch: 72n, height: 80n },
} as const;

function sideAt(state: CudaState, at: bigint, offsets: (typeof sides)['plane' | 'box'], extent: Size): () => Volume {
  const [x, y] = [size(state, at), size(state, at + offsets.y)];
  const z = offsets.z === undefined ? 0 : size(state, at + offsets.z);
  const type = word(state, at + offsets.type);
  if (type === memoryTypes.array) {
    const array = arrayOf(state, long(state, at + offsets.array));
    const volume = arrayVolume(array, [x, y, z], extent);
    return () => volume;
  }
  const wanted = type === memoryTypes.host ? 'host' : type === memoryTypes.device ? 'device' : 'any';
  if (type < memoryTypes.host || type > memoryTypes.unified) fail('cudaErrorInvalidValue');
  const pointer = long(state, at + (type === memoryTypes.host ? offsets.host : offsets.device));
  const pitch = size(state, at + offsets.pitch) || x + extent[0];
  const rows = (offsets.height === undefined ? 0 : size(state, at + offsets.height)) || y + extent[1];
  const start = pointer + BigInt(x + pitch * y + pitch * rows * z);
  return () => memoryVolume(state, start, { pitch, slice: pitch * rows }, extent, wanted);
}

function planeCopy(state: CudaState, at: bigint): () => void {
  const extent: Size = [size(state, at + 112n), size(state, at + 120n), 1];
  return volumeCopy(extent, sideAt(state, at + 56n, sides.plane, extent), sideAt(state, at, sides.plane, extent));
}

function boxCopy(state: CudaState, at: bigint): () => void {
  const extent: Size = [size(state, at + 176n), size(state, at + 184n), size(state, at + 192n)];
  return volumeCopy(extent, sideAt(state, at + 88n, sides.box, extent), sideAt(state, at, sides.box, extent));
}

const volumeCopy = (extent: Size, to: () => Volume, from: () => Volume) => (): void => {
  if (!extent.includes(0)) copyVolume(to(), from(), extent);
};

const copyRow = (prepare: typeof planeCopy): Row => inContext(['pointer'], (state, at) => work(state, 0n, 'copy', prepare(state, at)));
const copyLaterRow = (prepare: typeof planeCopy): Row =>
  inContext(['pointer', 'pointer'], (state, at, stream) => work(state, stream, 'copy', prepare(state, at)));

// ── textures and surfaces ──

/** A `CUDA_RESOURCE_DESC`. */
function resourceAt(state: CudaState, at: bigint): Resource {
  const type = word(state, at);
  const union = at + 8n;
  if (type === resourceTypes.array) return arrayResource([arrayOf(state, long(state, union))]);
  if (type === resourceTypes.mipmap) return mipmapResource(state, long(state, union));
  const format = formatOf(word(state, union + 8n), word(state, union + 12n));
  if (type === resourceTypes.linear) return linearResource(state, long(state, union), format, size(state, union + 16n));
  if (type !== resourceTypes.pitched) fail('cudaErrorInvalidValue');
  const [width, height, pitch] = [16n, 24n, 32n].map((offset) => size(state, union + offset)) as [number, number, number];
  return pitchedResource(state, long(state, union), { format, width, height, pitch });
}

/** Flags of a `CUDA_TEXTURE_DESC`. */
const samplerFlags = { asInteger: 1, normalized: 2, srgb: 16, seamless: 64 } as const;
const samplerBytes = 104;

function samplerAt(state: CudaState, at: bigint, { format }: Resource): Sampler {
  const bytes = state.memory.slice(at, samplerBytes)?.slice() ?? fail('cudaErrorInvalidValue');
  const view = new DataView(bytes.buffer);
  const flags = view.getUint32(16, true);
  const float = (offset: number): number => view.getFloat32(offset, true);
  return {
    addressMode: [0, 4, 8].map((offset) => view.getUint32(offset, true)),
    filterMode: view.getUint32(12, true),
    // Integers of 32 bits are read as they are.
    isNormalizedFloat: (flags & samplerFlags.asInteger) === 0 && format.kind !== channelKinds.float && format.bits < 32,
    isSrgb: (flags & samplerFlags.srgb) !== 0,
    border: [40, 44, 48, 52].map(float),
    normalizedCoords: flags & samplerFlags.normalized ? 1 : 0,
    mipFilter: view.getUint32(24, true),
    levelBias: float(28),
    minLevel: float(32),
    maxLevel: float(36),
    isSeamless: (flags & samplerFlags.seamless) !== 0,
  };
}

const bytesAt = ({ memory }: CudaState, at: bigint, count: number): Uint8Array =>
  memory.slice(at, count)?.slice() ?? fail('cudaErrorInvalidValue');

function createTexObject(state: CudaState, to: bigint, resourceTo: bigint, samplerTo: bigint, view: bigint): void {
  if (view !== 0n && word(state, view) !== 0) fail('cudaErrorNotSupported');
  const resource = resourceAt(state, resourceTo);
  const sampler = samplerAt(state, samplerTo, resource);
  const bytes: [Uint8Array, Uint8Array] = [bytesAt(state, resourceTo, structBytes.resource), bytesAt(state, samplerTo, samplerBytes)];
  must(state.memory.putU64(to, createTexture(state, resource, sampler, bytes)));
}

/** Of a texture of the runtime, the driver would describe the same in its own structures: only its own are kept. */
function putSampler(state: CudaState, to: bigint, handle: bigint): void {
  const { sampler } = state.textures.get(handle) ?? fail('cudaErrorInvalidValue');
  if (sampler.length !== samplerBytes) fail('cudaErrorNotSupported');
  must(state.memory.put(to, sampler));
}

export const driverArrays: Readonly<Record<string, Row>> = {
  cuArrayCreate: inContext(['pointer', 'pointer'], (state, to, at) => make(state, to, planeAt(state, at))),
  cuArray3DCreate: inContext(['pointer', 'pointer'], (state, to, at) => make(state, to, boxAt(state, at))),
  cuArrayGetDescriptor: inContext(['pointer', 'pointer'], (state, to, handle) => putDescriptor(state, to, handle, false)),
  cuArray3DGetDescriptor: inContext(['pointer', 'pointer'], (state, to, handle) => putDescriptor(state, to, handle, true)),
  cuArrayDestroy: inContext(['pointer'], (state, handle) => freeArray(state, handle || fail('cudaErrorInvalidResourceHandle'))),
  cuMipmappedArrayCreate: inContext(['pointer', 'pointer', 'uint'], (state, to, at, levels) => {
    const { format, extent, flags } = boxAt(state, at);
    must(state.memory.putU64(to, allocateMipmap(state, format, extent, levels, flags)));
  }),
  cuMipmappedArrayGetLevel: inContext(['pointer', 'pointer', 'uint'], levelOf),
  cuMipmappedArrayDestroy: inContext(['pointer'], freeMipmap),
  cuMemcpy2D: copyRow(planeCopy),
  cuMemcpy2DUnaligned: copyRow(planeCopy),
  cuMemcpy2DAsync: copyLaterRow(planeCopy),
  cuMemcpy3D: copyRow(boxCopy),
  cuMemcpy3DAsync: copyLaterRow(boxCopy),
  cuTexObjectCreate: inContext(['pointer', 'pointer', 'pointer', 'pointer'], createTexObject),
  cuTexObjectDestroy: inContext(['pointer'], (state, handle) => destroyObject(state.textures, handle)),
  cuTexObjectGetTextureDesc: inContext(['pointer', 'pointer'], putSampler),
  cuSurfObjectCreate: inContext(['pointer', 'pointer'], (state, to, at) => {
    const bytes = bytesAt(state, at, structBytes.resource);
    must(state.memory.putU64(to, createSurface(state, resourceAt(state, at), bytes)));
  }),
  cuSurfObjectDestroy: inContext(['pointer'], (state, handle) => destroyObject(state.surfaces, handle)),
};
