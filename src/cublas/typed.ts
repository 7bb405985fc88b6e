/** Products with types as arguments: what there is, and how it is enqueued. Source: cuBLAS Library, "cublasGemmEx()". */
import { bf16, f16, f64, s8 } from '../build/index.ts';
import { type Activation, gemm as gemmOf } from '../kernels/index.ts';
import {
  assertHolds,
  assertStrides,
  assertWhole,
  assertWords,
  type CublasHandle,
  extentOfMatrix,
  type Operation,
  refuse,
  type Scalar,
} from './handle.ts';
import { gemmStridedBatched, tileOfProduct } from './product.ts';

/** The type of the elements of a matrix: `c32` and `c64` are pairs of f32 and of f64. */
export type DataType = 'f32' | 'f64' | 'f16' | 'bf16' | 'i8' | 'i32' | 'c32' | 'c64';

/** The type in which products are summed. */
export type ComputeType = '32F' | '32F_FAST_TF32' | '64F' | '32I';

/** What is computed by the types of A and B, of C, and of the sums. */
const products = {
  'f32 f32 32F': undefined,
  'f32 f32 32F_FAST_TF32': undefined,
  'f64 f64 64F': f64,
  'f16 f16 32F': f16,
  'bf16 bf16 32F': bf16,
  'i8 i32 32I': s8,
} as const;
const complexLetters: Readonly<Record<string, 'C' | 'Z'>> = {
  ...{ 'c32 c32 32F': 'C', 'c64 c64 64F': 'Z' },
  // The type of sums allows less precision, and demands none of it.
  'c32 c32 32F_FAST_TF32': 'C',
};

/** A product with types. */
export interface TypedProduct {
  readonly transA: Operation;
  readonly transB: Operation;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly alpha: Scalar<'C'>;
  readonly a: unknown;
  readonly lda: number;
  readonly strideA: number;
  readonly b: unknown;
  readonly ldb: number;
  readonly strideB: number;
  readonly beta: Scalar<'C'>;
  readonly c: unknown;
  readonly ldc: number;
  readonly strideC: number;
  readonly batch: number;
  readonly types: readonly [a: DataType, b: DataType, c: DataType];
  readonly compute: ComputeType;
  readonly activation?: Activation;
  readonly bias?: unknown;
  /** Whether the mode of the handle holds: cuBLASLt knows the type of sums alone. */
  readonly hasMode?: boolean;
}

function assertMatrices(name: string, g: TypedProduct): void {
  const { transA, transB, m, n, k, batch, lda, ldb, ldc } = g;
  assertWords(name, { transa: [transA, 'NTC'], transb: [transB, 'NTC'] });
  assertWhole(name, { m, n, k, batchCount: batch > 65535 ? Number.NaN : batch });
  assertStrides(name, { strideA: g.strideA, strideB: g.strideB, strideC: g.strideC });
  const [sizeA, sizeB] = [transA === 'N' ? [m, k] : [k, m], transB === 'N' ? [k, n] : [n, k]] as [[number, number], [number, number]];
  for (const [what, ld, rows] of [
    ['lda', lda, sizeA[0]],
    ['ldb', ldb, sizeB[0]],
    ['ldc', ldc, m],
  ] as const)
    assertWhole(name, { [what]: ld }, Math.max(1, rows));
  const of = (rows: number, columns: number, ld: number, stride: number): number =>
    batch === 0 || rows === 0 || columns === 0 ? 0 : (batch - 1) * stride + extentOfMatrix(rows, columns, ld);
  assertHolds(name, 'S', 'a', g.a, of(...sizeA, lda, g.strideA));
  assertHolds(name, 'S', 'b', g.b, of(...sizeB, ldb, g.strideB));
  assertHolds(name, 'S', 'c', g.c, of(m, n, ldc, g.strideC));
}

/** Enqueues a product. */
export function runTyped(handle: CublasHandle, name: string, g: TypedProduct): void {
  const { types, compute, m, n, k, batch } = g;
  const key = `${types[0]} ${types[2]} ${compute}`;
  const letter = complexLetters[key];
  if (types[0] !== types[1] || !(letter || key in products))
    refuse(name, `a product of ${types[0]} and ${types[1]} as ${types[2]}, summed as ${compute}, is not there`);
  if (letter) {
    const { transA, transB, alpha, a, lda, strideA, b, ldb, strideB, beta, c, ldc, strideC } = g;
    const call = gemmStridedBatched(letter) as (...args: unknown[]) => void;
    call(handle, transA, transB, m, n, k, alpha, a, lda, strideA, b, ldb, strideB, beta, c, ldc, strideC, batch);
    return;
  }
  assertMatrices(name, g);
  if (m === 0 || n === 0 || batch === 0) return;
  const type = products[key as keyof typeof products];
  const tf32 = types[0] === 'f32' && (compute === '32F_FAST_TF32' || (g.hasMode && handle.mathMode === 'TF32_TENSOR_OP'));
  // In columns, C is the transpose of a matrix in rows.
  const made = gemmOf({
    ...{ type: type as never, transposeA: g.transB !== 'N', transposeB: g.transA !== 'N' },
    ...(g.activation ? { activation: g.activation } : {}),
    ...(tf32 ? { tf32 } : types[0] === 'f64' ? {} : tileOfProduct(handle, m, n)),
  });
  const args = {
    ...{ a: g.b, b: g.a, c: g.c, m: n, n: m, k, lda: g.ldb, ldb: g.lda, ldc: g.ldc, alpha: g.alpha, beta: g.beta, bias: g.bias ?? null },
    ...{ strideA: g.strideB, strideB: g.strideA, strideC: g.strideC, batch },
  };
  made.launch(handle.device, args as never, handle.stream ? { stream: handle.stream } : {});
}
