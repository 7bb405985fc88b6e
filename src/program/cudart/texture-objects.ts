/**
 * Textures and surfaces. A handle is the address of a descriptor in memory of the device (`src/ir/texture.ts`), which kernels read.
 * Source: CUDA Runtime API, `cudaCreateTextureObject`, and its structures.
 */
import { texelDecoders, textureHead, textureImage, textureMagic } from '../../device/textures.ts';
import type { CudaArray, Format, Image, Resource, Sampler, TextureObject } from './array-types.ts';
import { arrayFlags, arrayOf, channelKinds, formatAt, mipmapOf, planesOf, rowsOf, texelBytes } from './arrays.ts';
import { allocate } from './device-memory.ts';
import { type MadeObject, surfaceOnDevice, textureOnDevice } from './device-textures.ts';
import { must, type Row, row } from './row.ts';
import { byteOfLight, linearLight } from './srgb.ts';
import { type CudaState, fail } from './state.ts';

export const resourceTypes = { array: 0, mipmap: 1, linear: 2, pitched: 3 } as const;
/** Bytes of the structures, and where the union of a resource starts. */
export const structBytes = { resource: 144, sampler: 72, view: 112 } as const;
const union = 8n;

/** Textures of bytes start at multiples of these. Source: `cudaDeviceProp`, textureAlignment and texturePitchAlignment. */
const alignment = { address: 512n, pitch: 32 } as const;

export function arrayResource(list: readonly CudaArray[]): Resource {
  const [first] = list as readonly [CudaArray];
  const hasLayers = (first.flags & (arrayFlags.layered | arrayFlags.cubemap)) !== 0;
  const images = list.map((array): Image => {
    const { allocation, offset, extent, pitch, slice } = array;
    const depth = hasLayers ? 1 : planesOf(array);
    return { address: allocation.address + BigInt(offset), width: extent.width, height: rowsOf(array), depth, pitch, slice };
  });
  return {
    format: first.format,
    images,
    layers: hasLayers ? planesOf(first) : 1,
    isBuffer: false,
    arrays: list,
    isCube: (first.flags & arrayFlags.cubemap) !== 0,
  };
}

export const mipmapResource = (state: CudaState, handle: bigint): Resource => ({
  ...arrayResource(mipmapOf(state, handle).levels.map((level) => arrayOf(state, level))),
  isMipmap: true,
});

/** Texels one behind the other at an address of the device. */
export function linearResource(state: CudaState, pointer: bigint, format: Format, bytes: number): Resource {
  const width = Math.floor(bytes / texelBytes(format));
  return bufferResource(state, pointer, { format, width, height: 1, pitch: width * texelBytes(format) }, true);
}

export interface Pitched {
  readonly format: Format;
  readonly width: number;
  readonly height: number;
  readonly pitch: number;
}

export function pitchedResource(state: CudaState, pointer: bigint, shape: Pitched): Resource {
  const { format, width, pitch } = shape;
  if (width * texelBytes(format) > pitch || pitch % alignment.pitch !== 0) fail('cudaErrorInvalidValue');
  return bufferResource(state, pointer, shape, false);
}

function bufferResource(state: CudaState, pointer: bigint, { format, width, height, pitch }: Pitched, isBuffer: boolean): Resource {
  // The runtime does not ask whether the memory is as large: a fetch behind it is an error of the kernel.
  const found = state.allocations.find(pointer);
  if (!found || (pointer - found.allocation.address) % alignment.address !== 0n) fail('cudaErrorInvalidValue');
  const image = { address: pointer, width, height, depth: 1, pitch, slice: pitch * height };
  return { format, images: [image], layers: 1, isBuffer, isCube: false };
}

/** The resource at a `cudaResourceDesc`. */
function resourceAt(state: CudaState, at: bigint): Resource {
  const { memory } = state;
  const type = memory.u32(at) ?? fail('cudaErrorInvalidValue');
  const long = (offset: bigint): bigint => memory.u64(at + union + offset) ?? fail('cudaErrorInvalidValue');
  if (type === resourceTypes.array) return arrayResource([arrayOf(state, long(0n))]);
  if (type === resourceTypes.mipmap) return mipmapResource(state, long(0n));
  if (type === resourceTypes.linear) return linearResource(state, long(0n), formatAt(state, at + union + 8n), Number(long(32n)));
  if (type !== resourceTypes.pitched) fail('cudaErrorInvalidValue');
  const format = formatAt(state, at + union + 8n);
  return pitchedResource(state, long(0n), { format, width: Number(long(32n)), height: Number(long(40n)), pitch: Number(long(48n)) });
}

