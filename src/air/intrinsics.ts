/**
 * The `air.*` functions: one table for emission, raising and validation. A row says how the name is spelled for given types,
 * the signature, the attributes of its declaration, and which IR op it is.
 * Source of names and signatures: AIR that Apple's compiler produced (listings in public repositories), JuliaGPU/Metal.jl.
 */
import { type Type as LlvmType, types as llvm, type TypeOf } from '../bitcode/types.ts';
import type { Op, ScalarType } from '../ir/index.ts';

/** `pure`: no memory; `convergent`: barriers and simdgroup operations. */
export type IntrinsicClass = 'pure' | 'convergent';

export interface Intrinsic {
  readonly name: string;
  readonly type: TypeOf<'function'>;
  readonly class: IntrinsicClass;
  readonly op: Op;
  /** Only read from other people's files. */
  readonly raiseOnly: boolean;
  /** The IR scalar type of result and of first operand. */
  readonly result: ScalarType | undefined;
  readonly operand: ScalarType | undefined;
}

/** LLVM's functions that tell a compiler something and do nothing; raising leaves them out. */
const hints = ['llvm.dbg.', 'llvm.lifetime.', 'llvm.assume', 'llvm.experimental.noalias.scope.decl', 'llvm.donothing'];
export const isHint = (name: string): boolean => hints.some((hint) => name.startsWith(hint));

/** LLVM's type for an IR scalar. */
export const llvmScalar: Record<ScalarType, LlvmType> = {
  i1: llvm.i1,
  i8: llvm.i8,
  i16: llvm.i16,
  i32: llvm.i32,
  i64: llvm.i64,
  f16: llvm.half,
  bf16: llvm.bfloat,
  f32: llvm.float,
  f64: llvm.double,
};

/** Which float types an `air.` math function has; f64 forms are read and written for the CPU target only. */
const mathTypes: readonly ScalarType[] = ['f32', 'f16', 'f64'];
const ints: readonly ScalarType[] = ['i8', 'i16', 'i32', 'i64'];
const floats: readonly ScalarType[] = ['f16', 'bf16', 'f32', 'f64'];

type Spec = Omit<Intrinsic, 'raiseOnly'> & { raiseOnly?: boolean };
const table = new Map<string, Intrinsic>();
const add = (spec: Spec): void => void table.set(spec.name, { raiseOnly: false, ...spec });

const signature = (result: LlvmType, ...params: LlvmType[]) => llvm.function(result, params);

/** Float math, precise and relaxed forms alike: the exact result is always a legal relaxed one. */
const math: Partial<Record<Op, { name: string; arity: number; hasFast: boolean }>> = {
  fma: { name: 'fma', arity: 3, hasFast: false },
  fsqrt: { name: 'sqrt', arity: 1, hasFast: true },
  fabs: { name: 'fabs', arity: 1, hasFast: true },
  fmin: { name: 'fmin', arity: 2, hasFast: true },
  fmax: { name: 'fmax', arity: 2, hasFast: true },
  frint: { name: 'rint', arity: 1, hasFast: true },
  ftrunc: { name: 'trunc', arity: 1, hasFast: true },
  ffloor: { name: 'floor', arity: 1, hasFast: true },
  fceil: { name: 'ceil', arity: 1, hasFast: true },
};

for (const [op, { name, arity, hasFast }] of Object.entries(math) as [Op, { name: string; arity: number; hasFast: boolean }][])
  for (const t of mathTypes) {
    const type = signature(llvmScalar[t], ...Array<LlvmType>(arity).fill(llvmScalar[t]));
    add({ name: `air.${name}.${t}`, type, class: 'pure', op, result: t, operand: t });
    if (hasFast && t === 'f32') add({ name: `air.fast_${name}.f32`, type, class: 'pure', op, result: t, operand: t, raiseOnly: true });
  }

for (const t of ints) {
  const of = llvmScalar[t];
  add({ name: `air.clz.${t}`, type: signature(of, of, llvm.i1), class: 'pure', op: 'clz', result: t, operand: t });
  for (const sign of ['s', 'u'] as const) {
    const binary = (name: string, op: Op, raiseOnly: boolean) =>
      add({ name: `air.${name}.${sign}.${t}`, type: signature(of, of, of), class: 'pure', op, result: t, operand: t, raiseOnly });
    binary('mul_hi', `${sign}mulhi`, false);
    binary('min', `${sign}min`, true);
    binary('max', `${sign}max`, true);
  }
  for (const f of floats)
    for (const sign of ['s', 'u'] as const) {
      const from = `fpto${sign}i` as const;
      const to = `${sign}itofp` as const;
      add({ name: `air.convert.${sign}.${t}.f.${f}`, type: signature(of, llvmScalar[f]), class: 'pure', op: from, result: t, operand: f });
      add({ name: `air.convert.f.${f}.${sign}.${t}`, type: signature(llvmScalar[f], of), class: 'pure', op: to, result: f, operand: t });
    }
}

add({
  name: 'air.wg.barrier',
  type: signature(llvm.void, llvm.i32, llvm.i32),
  class: 'convergent',
  op: 'barrier',
  result: undefined,
  operand: undefined,
});

/** All known functions by name. */
export const intrinsics: ReadonlyMap<string, Intrinsic> = table;

/** The function that says an op with these types, where there is one. */
export function intrinsicFor(op: Op, result: ScalarType | undefined, operand: ScalarType | undefined): Intrinsic | undefined {
  for (const row of table.values()) if (row.op === op && row.result === result && row.operand === operand && !row.raiseOnly) return row;
  return undefined;
}

/** Flags and scope of `air.wg.barrier` for `bar.sync`: device (1) and threadgroup (2) memory, threadgroup scope (1). */
export const barrierOperands = { memory: 3, scope: 1 } as const;
