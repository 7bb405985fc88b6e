/**
 * Textures and surfaces on a device whose driver has images of its own. An array is linear memory there too, which copies of the program use; its
 * image has the same texels while kernels run.
 */
import type { DeviceImage, LinearTexels } from '../../device/index.ts';
import type { CudaArray, Resource, Sampler, ShadowImage } from './array-types.ts';
import { arrayOf, planesOf, rowsOf, texelBytes } from './arrays.ts';
import { type CudaState, fail } from './state.ts';

/** A texture or a surface, with the handle that kernels are given. */
export interface MadeObject {
  readonly handle: bigint;
  destroy(): void;
}

/** The images that a state may use. */
const imagesOf = ({ options: { device } }: CudaState): NonNullable<typeof device.images> => device.images ?? fail('cudaErrorNotSupported');

/** The image of an array's memory, which is created when a texture or a surface first needs it. */
function shadowOf(state: CudaState, { allocation }: CudaArray): ShadowImage {
  const known = state.shadows.get(allocation);
  if (known) return known;
  const mipmap = [...state.mipmaps.values()].find((each) => each.allocation === allocation);
  const levels = mipmap
    ? mipmap.levels.map((handle) => arrayOf(state, handle))
    : [...state.arrays.values()].filter((array) => array.allocation === allocation);
  const { format, extent, flags } = levels[0]!;
  const shape = { format, ...extent, flags, ...(mipmap ? { levels: levels.length } : {}) };
  const image = imagesOf(state).create(shape) ?? fail('cudaErrorMemoryAllocation');
  const shadow: ShadowImage = { image, levels, textures: 0, surfaces: 0 };
  state.shadows.set(allocation, shadow);
  return shadow;
}

/** Where the texels of an array are in linear memory. */
function texelsOf(array: CudaArray): LinearTexels {
  const { allocation, offset, pitch, slice, extent, format } = array;
  const size = [extent.width * texelBytes(format), rowsOf(array), planesOf(array)] as const;
  return { address: allocation.address + BigInt(offset), pitch, slice, size };
}

function copyLevels({ image, levels }: ShadowImage, direction: 'to' | 'from'): void {
  for (const [level, array] of levels.entries()) if (!image.copy(level, texelsOf(array), direction)) fail('cudaErrorUnknown');
}

/** Gives images what arrays have: before a launch. */
export function fillImages(state: CudaState): void {
  for (const shadow of state.shadows.values()) if (shadow.textures + shadow.surfaces > 0) copyLevels(shadow, 'to');
}

/** Gives arrays what a launch may have written to surfaces. */
export function readImages(state: CudaState): void {
  for (const shadow of state.shadows.values()) if (shadow.surfaces > 0) copyLevels(shadow, 'from');
}

/** The image that an array belongs to, and its level if it is one of several. */
function partOf(state: CudaState, array: CudaArray): { readonly shadow: ShadowImage; readonly level?: number } {
  const shadow = shadowOf(state, array);
  return { shadow, ...(array.isLevel ? { level: shadow.levels.indexOf(array) } : {}) };
}

/** A handle that counts as a use of an image until it is destroyed. */
function counted(
  handle: bigint | undefined,
  shadow: ShadowImage | undefined,
  what: 'textures' | 'surfaces',
  end: (handle: bigint) => void,
): MadeObject {
  if (handle === undefined) fail('cudaErrorInvalidValue');
  if (shadow) shadow[what]++;
  return {
    handle: handle!,
    destroy() {
      if (shadow) shadow[what]--;
      end(handle!);
    },
  };
}

/** A texture of the driver. */
export function textureOnDevice(state: CudaState, resource: Resource, sampler: Sampler): MadeObject {
  const images = imagesOf(state);
  const { arrays: [array] = [], isMipmap = false, format } = resource;
  const end = (handle: bigint): void => images.destroyTexture(handle);
  if (array) {
    const { shadow, level } = partOf(state, array);
    const source = { kind: 'image', image: shadow.image, ...(isMipmap || level === undefined ? {} : { level }) } as const;
    return counted(images.texture(source, sampler), shadow, 'textures', end);
  }
  const [{ address, width, height, pitch }] = resource.images as readonly [Resource['images'][number]];
  const source = resource.isBuffer
    ? ({ kind: 'linear', address, format, bytes: pitch } as const)
    : ({ kind: 'pitched', address, format, width, height, pitch } as const);
  return counted(images.texture(source, sampler), undefined, 'textures', end);
}

/** A surface of the driver. */
export function surfaceOnDevice(state: CudaState, { arrays: [array] = [] }: Resource): MadeObject {
  const images = imagesOf(state);
  if (!array) fail('cudaErrorInvalidValue');
  const { shadow, level } = partOf(state, array!);
  const handle = images.surface(shadow.image as DeviceImage, level);
  return counted(handle, shadow, 'surfaces', (each) => images.destroySurface(each));
}
