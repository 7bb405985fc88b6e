/** Adapters of low rank: a linear layer with a second one of two small factors beside it. Source: E. Hu and others, arXiv:2106.09685. */
import type { KernelBuffer } from '../api/index.ts';
import { gemm } from './gemm.ts';
import type { GemmArguments } from './gemm-plan.ts';
import { assertSize, Procedure, type Steps } from './procedure.ts';
import { type Floating, named, type TypeOption, typeOf } from './routine.ts';

type BufferOf<T extends Floating> = KernelBuffer<T> | bigint;

interface Sizes {
  /** The rows of `x`: tokens. */
  readonly rows: number;
  /** The columns of `x`. */
  readonly inputs: number;
  /** The columns of `y`. */
  readonly outputs: number;
  /** The rank of the adapter. */
  readonly rank: number;
  /** What the adapter's part is multiplied with, 1 by default: `alpha / rank` in the paper. */
  readonly scale?: number;
}
/** What a launch of `lora` is given. */
export interface LoraArguments<T extends Floating> extends Sizes {
  /** `rows` times `inputs`. */
  readonly x: BufferOf<T>;
  /** The weights of the layer, `outputs` times `inputs`; null to add the adapter's part to `y`. */
  readonly weights: BufferOf<T> | null;
  /** `rank` times `inputs`. */
  readonly a: BufferOf<T>;
  /** `outputs` times `rank`. */
  readonly b: BufferOf<T>;
  /** `rows` times `outputs`. */
  readonly y: BufferOf<T>;
  /** Receives `x aᵀ`, `rows` times `rank`, for the backward kernels; memory for it is allocated if it is not given. */
  readonly hidden?: BufferOf<T>;
}
/** What a launch of `loraBackward` is given. */
export interface LoraBackwardArguments<T extends Floating> extends Sizes {
  readonly x: BufferOf<T>;
  readonly weights: BufferOf<T> | null;
  readonly a: BufferOf<T>;
  readonly b: BufferOf<T>;
  /** What `lora` gave. */
  readonly hidden: BufferOf<T>;
  /** `rows` times `outputs`. */
  readonly dy: BufferOf<T>;
  /** Receives the gradient of `a`. */
  readonly da: BufferOf<T>;
  /** Receives the gradient of `b`. */
  readonly db: BufferOf<T>;
  /** Receives the gradient of `x`; left out if it is not given. */
  readonly dx?: BufferOf<T>;
}

type Given = GemmArguments<'f32'>;
/** A product of small factors: their tiles are small, too. */
const product = (
  steps: Steps,
  type: unknown,
  how: { readonly transposeA?: boolean; readonly transposeB?: boolean },
  given: unknown,
): void => steps.launch(gemm({ type: type as never, ...how, tile: 64 }), given as Given);

function assertSizes(name: string, { rows, inputs, outputs, rank }: Sizes): void {
  for (const [what, size] of Object.entries({ rows, inputs, outputs, rank })) assertSize(name, what, size);
}

/** `y = x weightsᵀ + scale * (x aᵀ) bᵀ`, in two or three products of matrices. Deterministic. */
export function lora<T extends Floating = 'f32'>(options: TypeOption<T> = {}): Procedure<LoraArguments<T>> {
  const type = typeOf(options);
  const name = named('lora', type.name);
  const both = { transposeB: true };
  return new Procedure(
    name,
    () => [gemm({ type: type as never, ...both, tile: 64 })],
    (steps, given: LoraArguments<T>) => {
      assertSizes(name, given);
      const { x, weights, a, b, y, rows, inputs, outputs, rank, scale = 1 } = given;
      const hidden = given.hidden ?? steps.scratch(type.name, rows * rank);
      product(steps, type, both, { a: x, b: a, c: hidden, m: rows, n: rank, k: inputs });
      if (weights !== null) product(steps, type, both, { a: x, b: weights, c: y, m: rows, n: outputs, k: inputs });
      product(steps, type, both, { a: hidden, b, c: y, m: rows, n: outputs, k: rank, alpha: scale, beta: 1 });
    },
  );
}

/**
 * The backward kernels of `lora`: `da = scale * (dy b)ᵀ x`, `db = scale * dyᵀ hidden` and `dx = dy weights + scale * (dy b) a`. The weights are frozen, and have no
 * gradient. Deterministic.
 */
export function loraBackward<T extends Floating = 'f32'>(options: TypeOption<T> = {}): Procedure<LoraBackwardArguments<T>> {
  const type = typeOf(options);
  const name = named('lora_backward', type.name);
  return new Procedure(
    name,
    () => [gemm({ type: type as never, tile: 64 }), gemm({ type: type as never, transposeA: true, tile: 64 })],
    (steps, given: LoraBackwardArguments<T>) => {
      assertSizes(name, given);
      const { x, weights, a, b, hidden, dy, da, db, dx, rows, inputs, outputs, rank, scale = 1 } = given;
      const between = steps.scratch(type.name, rows * rank);
      product(steps, type, {}, { a: dy, b, c: between, m: rows, n: rank, k: outputs, alpha: scale });
      product(steps, type, { transposeA: true }, { a: between, b: x, c: da, m: rank, n: inputs, k: rows });
      product(steps, type, { transposeA: true }, { a: dy, b: hidden, c: db, m: outputs, n: rank, k: rows, alpha: scale });
      if (dx === undefined) return;
      if (weights !== null) product(steps, type, {}, { a: dy, b: weights, c: dx, m: rows, n: inputs, k: outputs });
      product(steps, type, {}, { a: between, b: a, c: dx, m: rows, n: inputs, k: rank, beta: weights === null ? 0 : 1 });
    },
  );
}
