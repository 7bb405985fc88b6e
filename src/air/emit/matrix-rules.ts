/**
 * Products of 8-by-8 matrices in AIR. A lane's two elements are inserted into the first two of a `<64 x T>` and extracted from them, as
 * Apple's compiler does for `thread_elements()`. Apple does not document which elements of the matrix those are (docs/matrix.md lists who
 * relies on the layout). A product that is used as an addend is passed on as a whole.
 */
import type { Block, Value as LlvmValue } from '../../bitcode/model.ts';
import { type TypeOf, types } from '../../bitcode/types.ts';
import { elementOf, type InstOf, type Value } from '../../ir/index.ts';
import { i32Constant } from '../constants.ts';
import { mmaFunction, productFunction } from '../intrinsics.ts';
import { llvmScalar } from '../llvm-scalar.ts';
import { type MatrixElement, matrixType } from '../matrix-functions.ts';
import type { KernelEmitter } from './emitter.ts';
import { constantValue, undef } from './function-builder.ts';

/** An element of a vector; the inserted value if it is visible. */
export function elementAt({ b }: KernelEmitter, vector: LlvmValue, lane: number): LlvmValue {
  for (let from = vector; from.kind === 'instruction' && from.op === 'insertelement'; from = from.vector)
    if (constantValue(from.index) === BigInt(lane)) return from.value;
  return b.emit('extractelement', (vector.type as TypeOf<'vector'>).element, { vector, index: i32Constant(lane) });
}

/**
 * The element type for assembling a matrix. bf16 is widened, because a matrix assembled from bf16 elements reads as zeros.
 * Source: JuliaGPU/Metal.jl, src/gemm.jl (halves and floats put together work on an M1, bfloats do not).
 */
const assembledAs = { f32: 'f32', f16: 'f16', bf16: 'f32' } as const;

/** The matrices behind pairs of elements: products are valid everywhere, assembled matrices in their block. */
const matrices = new WeakMap<LlvmValue, { readonly whole: LlvmValue; readonly block: Block | undefined }>();

const elementIn = (e: KernelEmitter, value: Value): MatrixElement => elementOf(e.kernel.insts[value]!.type) as MatrixElement;

function inserted({ b }: KernelEmitter, into: LlvmValue, elements: readonly LlvmValue[]): LlvmValue {
  return elements.reduce<LlvmValue>(
    (vector, value, lane) => b.emit('insertelement', into.type, { vector, value, index: i32Constant(lane) }),
    into,
  );
}

/** The matrix whose elements of this lane are in a vector. */
function matrixOf(e: KernelEmitter, value: Value): LlvmValue {
  const pair = e.value(value);
  const known = matrices.get(pair);
  if (known && (known.block ?? e.b.block) === e.b.block) return known.whole;
  const type = matrixType(assembledAs[elementIn(e, value)]);
  const elements = [0, 1].map((lane) => e.b.cast('fpext', elementAt(e, pair, lane), type.element));
  const whole = inserted(e, undef(type), elements);
  matrices.set(pair, { whole, block: e.b.block });
  return whole;
}

/** The registers of a product of a warp, which only the CPU device has as an instruction. */
export const mmaRule = (e: KernelEmitter, { a, b, c, d, form }: InstOf<'mma'>): LlvmValue =>
  e.call(
    mmaFunction(form),
    [a, b, c, d].map((each) => e.value(each)),
  );

/** The lane's two elements of the product. */
export function matmulRule(e: KernelEmitter, inst: InstOf<'matmul'>): LlvmValue {
  const factors = [inst.a, inst.b, inst.c];
  const [a, b, c] = factors.map((value) => assembledAs[elementIn(e, value)]) as [MatrixElement, MatrixElement, MatrixElement];
  const element = elementOf(inst.type) as MatrixElement;
  const args = factors.map((value) => matrixOf(e, value));
  const whole = e.call(productFunction(assembledAs[element], a, b, c), args);
  const type = llvmScalar[element];
  const elements = [0, 1].map((lane) => e.b.cast('fptrunc', elementAt(e, whole, lane), type));
  const pair = inserted(e, undef(types.vector(type, 2)), elements);
  if (assembledAs[element] === element) matrices.set(pair, { whole, block: undefined });
  return pair;
}
