/** What all kernels of products share: options, parameters, and the plan of a launch. */

import type { Extent } from '../api/index.ts';
import { type Arguments, bf16, f16, f32, f64, type Pointer, ptr, s8, s32, type Type, u32, u64, type Value } from '../build/index.ts';
import type { Activation } from './functions.ts';
import { refuse } from './refuse.ts';
import { blocksFor, type Plan } from './routine.ts';

/** The types of the factors. */
export type GemmType = 'f32' | 'f64' | 'f16' | 'bf16' | 's8';
/** The types of 16 bits. */
export type HalfType = 'f16' | 'bf16';
/** The type in which products are summed: that of `alpha`, `beta` and the bias. */
export type GemmSum<T extends GemmType> = T extends 'f64' ? 'f64' : T extends 's8' ? 's32' : 'f32';
/** The type of the result: that of the factors, and s32 for s8. */
export type GemmResult<T extends GemmType> = T extends 's8' ? 's32' : T;

/** What factors are read as: `tf32` is f32 in memory, rounded to 11 bits. */
export type FactorKind = GemmType | 'tf32';
/** The types of factors in memory, sums and results by what the factors are read as. */
export const types = { f32, f64, f16, bf16, s8, tf32: f32 } as const;
/** The types of sums. */
export const sums = { f32, f64, f16: f32, bf16: f32, s8: s32, tf32: f32 } as const;
/** The types of results. */
export const results = { f32, f64, f16, bf16, s8: s32, tf32: f32 } as const;

/** What the factors of a product are read as. Throws CM5093 for `tf32` of another type than f32. */
export function kindOf({ type = f32, tf32 = false }: GemmOptions): FactorKind {
  if (!tf32) return type.name;
  return type.name === 'f32' ? 'tf32' : refuse('gemm', `\`tf32\` rounds factors of f32, and these are ${type.name}`);
}

/** Options of `gemm`. */
export interface GemmOptions<T extends GemmType = GemmType> {
  /** The type of the factors: f32 by default. */
  readonly type?: Type<T>;
  /**
   * Whether factors of f32 are rounded to tf32, as tensor cores read them: 11 bits of precision, ties away from zero. Their products are exact, and summed
   * as f32. False by default.
   */
  readonly tf32?: boolean;
  /** Whether `a` has a row for each index of k, and not for each row of the result. */
  readonly transposeA?: boolean;
  /** Whether `b` has a row for each column of the result, and not for each index of k. */
  readonly transposeB?: boolean;
  /** A function of each element at the end; of f32, f16 and bf16. */
  readonly activation?: Activation;
  /** The rows and columns of the result that a block computes: 128 by default, 64 for f64 and for small matrices. */
  readonly tile?: 64 | 128;
}

/** The parameters of products of a type. */
export type GemmParameters<T extends GemmType> = ReturnType<typeof gemmParameters<T>>;
/** The parameters of products of a type. */
export const gemmParameters = <T extends GemmType>(type: T) => {
  const sum = sums[type] as unknown as Type<GemmSum<T>>;
  const [element, result] = [types[type] as unknown as Type<T>, results[type] as unknown as Type<GemmResult<T>>];
  return {
    ...{ a: ptr(element), b: ptr(element), c: ptr(result), bias: ptr(sum), m: u32, n: u32, k: u32, lda: u64, ldb: u64, ldc: u64 },
    ...{ strideA: u64, strideB: u64, strideC: u64, alpha: sum, beta: sum },
  };
};

/** What a launch of `gemm` is given: matrices row by row. */
export type GemmArguments<T extends GemmType> = Pick<Arguments<GemmParameters<T>>, 'a' | 'b' | 'c' | 'm' | 'n' | 'k'> &
  Partial<Omit<Arguments<GemmParameters<T>>, 'a' | 'b' | 'c' | 'm' | 'n' | 'k'>> & {
    /** The number of products: matrices follow each other by the strides. 1 by default. */
    readonly batch?: number;
  };

