/** Vector constants, shuffles and halves of vectors. */
import { bug } from '../../../base/bug.ts';
import type { Code, NameWith } from '../../../wasm/index.ts';

/** The lane type of a vector by that of its scalar. */
export const shapeName = { i32: 'i32x4', i64: 'i64x2', f32: 'f32x4', f64: 'f64x2' } as const;

/** A vector of four equal 32-bit lanes. */
export const words = (word: number): number[] => [word, word, word, word];
/** A vector of two equal 64-bit lanes. */
export const longs = (bits: bigint): number[] => {
  const [low, high] = [Number(bits & 0xffff_ffffn), Number((bits >> 32n) & 0xffff_ffffn)];
  return [low, high, low, high];
};

/** Shuffle bytes by the numbers of 32-bit lanes: 0 to 3 of the first vector, 4 to 7 of the second. */
export const wordBytes = (numbers: readonly number[]): number[] => numbers.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte));

/** The even 32-bit lanes of two vectors: the low halves of four 64-bit lanes. The odd ones are the high halves. */
export const evenWords = wordBytes([0, 2, 4, 6]);
export const oddWords = wordBytes([1, 3, 5, 7]);

/** Moves the upper two 32-bit lanes down. Engines compile this shuffle to one instruction. */
export function upperHalf({ code }: { readonly code: Code }): void {
  code.v128([0, 0, 0, 0]);
  code.shuffle([8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]);
}

/** Joins the lower halves of two vectors. */
export function joinHalves({ code }: { readonly code: Code }): void {
  code.lane('f64x2.extract_lane', 0);
  code.lane('f64x2.replace_lane', 1);
}

const laneLoads = { 1: 'v128.load8_lane', 2: 'v128.load16_lane', 4: 'v128.load32_lane', 8: 'v128.load64_lane' } as const;
const splatLoads = { 1: 'v128.load8_splat', 2: 'v128.load16_splat', 4: 'v128.load32_splat', 8: 'v128.load64_splat' } as const;
const laneStores = { 1: 'v128.store8_lane', 2: 'v128.store16_lane', 4: 'v128.store32_lane', 8: 'v128.store64_lane' } as const;

const isLaneSize = (bytes: number): bytes is keyof typeof laneLoads => bytes in laneLoads;

/** The load of one lane of a vector, by the bytes of a lane. */
export const laneLoad = (bytes: number): NameWith<'memoryLane'> => (isLaneSize(bytes) ? laneLoads[bytes] : bug(`a lane of ${bytes} bytes`));

/** The load of one lane into all lanes of a vector, by the bytes of a lane. */
export const splatLoad = (bytes: number): NameWith<'memory'> => (isLaneSize(bytes) ? splatLoads[bytes] : bug(`a lane of ${bytes} bytes`));

/** The store of one lane of a vector, by the bytes of a lane. */
export const laneStore = (bytes: number): NameWith<'memoryLane'> =>
  isLaneSize(bytes) ? laneStores[bytes] : bug(`a lane of ${bytes} bytes`);