/** The sampler at a `cudaTextureDesc`. */
function samplerAt(state: CudaState, at: bigint): Sampler {
  const bytes = state.memory.slice(at, structBytes.sampler)?.slice() ?? fail('cudaErrorInvalidValue');
  const view = new DataView(bytes.buffer);
  const word = (offset: number): number => view.getUint32(offset, true);
  const float = (offset: number): number => view.getFloat32(offset, true);
  return {
    addressMode: [0, 4, 8].map(word),
    filterMode: word(12),
    isNormalizedFloat: word(16) === 1,
    isSrgb: word(20) !== 0,
    border: [24, 28, 32, 36].map(float),
    normalizedCoords: word(40),
    mipFilter: word(48),
    levelBias: float(52),
    minLevel: float(56),
    maxLevel: float(60),
    isSeamless: word(68) !== 0,
  };
}

/** How a channel becomes a number. */
function decoderOf({ kind, bits }: Format, { isNormalizedFloat, isSrgb }: Sampler): number {
  if (kind === channelKinds.float) return bits === 16 ? texelDecoders.half : texelDecoders.unsigned;
  const isSigned = kind === channelKinds.signed;
  if (!isNormalizedFloat || bits === 32) return isSigned ? texelDecoders.signed : texelDecoders.unsigned;
  if (isSrgb && bits === 8 && !isSigned) return texelDecoders.srgb;
  return isSigned ? texelDecoders.signedNormalized : texelDecoders.unsignedNormalized;
}

const float = new Float32Array(1);
const wordOf = (value: number): number => {
  float[0] = value;
  return new Uint32Array(float.buffer)[0]!;
};

const plain: Sampler = {
  ...{ addressMode: [0, 0, 0], filterMode: 0, isNormalizedFloat: false, isSrgb: false, border: [0, 0, 0, 0], normalizedCoords: 0 },
  ...{ mipFilter: 0, levelBias: 0, minLevel: 0, maxLevel: 0, isSeamless: false },
};

/** Numbers of channel types and orders that queries give. Source: PTX ISA 9.0, 5.3, which has them from OpenCL. */
const channelTypes = {
  normalized: { signed: { 8: 0x10d0, 16: 0x10d1 }, unsigned: { 8: 0x10d2, 16: 0x10d3 } },
  signed: { 8: 0x10d7, 16: 0x10d8, 32: 0x10d9 },
  unsigned: { 8: 0x10da, 16: 0x10db, 32: 0x10dc },
  float: { 16: 0x10dd, 32: 0x10de },
} as const;
const channelOrders: Readonly<Record<number, number>> = { 1: 0x10b0, 2: 0x10b2, 4: 0x10b5 };

function channelTypeOf({ kind, bits }: Format, { isNormalizedFloat }: Sampler): number {
  const of = (list: Readonly<Record<number, number>>): number => list[bits] ?? 0;
  if (kind === channelKinds.float) return of(channelTypes.float);
  const types = isNormalizedFloat ? channelTypes.normalized : channelTypes;
  return of(kind === channelKinds.signed ? types.signed : types.unsigned);
}

/** A word of the border in the format of the texels: what it has too much is cut off, a part of a range is rounded. Source: recorded on an NVIDIA H200. */
function borderWord(value: number, channel: number, { bits }: Format, decoder: number): number {
  const unused = 32 - bits;
  if (decoder === texelDecoders.srgb && channel < 3) return wordOf(linearLight(byteOfLight(value)));
  if (decoder === texelDecoders.signed) return (wordOf(value) << unused) >> unused;
  if (decoder === texelDecoders.unsigned) return (wordOf(value) << unused) >>> unused;
  if (decoder === texelDecoders.half) return halfWord(value);
  const isSigned = decoder === texelDecoders.signedNormalized;
  const most = 2 ** (isSigned ? bits - 1 : bits) - 1;
  const inRange = Math.min(1, Math.max(isSigned ? -1 : 0, value));
  const exact = Math.fround(inRange * most);
  const near = Math.round(exact);
  const even = near - exact === 0.5 && near % 2 !== 0 ? near - 1 : near;
  return wordOf(even / most);
}

