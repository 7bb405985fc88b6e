/** Products of cuBLASLt, with epilogues. Source: cuBLAS Library, "Using the cuBLASLt API". */
import { type KernelBuffer, partOf } from '../api/index.ts';
import { geam } from './elements.ts';
import {
  type Auxiliary,
  assertAuxiliary,
  type Ended,
  type EndType,
  type Epilogue,
  ends,
  endTypeOf,
  runAuxiliary,
  runSums,
} from './epilogue.ts';
import { type CublasHandle, type Operation, refuse } from './handle.ts';
import { type ComputeType, type DataType, runTyped } from './typed.ts';

export type { Auxiliary, Epilogue } from './epilogue.ts';

/** A product of `cublasLtMatmul`. */
export interface LtMatmulDesc extends Auxiliary {
  readonly computeType: ComputeType;
  readonly transA?: Operation;
  readonly transB?: Operation;
  /** `GELU` is by the hyperbolic tangent, as in cuBLASLt. */
  readonly epilogue?: Epilogue;
  /**
   * A number for each row of D, in the type of the sums, for epilogues with a bias. Those of a gradient (`BGRAD`, of single matrices) write it: sums of the
   * rows of D or of op(A), or of the columns of op(B).
   */
  readonly bias?: KernelBuffer;
}
/** A matrix of `cublasLtMatmul`, in columns. */
export interface LtMatrixLayout {
  readonly type: DataType;
  readonly rows: number;
  readonly cols: number;
  /** The elements from one column to the next. */
  readonly ld: number;
  /** The matrices; 1 by default. */
  readonly batchCount?: number;
  /** The elements from one matrix to the next. */
  readonly stridedBatchOffset?: number;
}
/** The description of a product. */
export const cublasLtMatmulDescCreate = (computeType: ComputeType, attributes: Omit<LtMatmulDesc, 'computeType'> = {}): LtMatmulDesc => ({
  computeType,
  ...attributes,
});
/** The description of a matrix. */
export const cublasLtMatrixLayoutCreate = (
  type: DataType,
  rows: number,
  cols: number,
  ld: number,
  batch: Pick<LtMatrixLayout, 'batchCount' | 'stridedBatchOffset'> = {},
): LtMatrixLayout => ({ type, rows, cols, ld, ...batch });

/**
 * `D = f(alpha * op(A) * op(B) + beta * C + bias)`. C and D are the same memory, or C is f32 or f64 and copied first; algorithms and workspaces are left out.
 * Epilogues with `aux` or a gradient run in kernels behind the product: of f16 and bf16 the function and the sums are of what is rounded to the type of D.
 */
