/** Float ops: halves and bfloats are held as their bits, computed in float and rounded back; fused ones are exact by other means. */
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

/** An instruction of two operands that WebAssembly has. */
export const float2 =
  (name: string) =>
  (e: Emitter, inst: Binary): void => {
    pushFloat(e, inst.a);
    pushFloat(e, inst.b);
    e.code.op(`${computedAs(inst.type)}.${name}`);
    narrow(e, inst.type);
  };

/** An instruction of one operand that WebAssembly has. */
export const float1 =
  (name: string) =>
  (e: Emitter, inst: Unary): void => {
    pushFloat(e, inst.a);
    e.code.op(`${computedAs(inst.type)}.${name}`);
    narrow(e, inst.type);
  };

/** An approximate function: of singles and less by a helper, of doubles by the host. */
export const approximate =
  (name: ApproximateName) =>
  (e: Emitter, inst: Unary): void => {
    pushFloat(e, inst.a);
    e.code.at('call', computedAs(inst.type) === 'f32' ? e.helper(name) : e.host.functions[name]);
    narrow(e, inst.type);
  };

/** The smaller or the larger, by a helper. */
export const floatChoice =
  (name: 'fmin' | 'fmax') =>
  (e: Emitter, inst: Binary): void => {
    pushFloat(e, inst.a);
    pushFloat(e, inst.b);
    call(e, `${name}${suffix(computedAs(inst.type))}`);
    narrow(e, inst.type);
  };

/** A comparison as WebAssembly has it, or by a helper; the unordered ones are the negations of the opposite ordered ones. */
const comparisons: Record<FcmpPredicate, { readonly name: string; readonly isNegated: boolean }> = {
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

/** A comparison in the type the operands are computed in. */
export function compareFloat(e: Emitter, inst: InstOf<'fcmp'>): void {
  const type = computedAs(typeOf(e, inst.a));
  const { name, isNegated } = comparisons[inst.pred];
  pushFloat(e, inst.a);
  pushFloat(e, inst.b);
  if (name === 'one' || name === 'ord') call(e, `${name}${suffix(type)}`);
  else e.code.op(`${type}.${name}`);
  if (isNegated) e.code.op('i32.eqz');
}

/** In float by a helper; in all else exact, by the host. */
export function fma(e: Emitter, inst: InstOf<'fma'>): void {
  pushAll(e, [inst.a, inst.b, inst.c]);
  if (inst.type === 'f32') return call(e, 'fma32');
  e.code.at('call', e.host.functions[({ f64: 'fmaF64', f16: 'fmaF16', bf16: 'fmaBf16' } as const)[inst.type as 'f64' | 'f16' | 'bf16']]);
}

/** Negation and absolute value act on the sign bit, of NaN too. */
export function signBit(e: Emitter, inst: InstOf<'fneg'> | InstOf<'fabs'>, name: 'neg' | 'abs'): void {
  e.values.push(inst.a);
  if (!isShort(inst.type)) return e.code.op(`${inst.type}.${name}`);
  e.code.i32(name === 'neg' ? 0x8000 : 0x7fff);
  e.code.op(name === 'neg' ? 'i32.xor' : 'i32.and');
}
