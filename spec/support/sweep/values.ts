/**
 * The operands of the sweep: 32 values of each type, borders of integers and floats first, then random ones. A kernel has 1024 threads, so
 * that two operands meet in all pairs and more operands in as many combinations.
 */

import { bitsOfType, kindOfType } from '../../../src/ptx/model/types.ts';
import { splitMix64 } from '../../../src/runtime/rand.ts';

/** Values of each type. */
export const valuesEach = 32;
export const threads = 1024;

const ones = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

const integers: Readonly<Record<number, readonly bigint[]>> = {
  8: [0, 1, 2, 7, 10, 31, 32, 63, 64, 0x7f, 0x80, 0x81, 0xfe, 0xff].map(BigInt),
  16: [0, 1, 2, 5, 7, 8, 15, 16, 17, 31, 32, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff].map(BigInt),
  32: [
    0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
  ].map(BigInt),
  64: [
    ...[0, 1, 2, 5, 8, 31, 32, 33, 63, 64, 65, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x100000001].map(BigInt),
    ...[ones(63), 1n << 63n, (1n << 63n) + 1n, ones(64) - 1n, ones(64)],
  ],
};

/** Exponent and fraction bits. */
const floats: Readonly<Record<string, readonly [number, number]>> = { f16: [5, 10], bf16: [8, 7], f32: [8, 23], f64: [11, 52] };

/** Zeros, ones, infinities, NaNs, subnormals, and the neighbours of all of them; both signs. */
function specialFloats(exponentBits: number, fractionBits: number): bigint[] {
  const one = ones(exponentBits - 1) << BigInt(fractionBits);
  const infinity = ones(exponentBits) << BigInt(fractionBits);
  const least = 1n << BigInt(fractionBits);
  const half = least >> 1n;
  const sign = 1n << BigInt(exponentBits + fractionBits);
  const positive = [0n, one, one + half, infinity, infinity + half, 1n, least - 1n, least, infinity - 1n, one + 1n];
  return [...positive, ...positive.slice(0, 9).map((bits) => bits | sign), infinity + 1n, one - 1n, one + 3n * half];
}

/** Any bits, and by turns such as have an exponent near that of 1. */
function drawnFloat([exponentBits, fractionBits]: readonly [number, number], at: number, bits: bigint): bigint {
  if (at % 2 === 0) return bits & ones(1 + exponentBits + fractionBits);
  const exponent = ones(exponentBits - 1) + ((bits >> 54n) % 9n) - 4n;
  return ((((bits >> 63n) << BigInt(exponentBits)) | exponent) << BigInt(fractionBits)) | (bits & ones(fractionBits));
}

function columnOf(type: string): bigint[] {
  const draw = splitMix64([...type].reduce((seed, letter) => seed * 131n + BigInt(letter.charCodeAt(0)), 7n));
  if (type.endsWith('x2')) {
    const half = columnOf(type.slice(0, -2));
    return half.map((low, i) => (half[(i * 11 + 5) % valuesEach]! << 16n) | low);
  }
  const parts = floats[type];
  const edges = parts ? specialFloats(...parts) : integers[bitsOfType(type)]!;
  return Array.from({ length: valuesEach }, (_, i) => {
    const bits = draw();
    return edges[i] ?? (parts ? drawnFloat(parts, i, bits) : bits & ones(bitsOfType(type)));
  });
}

const kinds = ['b8', 'b16', 'b32', 'b64', 'f16', 'bf16', 'f16x2', 'bf16x2', 'f32', 'f64'] as const;

/** Where the values of a PTX type begin in the input, in bytes. */
export function placeOf(type: string): number {
  const kind = kindOfType(type) === 'f' ? type : `b${bitsOfType(type)}`;
  return 8 * valuesEach * kinds.indexOf(kind as (typeof kinds)[number]);
}

/** The input of all kernels: the values of each kind, 8 bytes each. */
export const sweepInput = (): Uint8Array<ArrayBuffer> => new Uint8Array(BigUint64Array.from(kinds.flatMap(columnOf)).buffer);

/** The content of the by-value parameter. */
export const parameterBytes = (): Uint8Array<ArrayBuffer> => Uint8Array.from({ length: 64 }, (_, i) => (i * 151 + 77) & 255);
