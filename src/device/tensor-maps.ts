/**
 * Tensor maps as hosts make them, with the rules of `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`. Source: CUDA Driver API, "Tensor
 * Map Object Management"; the bytes are those of `src/ir/tensor-map.ts`.
 */
import { columns, columnsOfWidth, tensorMap, tensorMapBytes, tensorMapMagic, tensorTypes } from '../ir/tensor-map.ts';

export { tensorMap, tensorMapAlign, tensorMapBytes, tensorMapMagic, tensorTypes } from '../ir/tensor-map.ts';

/** A type of elements. */
export type TensorType = (typeof tensorTypes)[number]['name'];

/** What maps of both kinds have. */
export interface Tensor {
  readonly type: TensorType;
  /** The address of element 0 on the device. */
  readonly address: bigint;
  /** Elements along each axis, the innermost first. */
  readonly dims: readonly (number | bigint)[];
  /** Bytes from one element to the next along axis 1 and the following ones. */
  readonly strides: readonly (number | bigint)[];
  /** Elements from one that is copied to the next along each axis; 1 without it. */
  readonly steps?: readonly number[];
  /** Bytes of the swizzle of shared memory, 0 for none. */
  readonly swizzle?: 0 | 32 | 64 | 128;
  /** Bytes that the swizzle keeps together. */
  readonly atom?: 16 | 32 | 64;
  /** What lies outside of the tensor: zero without it. */
  readonly fill?: 'zero' | 'nan';
}

/** A map for copies of boxes. */
export interface TiledTensor extends Tensor {
  /** Elements of a box along each axis. */
  readonly box: readonly number[];
}

/** A map for copies of columns of a convolution: of images, with channels innermost. */
export interface Im2colTensor extends Tensor {
  /** Corners of the box in which a filter lies, along each axis of space, the innermost first. */
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  readonly channels: number;
  readonly pixels: number;
}

/** A map for copies of columns along the width alone: of `pixels` of them, or (`w128`) of 128. */
export interface WideTensor extends Tensor {
  readonly mode: 'w' | 'w128';
  /** Corners of the box in which a filter lies, along the width. */
  readonly lower: number;
  readonly upper: number;
  readonly channels: number;
  readonly pixels: number;
}

/** The 128 bytes of a map, or why there is none. */
export type Encoded = { readonly bytes: Uint8Array } | { readonly why: string };

const typeNumber = (type: TensorType): number => tensorTypes.findIndex(({ name }) => name === type);
export const bytesOfTensorType = (type: TensorType): number => tensorTypes[typeNumber(type)]!.bytes;

/** Least and greatest places of corners, by the number of axes. */
const cornerBits: Readonly<Record<number, number>> = { 3: 15, 4: 7, 5: 4 };

/** The first rule that a tensor breaks. */
function faultOf({ type, address, dims, strides, steps, swizzle = 0, atom = 16, fill }: Tensor, inner: number): string | undefined {
  const rank = dims.length;
  const innerBytes = inner * bytesOfTensorType(type);
  const rules: readonly (readonly [boolean, string])[] = [
    [rank >= 1 && rank <= 5, `${rank} axes, but 1 to 5 are possible`],
    [strides.length >= rank - 1, `${strides.length} strides for ${rank} axes`],
    [address % 16n === 0n, 'an address that 16 does not divide'],
    [dims.every((dim) => BigInt(dim) > 0n && BigInt(dim) <= 2n ** 32n), 'an extent that is not from 1 to 2^32'],
    [
      strides.slice(0, rank - 1).every((stride) => BigInt(stride) % 16n === 0n && BigInt(stride) < 2n ** 40n),
      'a stride that 16 does not divide, or of 2^40 or more',
    ],
    [(steps ?? []).every((step) => step >= 1 && step <= 8), 'a step that is not from 1 to 8'],
    [innerBytes % 16 === 0, `rows of ${innerBytes} bytes, which 16 does not divide`],
    [swizzle === 0 || innerBytes <= swizzle, `rows of ${innerBytes} bytes, more than the swizzle`],
    [atom === 16 || swizzle === 128, 'a swizzle that keeps more than 16 bytes together, and is not one of 128'],
    [fill !== 'nan' || /f/.test(type), 'NaN for elements that are integers'],
  ];
  return rules.find(([holds]) => !holds)?.[1];
}

const clamped = (dim: number | bigint): number => Number(BigInt(dim) > 0xffff_ffffn ? 0xffff_ffffn : BigInt(dim));