/** A float without the bits that a half does not have. */
function halfWord(value: number): number {
  const word = wordOf(value);
  const size = word & 0x7fff_ffff;
  if (size >= 0x7f80_0000) return word;
  // Halves below 2^-14 have fewer bits.
  const missing = 13 + Math.max(0, 113 - (size >>> 23));
  return missing > 31 ? word & 0x8000_0000 : (word & ~(2 ** missing - 1)) >>> 0;
}

/** The descriptor's bytes. */
function descriptorBytes(magic: number, { format, images, layers, isBuffer, isMipmap }: Resource, sampler: Sampler): Uint8Array {
  const table = textureHead.bytes + textureImage.bytes * images.length;
  const isSrgb = decoderOf(format, sampler) === texelDecoders.srgb;
  const view = new DataView(new ArrayBuffer(table + (isSrgb ? 4 * 256 : 0)));
  if (isSrgb) for (let byte = 0; byte < 256; byte++) view.setFloat32(table + 4 * byte, linearLight(byte), true);
  const put = (at: number, value: number): void => view.setUint32(at, value >>> 0, true);
  const decoder = decoderOf(format, sampler);
  const words: readonly (readonly [number, number])[] = [
    [textureHead.magic, magic],
    [textureHead.levels, images.length],
    [textureHead.layers, layers],
    [textureHead.channels, format.channels],
    [textureHead.channelBytes, format.bits / 8],
    [textureHead.texelBytes, texelBytes(format)],
    [textureHead.decoder, decoder],
    [textureHead.isLinear, sampler.filterMode],
    [textureHead.isNormalized, isMipmap || sampler.normalizedCoords !== 0 ? 1 : 0],
    [textureHead.isMipLinear, sampler.mipFilter],
    [textureHead.levelBias, wordOf(sampler.levelBias)],
    [textureHead.minLevel, wordOf(sampler.minLevel)],
    [textureHead.maxLevel, wordOf(sampler.maxLevel)],
    [textureHead.isBuffer, isBuffer ? 1 : 0],
    [textureHead.table, table],
    [textureHead.channelType, channelTypeOf(format, sampler)],
    [textureHead.channelOrder, channelOrders[format.channels] ?? 0],
  ];
  for (const [at, value] of words) put(at, value);
  for (const [i, at] of textureHead.addressMode.entries()) put(at, sampler.addressMode[i] ?? 0);
  for (const [i, value] of sampler.border.entries())
    put(textureHead.border + 4 * i, i < format.channels ? borderWord(value, i, format, decoder) : 0);
  for (const [level, image] of images.entries()) {
    const at = textureHead.bytes + textureImage.bytes * level;
    view.setBigUint64(at + textureImage.address, image.address, true);
    for (const name of ['width', 'height', 'depth', 'pitch', 'slice'] as const) put(at + textureImage[name], image[name]);
  }
  return new Uint8Array(view.buffer);
}

/** Puts a descriptor into memory of the device. A kernel that uses its address after it is destroyed finds no descriptor. */
function makeObject(state: CudaState, bytes: Uint8Array): MadeObject {
  const descriptor = allocate(state, bytes.length);
  descriptor.buffer.write(bytes);
  return {
    handle: descriptor.address,
    destroy() {
      descriptor.buffer.write(new Uint8Array(4));
      state.allocations.remove(descriptor);
      descriptor.buffer.free();
    },
  };
}

