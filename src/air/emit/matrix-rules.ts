/**
 * Products of matrices of 8 by 8 in AIR. A lane's two elements go into the first two of a `<64 x T>` and come out of them, as Apple's
 * compiler has it for `thread_elements()`; which elements of the matrix those are Apple does not say (docs/matrix.md tells who relies
 * on it). A sum that is added to is handed on whole.
 */
import type { Block, Value as LlvmValue } from '../../bitcode/model.ts';
import { type TypeOf, types } from '../../bitcode/types.ts';
import { elementOf, type InstOf, type Value } from '../../ir/index.ts';
import { i32Constant } from '../constants.ts';
import { llvmScalar, productFunction } from '../intrinsics.ts';
import { type MatrixElement, matrixType } from '../matrix-functions.ts';
import type { KernelEmitter } from './emitter.ts';
import { constantValue, undef } from './function-builder.ts';

/** An element of a vector: what was put there, where that is seen. */
export function elementAt({ b }: KernelEmitter, vector: LlvmValue, lane: number): LlvmValue {
  for (let from = vector; from.kind === 'instruction' && from.op === 'insertelement'; from = from.vector)
    if (constantValue(from.index) === BigInt(lane)) return from.value;
  return b.emit('extractelement', (vector.type as TypeOf<'vector'>).element, { vector, index: i32Constant(lane) });
}

/**
 * What a matrix of these elements is put together as: bfloats are widened, for one that is put together of bfloats is taken for zeros.
 * Source: JuliaGPU/Metal.jl, src/gemm.jl (halves and floats put together work on an M1, bfloats do not).
 */
const heldAs = { f32: 'f32', f16: 'f16', bf16: 'f32' } as const;

/** The matrices whose two elements these vectors are: products everywhere, those put together in their block. */
const wholes = new WeakMap<LlvmValue, { readonly whole: LlvmValue; readonly block: Block | undefined }>();

const elementIn = (e: KernelEmitter, value: Value): MatrixElement => elementOf(e.kernel.insts[value]!.type) as MatrixElement;

function inserted({ b }: KernelEmitter, into: LlvmValue, elements: readonly LlvmValue[]): LlvmValue {
  return elements.reduce<LlvmValue>(
    (vector, value, lane) => b.emit('insertelement', into.type, { vector, value, index: i32Constant(lane) }),
    into,
  );
}

/** The matrix of which each lane has two elements in a vector. */
function wholeOf(e: KernelEmitter, value: Value): LlvmValue {
  const pair = e.value(value);
  const known = wholes.get(pair);
  if (known && (known.block ?? e.b.block) === e.b.block) return known.whole;
  const type = matrixType(heldAs[elementIn(e, value)]);
  const elements = [0, 1].map((lane) => e.b.cast('fpext', elementAt(e, pair, lane), type.element));
  const whole = inserted(e, undef(type), elements);
  wholes.set(pair, { whole, block: e.b.block });
  return whole;
}

/** The lane's two elements of the product. */
export function matmulRule(e: KernelEmitter, inst: InstOf<'matmul'>): LlvmValue {
  const matrices = [inst.a, inst.b, inst.c];
  const [a, b, c] = matrices.map((value) => heldAs[elementIn(e, value)]) as [MatrixElement, MatrixElement, MatrixElement];
  const element = elementOf(inst.type) as MatrixElement;
  const args = matrices.map((value) => wholeOf(e, value));
  const whole = e.call(productFunction(heldAs[element], a, b, c), args);
  const type = llvmScalar[element];
  const elements = [0, 1].map((lane) => e.b.cast('fptrunc', elementAt(e, whole, lane), type));
  const pair = inserted(e, undef(types.vector(type, 2)), elements);
  if (heldAs[element] === element) wholes.set(pair, { whole, block: undefined });
  return pair;
}
