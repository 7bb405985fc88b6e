/** What CUDA arrays, textures and surfaces are. */
import type { DeviceImage, TextureReading } from '../../device/index.ts';
import type { Allocation } from './allocations.ts';

/** A texel: channels of one width each. */
export interface Format {
  readonly kind: number;
  readonly bits: number;
  readonly channels: number;
}

export interface Extent {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

/** One image: an array, or a level of a mipmapped one. */
export interface CudaArray {
  readonly format: Format;
  /** As the program gave it: 0 for axes that the array does not have. */
  readonly extent: Extent;
  readonly flags: number;
  readonly allocation: Allocation;
  readonly offset: number;
  /** Bytes of a row, and of a plane or layer. */
  readonly pitch: number;
  readonly slice: number;
  /** Whether it is a level of a mipmapped array, which the program does not free. */
  readonly isLevel: boolean;
}

export interface MipmappedArray {
  readonly levels: readonly bigint[];
  readonly allocation: Allocation;
}

/**
 * An image of a driver that has the texels of an array, or of a mipmapped one, as well. Those in linear memory count between launches; a launch
 * copies them to the image before it, and back after it if a surface shows it.
 */
export interface ShadowImage {
  readonly image: DeviceImage;
  readonly levels: readonly CudaArray[];
  textures: number;
  surfaces: number;
}

/** A texture or a surface: how it is destroyed, and what it was created with. */
export interface TextureObject {
  destroy(): void;
  /** The bytes of a `cudaResourceDesc`, and of a `cudaTextureDesc`. */
  readonly resource: Uint8Array;
  readonly sampler: Uint8Array;
}

/** What a texture or a surface shows. */
export interface Resource {
  readonly format: Format;
  readonly images: readonly Image[];
  readonly layers: number;
  /** Bytes that are no array. */
  readonly isBuffer: boolean;
  /** The array and the levels that it shows; none if it is memory. */
  readonly arrays?: readonly CudaArray[];
  /** Whether it has levels, whose coordinates are from 0 to 1 in any case. */
  readonly isMipmap?: boolean;
  readonly isCube: boolean;
}

/** An array or a level in linear memory. */
export interface Image {
  readonly address: bigint;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly pitch: number;
  readonly slice: number;
}

/** How a texture is read. */
export type Sampler = TextureReading;
