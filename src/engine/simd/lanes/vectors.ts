/** Vectors as words and bytes, and their halves. */
import type { Code } from '../../../wasm/index.ts';

/** The shape in which vectors of a number are split and joined. */
export const shapeName = { i32: 'i32x4', i64: 'i64x2', f32: 'f32x4', f64: 'f64x2' } as const;

/** A vector of four equal words. */
export const words = (word: number): number[] => [word, word, word, word];
/** A vector of two equal numbers of 64 bits. */
export const longs = (bits: bigint): number[] => {
  const [low, high] = [Number(bits & 0xffff_ffffn), Number((bits >> 32n) & 0xffff_ffffn)];
  return [low, high, low, high];
};

/** Bytes of words of two vectors, by the words' numbers: 0 to 3 of the first, 4 to 7 of the second. */
export const wordBytes = (numbers: readonly number[]): number[] => numbers.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte));

/** The even words of two vectors: of four long numbers the low halves. */
export const evenWords = wordBytes([0, 2, 4, 6]);
export const oddWords = wordBytes([1, 3, 5, 7]);

/** Moves the upper two words of what is on the stack to the lower places: of this shuffle engines make one instruction. */
export function upperHalf({ code }: { readonly code: Code }): void {
  code.v128([0, 0, 0, 0]);
  code.shuffle([8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]);
}

/** Joins the lower halves of two vectors. */
export function joinHalves({ code }: { readonly code: Code }): void {
  code.lane('f64x2.extract_lane', 0);
  code.lane('f64x2.replace_lane', 1);
}