export function cublasLtMatmul(
  handle: CublasHandle,
  desc: LtMatmulDesc,
  alpha: number,
  a: KernelBuffer,
  layoutA: LtMatrixLayout,
  b: KernelBuffer,
  layoutB: LtMatrixLayout,
  beta: number,
  c: KernelBuffer,
  layoutC: LtMatrixLayout,
  d: KernelBuffer,
  layoutD: LtMatrixLayout,
): void {
  const name = 'cublasLtMatmul';
  const { transA = 'N', transB = 'N', epilogue = 'DEFAULT', bias, computeType } = desc;
  const end = ends[epilogue] ?? refuse(name, `the epilogue ${epilogue} is not there`);
  if ((end.bias !== undefined) !== (bias !== undefined))
    refuse(name, `the epilogue ${epilogue} ${end.bias ? 'needs a bias' : 'has no bias'}`);
  const [m, k] = transA === 'N' ? [layoutA.rows, layoutA.cols] : [layoutA.cols, layoutA.rows];
  const [kb, n] = transB === 'N' ? [layoutB.rows, layoutB.cols] : [layoutB.cols, layoutB.rows];
  if (k !== kb || layoutD.rows !== m || layoutD.cols !== n)
    refuse(name, `the matrices are ${m} by ${k}, ${kb} by ${n} and ${layoutD.rows} by ${layoutD.cols}`);
  if (layoutC.type !== layoutD.type) refuse(name, 'C and D have different types');
  const { batchCount: batch = 1 } = layoutD;
  const after = { type: layoutD.type, m, n, d, ld: layoutD.ld, stride: layoutD.stridedBatchOffset ?? 0, batch };
  const endType = assertEnd(name, epilogue, desc, after);
  const strideOf = ({ stridedBatchOffset = 0 }: LtMatrixLayout): number => stridedBatchOffset;
  if (beta !== 0 && c !== d) {
    const { type, ld, rows } = layoutC;
    if ((type !== 'f32' && type !== 'f64') || batch !== 1)
      refuse(name, 'C and D are different memory, and no single matrices of f32 or f64');
    geam(type === 'f32' ? 'S' : 'D')(handle, 'N', 'N', rows, n, 1, c as never, ld, 0, c as never, ld, d as never, layoutD.ld);
  }
  const matrices = {
    ...{ a, lda: layoutA.ld, strideA: strideOf(layoutA), b, ldb: layoutB.ld, strideB: strideOf(layoutB) },
    ...{ c: d, ldc: layoutD.ld, strideC: strideOf(layoutD), types: [layoutA.type, layoutB.type, layoutD.type] as const },
  };
  const last = { ...(end.activation ? { activation: end.activation } : {}), ...(end.bias === 'added' ? { bias } : {}) };
  runTyped(handle, name, { transA, transB, m, n, k, alpha, beta, batch, compute: computeType, ...matrices, ...last });
  if (endType !== undefined) finish(handle, endType, desc, after, { a, lda: layoutA.ld, b, ldb: layoutB.ld, k });
}

interface Factors {
  readonly a: KernelBuffer;
  readonly lda: number;
  readonly b: KernelBuffer;
  readonly ldb: number;
  readonly k: number;
}

/** Enqueues what follows the product in kernels of its own. */
function finish(handle: CublasHandle, type: EndType, desc: LtMatmulDesc, of: Ended, { a, lda, b, ldb, k }: Factors): void {
  const { transA = 'N', transB = 'N', epilogue = 'DEFAULT', bias: y } = desc;
  const { aux, bias } = ends[epilogue];
  const { m, n, d, ld } = of;
  if (aux) runAuxiliary(handle, aux, type, desc, of);
  // Lines of a matrix in columns are rows, of a transposed one columns.
  const lines = (x: unknown, pitch: number, isTurned: boolean) => ({ x, y, step: isTurned ? pitch : 1, along: isTurned ? 1 : pitch });
  if (bias === 'ofD') runSums(handle, type, { ...lines(d, ld, false), count: m, length: n });
  if (bias === 'ofA') runSums(handle, type, { ...lines(a, lda, transA !== 'N'), count: m, length: k });
  if (bias === 'ofB') runSums(handle, type, { ...lines(b, ldb, transB === 'N'), count: n, length: k });
}

/** The type of D of an epilogue that has kernels of its own; undefined for others. What does not fit it is refused. */
function assertEnd(name: string, epilogue: Epilogue, desc: LtMatmulDesc, of: Ended): EndType | undefined {
  const { aux, bias } = ends[epilogue];
  assertAuxiliary(name, epilogue, desc, of);
  if (!aux && (!bias || bias === 'added')) return undefined;
  const type = endTypeOf(name, epilogue, of.type);
  if (bias && bias !== 'added') assertGradient(name, bias, desc.bias!, of);
  return type;
}

/** Refuses a gradient of a bias that does not fit. */
function assertGradient(name: string, of: 'ofD' | 'ofA' | 'ofB', bias: KernelBuffer, { m, n, batch }: Ended): void {
  if (batch !== 1) refuse(name, 'the gradient of a bias is of single matrices');
  const [needed, given] = [of === 'ofB' ? n : m, partOf(bias)?.length];
  if (given !== undefined && given < needed) refuse(name, `\`bias\` has ${given} elements, and ${needed} are needed`);
}
