/** The two products of attention, by warps or by warp groups, and the online softmax between them. */
import {
  type Accumulator,
  accumulator,
  asFactor,
  b8,
  b32,
  bf16,
  commitGroup,
  constant,
  f16,
  f32,
  groupAccumulator,
  groupDescriptor,
  groupFence,
  groupMma,
  mma,
  pack,
  pointerAt,
  s32,
  shuffleXor,
  type Type,
  u32,
  type Value,
  type Variable,
  waitGroup,
} from '../build/index.ts';
import type { HalfType } from './gemm-plan.ts';
import { factorA, factorsB, fragments, type Quad } from './gemm-tiles.ts';

type Word = Value<'u32'>;
type Real = Value<'f32'>;

/** How a kernel is made. */
export interface Form {
  readonly by: 'mma' | 'wgmma';
  readonly type: HalfType;
  readonly size: number;
  readonly paged: boolean;
  readonly warps: number;
  readonly lines: number;
  readonly tile: number;
}

const elements = { f16, bf16 } as const;
/** The bytes of a row of a panel of 64 elements. */
export const rowBytes = 128;

/** The sums of a thread. */
export interface State {
  /** The sums of each row of this thread, by columns. */
  readonly sums: Rows;
  /** The largest score of each row of this thread so far, and the sum of its shares in this thread. */
  readonly most: readonly Variable<'f32'>[];
  readonly totals: readonly Variable<'f32'>[];
}
/** Elements of rows: two columns next to each other of each eight. */
export type Rows = readonly (readonly Variable<'f32'>[])[];

/** The two products of attention. */
export interface Products {
  readonly sums: Rows;
  /** The scores of the keys of a tile. */
  keys(tile: Word): Rows;
  /** Adds the products of the shares, which are where the scores were, with the values of a tile. */
  values(tile: Word): void;
}

/** The elements of a row of this thread. */
const elementsOf = (line: readonly Accumulator<HalfType>[], half: number): Variable<'f32'>[] =>
  line.flatMap(({ elements: each }) => [each[2 * half]!, each[2 * half + 1]!] as Variable<'f32'>[]);
const rowsOf = (lines: readonly (readonly Accumulator<HalfType>[])[]): Rows =>
  lines.flatMap((line) => [elementsOf(line, 0), elementsOf(line, 1)]);

/** Products by `mma`. */
export function warpProducts(
  { type, size, lines, tile }: Form,
  queries: readonly (readonly Quad[])[],
  panel: (rows: number, step: number) => number,
): Products {
  const sums = Array.from({ length: lines }, () => Array.from({ length: size / 8 }, () => accumulator(type)));
  let scores: Accumulator<HalfType>[][] = [];
  return {
    sums: rowsOf(sums),
    keys: (base) => {
      scores = Array.from({ length: lines }, () => Array.from({ length: tile / 8 }, () => accumulator(type)));
      const fromK = fragments('b', true, constant(u32, 0));
      for (let step = 0; step < size / 16; step++)
        for (let j = 0; j < tile / 16; j++) {
          const b = factorsB(type, fromK(base.add(panel(tile, step)), 16 * j, step % 4));
          scores.forEach((line, i) => {
            b.forEach((factor, half) => {
              mma(line[2 * j + half]!, factorA(type, queries[i]![step]!), factor);
            });
          });
        }
      return rowsOf(scores);
    },
    values: (base) => {
      const fromV = fragments('b', false, constant(u32, 0));
      for (let step = 0; step < tile / 16; step++) {
        const a = scores.map((line) => asFactor(type, line[2 * step]!, line[2 * step + 1]!));
        for (let j = 0; j < size / 16; j++) {
          // The rows of a panel are as many as the tile has keys.
          const b = factorsB(type, fromV(base.add(Math.floor(j / 4) * tile * rowBytes + step * 16 * rowBytes), (16 * j) % 64, 0));
          sums.forEach((line, i) => {
            b.forEach((factor, half) => {
              mma(line[2 * j + half]!, a[i]!, factor);
            });
          });
        }
      }
    },
  };
}

/** Products by `wgmma`. */
export function groupProducts({ type, size, warps, tile }: Form, queries: Word, panel: (rows: number, step: number) => number): Products {
  const total = groupAccumulator(type, size);
  const scores = groupAccumulator(type, tile);
  const halvesOf = (elements: readonly Variable<'f32'>[]): Rows => [0, 2].map((bit) => elements.filter((_, i) => (i & 2) === bit));
  const describe = (from: Word, offset: number, leading = 16): Value<'u64'> =>
    groupDescriptor(pointerAt(b8, 'shared', from.add(offset)), { leading, stride: 1024, swizzle: 128 });
  const run = (products: () => void): void => {
    groupFence();
    products();
    commitGroup();
    waitGroup(0);
  };
  return {
    sums: halvesOf(total.elements),
    keys: (base) => {
      run(() => {
        for (let step = 0; step < size / 16; step++)
          groupMma(
            scores,
            describe(queries, panel(16 * warps, step) + 32 * (step % 4)),
            describe(base, panel(tile, step) + 32 * (step % 4)),
            { add: step > 0 },
          );
      });
      return halvesOf(scores.elements);
    },
    values: (base) => {
      const e = scores.elements;
      const shares = Array.from({ length: tile / 16 }, (_, step) =>
        [0, 2, 4, 6].map((i) =>
          pack(e[8 * step + i]!.to(elements[type] as Type<'f16'>), e[8 * step + i + 1]!.to(elements[type] as Type<'f16'>)).as(b32),
        ),
      );
      run(() =>
        shares.forEach((share, step) => {
          groupMma(total, share, describe(base, 2048 * step, tile * rowBytes), { transposeB: true });
        }),
      );
    },
  };
}

/** Scores of keys that a query does not see are -Infinity. */
export function mask(scores: Rows, first: Word, ends: readonly Word[]): void {
  scores.forEach((row, r) => {
    const left = ends[r]!.as(s32).sub(first.as(s32));
    row.forEach((element, e) => {
      element.set(left.gt(8 * (e >> 1) + (e & 1)).select(element, Number.NEGATIVE_INFINITY));
    });
  });
}

/** The scores become shares of the largest so far, to which sums are scaled. */
export function weigh(scores: Rows, { sums, most, totals }: State, scale: Real): void {
  scores.forEach((row, r) => {
    // Several chains of maxima and of sums.
    const chains = [0, 1, 2, 3].map((c) => row.filter((_, e) => e % 4 === c).reduce<Real>((a, b) => a.max(b), most[r]!.get()));
    let next = chains[0]!.max(chains[1]!).max(chains[2]!.max(chains[3]!));
    for (const distance of [1, 2]) next = next.max(shuffleXor(next, distance));
    const zero = next.mul(scale);
    const old = most[r]!.mul(scale).sub(zero).exp2();
    most[r]!.set(next);
    for (const element of row) element.set(element.fma(scale, zero.neg()).exp2());
    const parts = [0, 1].map((c) => row.filter((_, e) => e % 2 === c).reduce<Real>((a, b) => a.add(b), constant(f32, 0)));
    totals[r]!.set(totals[r]!.fma(old, parts[0]!.add(parts[1]!)));
    for (const element of sums[r]!) element.set(element.mul(old));
  });
}