/** The sum types as the body sees them: what it does is the same for all. */
type Sum = Value<'f32'>;
/** The parameters in the body. */
export interface GemmInside {
  readonly a: Pointer<'f32', 'global'>;
  readonly b: Pointer<'f32', 'global'>;
  readonly c: Pointer<'f32', 'global'>;
  readonly bias: Pointer<'f32', 'global'>;
  readonly m: Value<'u32'>;
  readonly n: Value<'u32'>;
  readonly k: Value<'u32'>;
  readonly lda: Value<'u64'>;
  readonly ldb: Value<'u64'>;
  readonly ldc: Value<'u64'>;
  readonly strideA: Value<'u64'>;
  readonly strideB: Value<'u64'>;
  readonly strideC: Value<'u64'>;
  readonly alpha: Sum;
  readonly beta: Sum;
}

/** A pitch that a tile's offsets of 32 bits hold. */
const pitchOf = (pitch: number, columns: number): number => (pitch < columns || pitch > 2 ** 25 - 1 ? Number.NaN : pitch);

/** A step between matrices as a size, which is refused if it leads back. Larger ones than sizes are allowed: what is needed of the buffers is checked. */
const stepOf = (step: number): number => (Number.isSafeInteger(step) && step >= 0 ? Math.min(step, 0xffff_ffff) : step);

/** The elements of a batch of matrices of rows and columns. */
const extentOf = (rows: number, columns: number, pitch: number, batch: number, stride: number): number =>
  rows === 0 || columns === 0 || batch === 0 ? 0 : (batch - 1) * stride + (rows - 1) * pitch + columns;

/** What a launch of products needs to know of the kernel. */
export interface GemmShape {
  readonly tile: readonly [rows: number, columns: number];
  readonly threads: Extent;
  readonly shared?: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** The plan of a launch of products. */
export const gemmPlan = <T extends GemmType>(shape: GemmShape, given: GemmArguments<T>): Plan<GemmParameters<T>> =>
  planOf(shape, given as unknown as GemmArguments<'f32'>) as unknown as Plan<GemmParameters<T>>;

function planOf(shape: GemmShape, given: GemmArguments<'f32'>): Plan<GemmParameters<'f32'>> {
  const { tile, threads: block, shared, transposeA, transposeB } = shape;
  const { m, n, k, batch = 1, alpha = 1, beta = 0, bias = null } = given;
  const [rowsA, columnsA, rowsB, columnsB] = [transposeA ? k : m, transposeA ? m : k, transposeB ? n : k, transposeB ? k : n];
  const [lda, ldb, ldc] = [Number(given.lda ?? columnsA), Number(given.ldb ?? columnsB), Number(given.ldc ?? n)];
  const [strideA, strideB, strideC] = [
    Number(given.strideA ?? rowsA * lda),
    Number(given.strideB ?? rowsB * ldb),
    Number(given.strideC ?? m * ldc),
  ];
  const { a, b, c } = given;
  return {
    grid: [blocksFor(n, tile[1]), blocksFor(m, tile[0]), batch],
    block,
    ...(shared === undefined ? {} : { shared }),
    args: { a, b, c, bias, m, n, k, lda, ldb, ldc, strideA, strideB, strideC, alpha, beta },
    sizes: {
      ...{
        m: m > 65535 * tile[0] ? Number.NaN : m,
        n,
        // A tile beyond the last index of k must not wrap.
        k: k > 0xffff_ffff - 64 ? Number.NaN : k,
        batch: batch > 65535 ? Number.NaN : batch,
      },
      ...{ strideA: stepOf(strideA), strideB: stepOf(strideB), strideC: stepOf(strideC) },
      ...{ lda: pitchOf(lda, columnsA), ldb: pitchOf(ldb, columnsB), ldc: ldc < n ? Number.NaN : ldc },
    },
    needs: {
      a: extentOf(rowsA, columnsA, lda, batch, strideA),
      b: extentOf(rowsB, columnsB, ldb, batch, strideB),
      c: extentOf(m, n, ldc, batch, strideC),
      bias: n,
    },
  };
}
