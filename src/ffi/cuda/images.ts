/**
 * Arrays of the driver, which textures and surfaces show, and those. Source: NVIDIA, CUDA Driver API, `CUDA_ARRAY3D_DESCRIPTOR`, `CUDA_MEMCPY3D`,
 * `CUDA_RESOURCE_DESC` and `CUDA_TEXTURE_DESC`.
 */
import type { CudaHandle, Driver } from './driver.ts';

/** An array as the driver creates it. Axes that it does not have are 0; layers are its depth. */
export interface ArrayShape {
  /** `CUarray_format`, and channels of a texel. */
  readonly format: number;
  readonly channels: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** `CUDA_ARRAY3D_…`. */
  readonly flags: number;
  /** Levels of a mipmapped array. */
  readonly levels?: number;
}

/** An array, or a mipmapped one, whose levels are arrays. */
export interface DriverArray {
  readonly handle: CudaHandle;
  readonly levels: readonly CudaHandle[];
  readonly isMipmapped: boolean;
}

/** Bytes of rows, rows and planes of a copy, and the linear memory: bytes from row to row, and rows from plane to plane. */
export interface ArrayCopy {
  readonly address: bigint;
  readonly pitch: number;
  readonly rowsOfPlane: number;
  readonly bytes: number;
  readonly rows: number;
  readonly planes: number;
}

/** What a texture shows. */
export type TextureResource =
  | { readonly kind: 'array' | 'mipmap'; readonly handle: CudaHandle }
  | { readonly kind: 'linear'; readonly address: bigint; readonly format: number; readonly channels: number; readonly bytes: number }
  | {
      readonly kind: 'pitched';
      readonly address: bigint;
      readonly format: number;
      readonly channels: number;
      readonly width: number;
      readonly height: number;
      readonly pitch: number;
    };

/** How a texture is read, in the numbers of `CUDA_TEXTURE_DESC`. */
export interface TextureSampler {
  readonly addressMode: readonly number[];
  readonly filterMode: number;
  readonly flags: number;
  readonly mipFilter: number;
  readonly levelBias: number;
  readonly minLevel: number;
  readonly maxLevel: number;
  readonly border: readonly number[];
}

export interface ImageFunctions {
  /** The content is undefined. */
  createArray(shape: ArrayShape): DriverArray | undefined;
  destroyArray(array: DriverArray): boolean;
  /** Copies linear memory of the device to an array from its start, or back. */
  copyArray(array: CudaHandle, copy: ArrayCopy, direction: 'to' | 'from'): boolean;
  createTexture(resource: TextureResource, sampler: TextureSampler): bigint | undefined;
  destroyTexture(texture: bigint): boolean;
  createSurface(array: CudaHandle): bigint | undefined;
  destroySurface(surface: bigint): boolean;
}

/** Bytes of the structures. */
const bytes = { array: 40, copy: 200, resource: 144, sampler: 104 } as const;
/** `CUmemorytype`. */
const memoryTypes = { device: 2, array: 3 } as const;
/** `CUresourcetype`. */
const resourceTypes = { array: 0, mipmap: 1, linear: 2, pitched: 3 } as const;

export function imageFunctions(driver: Driver): ImageFunctions {
  const { api, handles, succeeds } = driver;
  const texture = (call: string, result: number): bigint | undefined => (succeeds(call, result) ? handles[0]! : undefined);
  return {
    createArray: (shape) => createArray(driver, shape),
    destroyArray: ({ handle, isMipmapped }) =>
      isMipmapped
        ? succeeds('cuMipmappedArrayDestroy', api.cuMipmappedArrayDestroy(handle))
        : succeeds('cuArrayDestroy', api.cuArrayDestroy(handle)),
    copyArray: (array, copy, direction) => succeeds('cuMemcpy3D', api.cuMemcpy3D_v2(copyBytes(array, copy, direction))),
    createTexture: (resource, sampler) =>
      texture('cuTexObjectCreate', api.cuTexObjectCreate(handles, resourceBytes(resource), samplerBytes(sampler), null)),
    destroyTexture: (object) => succeeds('cuTexObjectDestroy', api.cuTexObjectDestroy(object)),
    createSurface: (handle) => texture('cuSurfObjectCreate', api.cuSurfObjectCreate(handles, resourceBytes({ kind: 'array', handle }))),
    destroySurface: (object) => succeeds('cuSurfObjectDestroy', api.cuSurfObjectDestroy(object)),
  };
}

