/**
 * Tensor maps as kernels read them: 128 bytes at a multiple of 64. The format of NVIDIA's driver is not public, and this one is its own: a
 * map that another driver made has no `magic`. Words are unsigned and little-endian.
 */

/** The bytes of a tensor map, and what it must be a multiple of. */
export const tensorMapBytes = 128;
export const tensorMapAlign = 64;
/** The first word. */
export const tensorMapMagic = 0x4d54_4d43;

/** Where fields are. `steps` and `promotion` are bytes, `box` and the corners 16 bits, `address` and `strides` 64, all others 32. */
export const tensorMap = {
  magic: 0,
  /** How many axes a tensor has; for columns of a convolution plus `columns`. */
  rank: 4,
  address: 8,
  type: 16,
  /** The logarithm of the bytes of an element. */
  shift: 20,
  /** The logarithm of the width of the swizzle in 16 bytes, 0 for none, and of the bytes that it keeps together. */
  swizzle: 24,
  atom: 28,
  /** 1 to fill with NaN what lies outside. */
  fill: 32,
  interleave: 36,
  /** Bytes from one place to the next along axes 1 to 4. */
  strides: 40,
  dims: 72,
  /** Extents of a box; of columns, channels of a pixel and pixels of a column. */
  box: 92,
  steps: 102,
  promotion: 107,
  /** Corners of the box in which a filter lies, without channels. */
  lower: 108,
  upper: 114,
} as const;

/** Added to the rank of a map for columns, and for those along the width alone: of as many pixels as the map says, or of 128. */
export const columns = 16;
export const columnsOfWidth = { w: 32, w128: 48 } as const;

/** Types of elements by their number, with the bytes of one, whether NaN may stand for what lies outside, and whether loads round elements. */
export const tensorTypes = [
  { name: 'u8', bytes: 1 },
  { name: 'u16', bytes: 2 },
  { name: 'u32', bytes: 4 },
  { name: 's32', bytes: 4 },
  { name: 'u64', bytes: 8 },
  { name: 's64', bytes: 8 },
  { name: 'f16', bytes: 2, isFloat: true },
  { name: 'f32', bytes: 4, isFloat: true },
  { name: 'f64', bytes: 8, isFloat: true },
  { name: 'bf16', bytes: 2, isFloat: true },
  { name: 'f32.ftz', bytes: 4, isFloat: true },
  { name: 'tf32', bytes: 4, isFloat: true, isRounded: true },
  { name: 'tf32.ftz', bytes: 4, isFloat: true, isRounded: true },
] as const;

/** What lies outside of a tensor of floats that is filled with NaN, of any type: as often as it fits. Source: recorded on an NVIDIA H200. */
export const outsideNaN = 0x7ff7_7ff7_7ff7_7ff7n;
