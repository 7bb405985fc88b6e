/**
 * Textures and surfaces of a driver, and the images that they show. An image has no addresses: its texels are copied from and to linear memory.
 */

/** Channels of a texel: `kind` is 0 for signed and 1 for unsigned integers, 2 for floats. */
export interface TexelFormat {
  readonly kind: number;
  readonly bits: number;
  readonly channels: number;
}

/** An image before it is created. */
export interface ImageShape {
  readonly format: TexelFormat;
  /** Axes that the image does not have are 0; layers are its depth. */
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** Those of `cudaMalloc3DArray`. */
  readonly flags: number;
  /** Levels of an image with levels. */
  readonly levels?: number;
}

/** Texels in linear memory: where the first one is, bytes from row to row, and from plane to plane. */
export interface LinearTexels {
  readonly address: bigint;
  readonly pitch: number;
  readonly slice: number;
  /** Bytes of a row, rows and planes or layers. */
  readonly size: readonly [bytes: number, rows: number, planes: number];
}

/** An image in memory of a driver, which has no addresses. */
export interface DeviceImage {
  /** Copies a level from linear memory or to it. Whether that worked. */
  copy(level: number, texels: LinearTexels, direction: 'to' | 'from'): boolean;
  free(): void;
}

/** What a texture shows: an image, one of its levels, or linear memory. */
export type TextureSource =
  | { readonly kind: 'image'; readonly image: DeviceImage; readonly level?: number }
  | { readonly kind: 'linear'; readonly address: bigint; readonly format: TexelFormat; readonly bytes: number }
  | {
      readonly kind: 'pitched';
      readonly address: bigint;
      readonly format: TexelFormat;
      readonly width: number;
      readonly height: number;
      readonly pitch: number;
    };

/** How a texture is read, by the numbers of `cudaTextureDesc`. */
export interface TextureReading {
  readonly addressMode: readonly number[];
  readonly filterMode: number;
  /** Whether integers become floats from -1 or 0 to 1. */
  readonly isNormalizedFloat: boolean;
  readonly isSrgb: boolean;
  readonly border: readonly number[];
  readonly normalizedCoords: number;
  readonly mipFilter: number;
  readonly levelBias: number;
  readonly minLevel: number;
  readonly maxLevel: number;
  readonly isSeamless: boolean;
}

/** Functions fail with undefined. */
export interface DeviceImages {
  /** An image whose texels are undefined. */
  create(shape: ImageShape): DeviceImage | undefined;
  /** The handle that kernels are given. */
  texture(source: TextureSource, reading: TextureReading): bigint | undefined;
  surface(image: DeviceImage, level?: number): bigint | undefined;
  destroyTexture(handle: bigint): void;
  destroySurface(handle: bigint): void;
}
