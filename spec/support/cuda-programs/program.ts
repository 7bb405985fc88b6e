/** What a random CUDA C++ program is, and its input. */
import { randomWords } from '../lcg.ts';

export interface CudaProgram {
  /** Code that nvcc and g++ compile, beside `prelude.h`, `warps.h` and `host.h`. Its kernel is `k(u32 *data)`: the input, and the output behind it. */
  readonly source: string;
  readonly blocks: number;
  readonly threads: number;
  readonly outputWords: number;
}

/** Words of input: a power of two. */
export const inputWords = 1024;

/** Words that decide about branches, of all types: small numbers, edges of integers, floats, and random bits. */
export function programInput(): Uint32Array {
  const next = randomWords(1);
  const some = [0, 1, 2, 31, 32, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
  const floats = [0x3f800000, 0xbf800000, 0x40490fdb, 0x4b800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x80000000, 0x3ff00000];
  const chosen = (list: readonly number[]) => list[Math.floor((next() / 2 ** 32) * list.length)]!;
  const kinds = [() => next() >>> 26, () => chosen(some), () => chosen(floats), next, next];
  return Uint32Array.from({ length: inputWords }, () => kinds[Math.floor((next() / 2 ** 32) * kinds.length)]!());
}