function encoded({ type, address, dims, strides, steps = [], swizzle = 0, atom = 16, fill }: Tensor, kind: number): DataView {
  const view = new DataView(new ArrayBuffer(tensorMapBytes));
  const put = (offset: number, value: number): void => view.setUint32(offset, value, true);
  put(tensorMap.magic, tensorMapMagic);
  put(tensorMap.rank, dims.length + kind);
  view.setBigUint64(tensorMap.address, address, true);
  put(tensorMap.type, typeNumber(type));
  put(tensorMap.shift, Math.log2(bytesOfTensorType(type)));
  put(tensorMap.swizzle, swizzle === 0 ? 0 : Math.log2(swizzle / 16));
  put(tensorMap.atom, Math.log2(atom / 16));
  put(tensorMap.fill, fill === 'nan' ? 1 : 0);
  for (const [i, stride] of strides.slice(0, dims.length - 1).entries()) view.setBigUint64(tensorMap.strides + 8 * i, BigInt(stride), true);
  for (const [i, dim] of dims.entries()) put(tensorMap.dims + 4 * i, clamped(dim));
  for (let i = 0; i < 5; i++) view.setUint8(tensorMap.steps + i, i === 0 ? 1 : (steps[i] ?? 1));
  return view;
}

const done = (view: DataView): Encoded => ({ bytes: new Uint8Array(view.buffer) });

/** The map of a tensor for copies of boxes. */
export function encodeTiled(tensor: TiledTensor): Encoded {
  const { box, dims } = tensor;
  if (box.length < dims.length || !box.every((n) => n >= 1 && n <= 256)) return { why: 'a box with an extent that is not from 1 to 256' };
  const why = faultOf(tensor, box[0]!);
  if (why) return { why };
  const view = encoded(tensor, 0);
  for (const [i, n] of box.slice(0, dims.length).entries()) view.setUint16(tensorMap.box + 2 * i, n, true);
  return done(view);
}

/** The map of images for copies of columns. */
export function encodeIm2col(tensor: Im2colTensor): Encoded {
  const { lower, upper, channels, pixels, dims } = tensor;
  const bits = cornerBits[dims.length];
  if (bits === undefined) return { why: `${dims.length} axes, but images have 3 to 5` };
  const corners = [...lower.slice(0, dims.length - 2), ...upper.slice(0, dims.length - 2)];
  const isCorner = (n: number): boolean => n >= -(2 ** bits) && n < 2 ** bits;
  if (corners.length !== 2 * (dims.length - 2) || !corners.every(isCorner)) return { why: `a corner that has more than ${bits + 1} bits` };
  if (channels < 1 || channels > 256 || pixels < 1 || pixels > 1024) return { why: 'more than 256 channels or 1024 pixels of a column' };
  const why = faultOf(tensor, channels);
  if (why) return { why };
  const view = encoded(tensor, columns);
  view.setUint16(tensorMap.box, channels, true);
  view.setUint16(tensorMap.box + 2, pixels, true);
  for (let i = 0; i < dims.length - 2; i++) {
    view.setInt16(tensorMap.lower + 2 * i, lower[i]!, true);
    view.setInt16(tensorMap.upper + 2 * i, upper[i]!, true);
  }
  return done(view);
}

/** The map of images for copies of columns along the width. Source: CUDA Driver API, "Tensor Map Object Management". */
export function encodeWide(tensor: WideTensor): Encoded {
  const { mode, lower, upper, channels, pixels, dims } = tensor;
  if (dims.length < 3 || dims.length > 5) return { why: `${dims.length} axes, but images have 3 to 5` };
  const isCorner = (n: number): boolean => n >= -(2 ** 15) && n < 2 ** 15;
  if (!isCorner(lower) || !isCorner(upper)) return { why: 'a corner that has more than 16 bits' };
  if (channels < 1 || channels > 256 || pixels < 1 || pixels > 1024) return { why: 'more than 256 channels or 1024 pixels of a column' };
  const why = faultOf(tensor, channels);
  if (why) return { why };
  const view = encoded(tensor, columnsOfWidth[mode]);
  view.setUint16(tensorMap.box, channels, true);
  view.setUint16(tensorMap.box + 2, pixels, true);
  view.setInt16(tensorMap.lower, lower, true);
  view.setInt16(tensorMap.upper, upper, true);
  return done(view);
}
