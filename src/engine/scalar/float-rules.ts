/** Scalar rules of float ops. f16 and bf16 values are held as their bits, computed in f32 and rounded back; fused multiply-add has helpers. */
import type { FcmpPredicate, InstOf } from '../../ir/index.ts';
import type { ApproximateName } from '../codegen/approximate.ts';
import {
  type Binary,
  call,
  computedAs,
  type Emitter,
  isShort,
  narrow,
  pushAll,
  pushFloat,
  suffix,
  typeOf,
  type Unary,
} from '../codegen/emitter.ts';
import type { FloatOp } from '../codegen/mnemonics.ts';

/** A float op with two operands that is a WebAssembly instruction. */
export const float2 =
  (name: FloatOp) =>
  (e: Emitter, inst: Binary): void => {
    pushFloat(e, inst.a);
    pushFloat(e, inst.b);
    e.code.op(`${computedAs(inst.type)}.${name}`);
    narrow(e, inst.type);
  };

/** A float op with one operand that is a WebAssembly instruction. */
export const float1 =
  (name: FloatOp) =>
  (e: Emitter, inst: Unary): void => {
    pushFloat(e, inst.a);
    e.code.op(`${computedAs(inst.type)}.${name}`);
    narrow(e, inst.type);
  };

/** 1 over a float, which is exact here. */
export const reciprocal = (e: Emitter, inst: Unary): void => {
  if (inst.type === 'f64') e.code.f64(0x3ff0_0000_0000_0000n);
  else e.code.f32(0x3f80_0000);
  pushFloat(e, inst.a);
  e.code.op(`${computedAs(inst.type)}.div`);
};

/** An approximate function: of f32 and narrower floats by a helper, of f64 in the host. */
export const approximate =
  (name: ApproximateName) =>
  (e: Emitter, inst: Unary): void => {
    pushFloat(e, inst.a);
    e.code.at('call', computedAs(inst.type) === 'f32' ? e.helper(name) : e.host.functions[name]);
    narrow(e, inst.type);
  };

/** min or max, by a helper. */
export const floatChoice =
  (name: 'fmin' | 'fmax') =>
  (e: Emitter, inst: Binary): void => {
    pushFloat(e, inst.a);
    pushFloat(e, inst.b);
    call(e, `${name}${suffix(computedAs(inst.type))}`);
    narrow(e, inst.type);
  };

/** Each predicate as a WebAssembly comparison or a helper; unordered predicates are negations of the opposite ordered ones. */
const comparisons: Record<FcmpPredicate, { readonly name: FloatOp | 'one' | 'ord'; readonly isNegated: boolean }> = {
  oeq: { name: 'eq', isNegated: false },
  one: { name: 'one', isNegated: false },
  olt: { name: 'lt', isNegated: false },
  ole: { name: 'le', isNegated: false },
  ogt: { name: 'gt', isNegated: false },
  oge: { name: 'ge', isNegated: false },
  ord: { name: 'ord', isNegated: false },
  ueq: { name: 'one', isNegated: true },
  une: { name: 'ne', isNegated: false },
  ult: { name: 'ge', isNegated: true },
  ule: { name: 'gt', isNegated: true },
  ugt: { name: 'le', isNegated: true },
  uge: { name: 'lt', isNegated: true },
  uno: { name: 'ord', isNegated: true },
};

/** A float comparison, in the type in which the operands are computed. */
export function compareFloat(e: Emitter, inst: InstOf<'fcmp'>): void {
  const type = computedAs(typeOf(e, inst.a));
  const { name, isNegated } = comparisons[inst.pred];
  pushFloat(e, inst.a);
  pushFloat(e, inst.b);
  if (name === 'one' || name === 'ord') call(e, `${name}${suffix(type)}`);
  else e.code.op(`${type}.${name}`);
  if (isNegated) e.code.op('i32.eqz');
}

/** Fused multiply-add with one rounding: of f32, and of f64 in native code, by a helper; of other types in the host. */
export function fma(e: Emitter, inst: InstOf<'fma'>): void {
  pushAll(e, [inst.a, inst.b, inst.c]);
  if (inst.type === 'f32') return call(e, 'fma32');
  if (inst.type === 'f64' && e.host.target) return call(e, 'fma64');
  e.code.at('call', e.host.functions[({ f64: 'fmaF64', f16: 'fmaF16', bf16: 'fmaBf16' } as const)[inst.type as 'f64' | 'f16' | 'bf16']]);
}

/** Negation and absolute value change the sign bit only, also of a NaN. */
export function signBit(e: Emitter, inst: InstOf<'fneg'> | InstOf<'fabs'>, name: 'neg' | 'abs'): void {
  e.values.push(inst.a);
  if (!isShort(inst.type)) return e.code.op(`${computedAs(inst.type)}.${name}`);
  e.code.i32(name === 'neg' ? 0x8000 : 0x7fff);
  e.code.op(name === 'neg' ? 'i32.xor' : 'i32.and');
}
