/** What CUDA arrays, textures and surfaces are. */
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

/** A texture or a surface: its descriptor in memory of the device, and what it was created with. */
export interface TextureObject {
  readonly descriptor: Allocation;
  /** The bytes of a `cudaResourceDesc`, and of a `cudaTextureDesc`. */
  readonly resource: Uint8Array;
  readonly sampler: Uint8Array;
}
