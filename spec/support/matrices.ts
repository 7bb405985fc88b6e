/** 8 by 8 matrices for specs: values, their layout in a warp, and their product in exact arithmetic. */
import { convertFloat, floatFormats, fmaFloat } from '../../src/base/float-exact.ts';
import { randomWords } from './lcg.ts';

export type Element = 'f32' | 'f16' | 'bf16';
export const bytes = { f32: 4, f16: 2, bf16: 2 } as const;
/** Row and first column of the elements of a lane. Source: ml-explore/mlx, mlx/backend/metal/kernels/steel/gemm/mma.h, `get_coord`. */
export function coordinates(thread: number): [row: number, column: number] {
  const quad = Math.floor(thread / 4);
  return [(quad & 4) + (Math.floor(thread / 2) % 4), (quad & 2) * 2 + (thread % 2) * 2];
}

/** Conversion of values to bytes, and back. */
export const packed = (element: Element, values: readonly bigint[]): ArrayBufferView =>
  bytes[element] === 4 ? Uint32Array.from(values, Number) : Uint16Array.from(values, Number);
export const unpacked = (element: Element, from: Uint8Array): bigint[] => {
  const { buffer: whole } = from.slice();
  return [...(bytes[element] === 4 ? new Uint32Array(whole) : new Uint16Array(whole))].map(BigInt);
};

/** Reproducible values of a format, many with all significand bits in use. */
export function numbers(element: Element, seed: number): bigint[] {
  const { exponentBits, mantissaBits } = {
    f32: { exponentBits: 8, mantissaBits: 23 },
    f16: { exponentBits: 5, mantissaBits: 10 },
    bf16: { exponentBits: 8, mantissaBits: 7 },
  }[element];
  const random = randomWords(seed);
  const bias = 2 ** (exponentBits - 1) - 1;
  return Array.from({ length: 64 }, () => {
    const [sign, fraction, exponent] = [random() >>> 31, random() >>> (32 - mantissaBits), bias - 3 + ((random() >>> 8) % 6)];
    return (BigInt(sign) << BigInt(exponentBits + mantissaBits)) | (BigInt(exponent) << BigInt(mantissaBits)) | BigInt(fraction);
  });
}

const single = (element: Element, bits: bigint): bigint => convertFloat(floatFormats[element], floatFormats.f32, bits);

/** a * b + c: single-precision sums from c along k, rounded to the type of d at the end. */
export function expected([d, ...of]: readonly [Element, Element, Element, Element], matrices: readonly (readonly bigint[])[]): bigint[] {
  const [a, b, c] = matrices.map((values, i) => values.map((bits) => single(of[i]!, bits))) as [bigint[], bigint[], bigint[]];
  return Array.from({ length: 64 }, (_, at) => {
    const [row, column] = [at >> 3, at & 7];
    let sum = c[at]!;
    for (let k = 0; k < 8; k++) sum = fmaFloat(floatFormats.f32, a[row * 8 + k]!, b[k * 8 + column]!, sum);
    return convertFloat(floatFormats.f32, floatFormats[d], sum);
  });
}

export const elements: readonly Element[] = ['f32', 'f16', 'bf16'];