function createArray({ api, handles, handle, succeeds }: Driver, shape: ArrayShape): DriverArray | undefined {
  const view = new DataView(new ArrayBuffer(bytes.array));
  for (const [i, n] of [shape.width, shape.height, shape.depth].entries()) view.setBigUint64(8 * i, BigInt(n), true);
  for (const [i, n] of [shape.format, shape.channels, shape.flags].entries()) view.setUint32(24 + 4 * i, n, true);
  const descriptor = new Uint8Array(view.buffer);
  if (shape.levels === undefined) {
    const made = handle('cuArray3DCreate', api.cuArray3DCreate_v2(handles, descriptor));
    return made && { handle: made, levels: [made], isMipmapped: false };
  }
  const made = handle('cuMipmappedArrayCreate', api.cuMipmappedArrayCreate(handles, descriptor, shape.levels));
  if (made === undefined) return undefined;
  const levels: CudaHandle[] = [];
  for (let i = 0; i < shape.levels; i++) {
    const level = handle('cuMipmappedArrayGetLevel', api.cuMipmappedArrayGetLevel(handles, made, i));
    if (level === undefined) {
      succeeds('cuMipmappedArrayDestroy', api.cuMipmappedArrayDestroy(made));
      return undefined;
    }
    levels.push(level);
  }
  return { handle: made, levels, isMipmapped: true };
}

/** Each side of a copy has eleven words: a position, the type of memory, the host, the device, the array, pitch and rows. */
const sideWords = 11;

function copyBytes(array: CudaHandle, copy: ArrayCopy, direction: 'to' | 'from'): Uint8Array {
  const words = new BigUint64Array(bytes.copy / 8);
  const [arrayAt, linearAt] = direction === 'to' ? [sideWords, 0] : [0, sideWords];
  words[arrayAt + 4] = BigInt(memoryTypes.array);
  words[arrayAt + 7] = BigInt(array);
  words[linearAt + 4] = BigInt(memoryTypes.device);
  words[linearAt + 6] = copy.address;
  words[linearAt + 9] = BigInt(copy.pitch);
  words[linearAt + 10] = BigInt(copy.rowsOfPlane);
  for (const [i, n] of [copy.bytes, copy.rows, copy.planes].entries()) words[2 * sideWords + i] = BigInt(n);
  return new Uint8Array(words.buffer);
}

function resourceBytes(resource: TextureResource): Uint8Array {
  const view = new DataView(new ArrayBuffer(bytes.resource));
  view.setUint32(0, resourceTypes[resource.kind], true);
  if ('handle' in resource) {
    view.setBigUint64(8, BigInt(resource.handle), true);
    return new Uint8Array(view.buffer);
  }
  view.setBigUint64(8, resource.address, true);
  view.setUint32(16, resource.format, true);
  view.setUint32(20, resource.channels, true);
  const sizes = resource.kind === 'linear' ? [resource.bytes] : [resource.width, resource.height, resource.pitch];
  for (const [i, n] of sizes.entries()) view.setBigUint64(24 + 8 * i, BigInt(n), true);
  return new Uint8Array(view.buffer);
}

function samplerBytes({ addressMode, filterMode, flags, mipFilter, levelBias, minLevel, maxLevel, border }: TextureSampler): Uint8Array {
  const view = new DataView(new ArrayBuffer(bytes.sampler));
  // Anisotropy, between the flags and the filter of levels, is not used.
  for (const [i, n] of [...addressMode, filterMode, flags, 0, mipFilter].entries()) view.setUint32(4 * i, n, true);
  for (const [i, n] of [levelBias, minLevel, maxLevel, ...border].entries()) view.setFloat32(28 + 4 * i, n, true);
  return new Uint8Array(view.buffer);
}