/** Source: recorded on an NVIDIA H200. */
function checkSampler({ format, isCube }: Resource, { filterMode, addressMode, isNormalizedFloat, mipFilter, isSeamless }: Sampler): void {
  const isFloat = format.kind === channelKinds.float;
  if (addressMode.some((mode) => mode > 3) || filterMode > 1 || mipFilter > 1) fail('cudaErrorInvalidValue');
  if (isNormalizedFloat && (isFloat || format.bits === 32)) fail('cudaErrorInvalidNormSetting');
  if (filterMode === 1 && !isFloat && !isNormalizedFloat) fail('cudaErrorInvalidFilterSetting');
  // Filters across the edges of cubes are not supported.
  if (isCube && isSeamless && filterMode === 1) fail('cudaErrorNotSupported');
}

export function createTexture(state: CudaState, resource: Resource, sampler: Sampler, bytes: [Uint8Array, Uint8Array]): bigint {
  checkSampler(resource, sampler);
  const isOnDevice = state.options.device.images !== undefined;
  const { handle, destroy } = isOnDevice
    ? textureOnDevice(state, resource, sampler)
    : makeObject(state, descriptorBytes(textureMagic.texture, resource, sampler));
  state.textures.set(handle, { destroy, resource: bytes[0], sampler: bytes[1] });
  return handle;
}

export function createSurface(state: CudaState, resource: Resource, bytes: Uint8Array): bigint {
  const isOnDevice = state.options.device.images !== undefined;
  const { handle, destroy } = isOnDevice
    ? surfaceOnDevice(state, resource)
    : makeObject(state, descriptorBytes(textureMagic.surface, resource, plain));
  state.surfaces.set(handle, { destroy, resource: bytes, sampler: new Uint8Array() });
  return handle;
}

/** Destroys an object, if it is one. */
export function destroyObject(objects: Map<bigint, TextureObject>, handle: bigint): void {
  const object = objects.get(handle);
  objects.delete(handle);
  object?.destroy();
}

const bytesAt = ({ memory }: CudaState, at: bigint, count: number): Uint8Array =>
  memory.slice(at, count)?.slice() ?? fail('cudaErrorInvalidValue');

const known = (objects: Map<bigint, TextureObject>, handle: bigint): TextureObject => objects.get(handle) ?? fail('cudaErrorInvalidValue');

export const textureObjects: Readonly<Record<string, Row>> = {
  cudaCreateTextureObject: row(['pointer', 'pointer', 'pointer', 'pointer'], (state, to, resource, sampler, view) => {
    if (sampler === 0n) fail('cudaErrorInvalidResourceHandle');
    if (view !== 0n && state.memory.u32(view) !== 0) fail('cudaErrorNotSupported');
    const bytes: [Uint8Array, Uint8Array] = [bytesAt(state, resource, structBytes.resource), bytesAt(state, sampler, structBytes.sampler)];
    must(state.memory.putU64(to, createTexture(state, resourceAt(state, resource), samplerAt(state, sampler), bytes)));
  }),
  cudaDestroyTextureObject: row(['pointer'], (state, handle) => destroyObject(state.textures, handle)),
  cudaGetTextureObjectResourceDesc: row(['pointer', 'pointer'], (state, to, handle) =>
    must(state.memory.put(to, known(state.textures, handle).resource)),
  ),
  cudaGetTextureObjectResourceViewDesc: row(['pointer', 'pointer'], (state, to, handle) => {
    known(state.textures, handle);
    must(state.memory.put(to, new Uint8Array(structBytes.view)));
  }),
  cudaGetTextureObjectTextureDesc: row(['pointer', 'pointer'], (state, to, handle) =>
    must(state.memory.put(to, known(state.textures, handle).sampler)),
  ),
  cudaCreateSurfaceObject: row(['pointer', 'pointer'], (state, to, resource) => {
    const bytes = bytesAt(state, resource, structBytes.resource);
    if (state.memory.u32(resource) !== resourceTypes.array) fail('cudaErrorInvalidValue');
    must(state.memory.putU64(to, createSurface(state, resourceAt(state, resource), bytes)));
  }),
  cudaDestroySurfaceObject: row(['pointer'], (state, handle) => destroyObject(state.surfaces, handle)),
  cudaGetSurfaceObjectResourceDesc: row(['pointer', 'pointer'], (state, to, handle) =>
    must(state.memory.put(to, known(state.surfaces, handle).resource)),
  ),
};
