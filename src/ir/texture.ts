/**
 * Descriptors of textures and surfaces in memory of the device. A handle, as PTX has it in a register, is the address of one; the host writes
 * it when the object is created, and kernels read it. All of it is little-endian: a head, and behind it an image for each level.
 */

/** The first word of a descriptor. An object that was destroyed has 0 there, so that a kernel that uses it stops. */
export const textureMagic = { texture: 0x5854_5543, surface: 0x4653_5543 } as const;

/** Offsets of the words of the head, in bytes. */
export const textureHead = {
  magic: 0,
  /** Images behind the head: one, or as many as a mipmap has levels. */
  levels: 4,
  /** Layers, for a cubemap 6 for each cube; 1 without layers. */
  layers: 8,
  channels: 12,
  channelBytes: 16,
  texelBytes: 20,
  /** A number of `texelDecoders`. */
  decoder: 24,
  /** 1 if texels between others are interpolated. */
  isLinear: 28,
  /** 1 if coordinates are from 0 to 1. */
  isNormalized: 32,
  /** Numbers of `addressModes`, for each axis. */
  addressMode: [36, 40, 44],
  /** 1 if levels between others are interpolated. */
  isMipLinear: 48,
  /** Floats: added to a level, and the least and the greatest level. */
  levelBias: 52,
  minLevel: 56,
  maxLevel: 60,
  /** What `txq` and `suq` give. */
  channelType: 64,
  channelOrder: 68,
  /** 1 for bytes that are no array, whose texels have the coordinates of integers. */
  isBuffer: 72,
  /** The texel outside of a texture with the address mode `border`: four words as results have them. */
  border: 80,
  /** Where the floats of bytes of sRGB are, in bytes from the start of the descriptor. */
  table: 96,
  /** Where images start. */
  bytes: 128,
} as const;

/** Offsets in an image: where its texels are, its extent, and the distance of rows and of planes or layers in bytes. */
export const textureImage = { address: 0, width: 8, height: 12, depth: 16, pitch: 20, slice: 24, bytes: 32 } as const;

/** How a channel becomes a word of the result. */
export const texelDecoders = { unsigned: 0, signed: 1, half: 2, unsignedNormalized: 3, signedNormalized: 4, srgb: 5 } as const;

export const addressModes = { wrap: 0, clamp: 1, mirror: 2, border: 3 } as const;
