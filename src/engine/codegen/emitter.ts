/** The emitter: the interface through which instruction-selection rules push operands, call helpers and write code. */

import { bitsOf, type Kernel, type Type, type Value, type Variable } from '../../ir/index.ts';
import type { Code, ValueType } from '../../wasm/index.ts';
import type { HelperName } from './helpers.ts';
import type { Probe, SanitizerHooks } from './hooks.ts';
import type { Host } from './host.ts';
import type { Scratch } from './scratch.ts';
import { heldAs, type Values } from './values.ts';

export interface Emitter {
  readonly kernel: Kernel;
  readonly code: Code;
  readonly host: Host;
  readonly values: Values;
  /** The scratch locals of the function that is being written. */
  readonly scratch: Scratch;
  helper(name: HelperName): number;
  /** Pushes a leaf value (`isLeaf`), which is rematerialized at every use. */
  leaf(value: Value): void;
  /** Pushes the address at which the window of an address space starts for this thread. */
  window(space: Variable['space']): void;
  /** Pushes the memory index of an atomic, where the caller has computed it. */
  readonly index?: (() => void) | undefined;
  /** Of an instrumented compilation. */
  readonly sanitizer?: SanitizerHooks | undefined;
  readonly probe?: Probe | undefined;
  /** Whether f32 arithmetic flushes subnormals to zero. */
  readonly isFlushing?: boolean | undefined;
}

/** An operation of two operands. */
export interface Binary {
  readonly type: Type;
  readonly a: Value;
  readonly b: Value;
}

/** An operation of one operand. */
export interface Unary {
  readonly type: Type;
  readonly a: Value;
}

/** Integers (and f16, bf16) of fewer bits than the i32 that holds them. */
export const isNarrow = (type: Type): boolean => heldAs(type) === 'i32' && bitsOf(type) < 32;
/** The float types that WebAssembly lacks. */
export const isShort = (type: Type): type is 'f16' | 'bf16' => type === 'f16' || type === 'bf16';
/** The type in which arithmetic on a float type is done. */
export const computedAs = (type: Type): 'f32' | 'f64' => (type === 'f64' ? 'f64' : 'f32');
/** The suffix of a helper's name for operands of a type. */
export const suffix = (type: ValueType): '32' | '64' => (type.endsWith('64') ? '64' : '32');

/** The type of a value. */
export const typeOf = (e: Emitter, value: Value): Type => e.kernel.insts[value]!.type;
/** Calls a helper; its arguments are on the stack. */
export const call = (e: Emitter, name: HelperName): void => e.code.at('call', e.helper(name));
/** Pushes a value in the representation that holds it. */
export const pushPlain = (e: Emitter, value: Value): void => e.values.push(value);

/** Pushes values in the representations that hold them, the first one first. */
export function pushAll(e: Emitter, values: readonly Value[]): void {
  for (const value of values) e.values.push(value);
}

/** Zero-extends the narrow integer on the stack, the representation in which narrow integers are held. */
export function mask(e: Emitter, type: Type): void {
  if (!isNarrow(type) || isShort(type)) return;
  e.code.i32(2 ** bitsOf(type) - 1);
  e.code.op('i32.and');
}

/** Pushes an integer, sign-extended to the width that holds it. */
export function pushSigned(e: Emitter, value: Value): void {
  const type = typeOf(e, value);
  if (type === 'i1') e.code.i32(0);
  e.values.push(value);
  if (type === 'i1') e.code.op('i32.sub');
  if (type === 'i8' || type === 'i16') e.code.op(type === 'i8' ? 'i32.extend8_s' : 'i32.extend16_s');
}

/** Pushes a float in the type in which it is computed. */
export function pushFloat(e: Emitter, value: Value): void {
  const type = typeOf(e, value);
  e.values.push(value);
  if (isShort(type)) e.code.at('call', e.host.functions[`${type}Value`]);
}

/** Rounds a computed float to its own type. An f32 result of two f16 operands has enough bits that the second rounding is harmless. */
export function narrow(e: Emitter, type: Type): void {
  if (isShort(type)) narrowFrom(e, type, 'f32');
}

/** Rounds a float on the stack to f16 or bf16. */
export function narrowFrom(e: Emitter, type: Type, from: 'f32' | 'f64'): void {
  if (from === 'f32') e.code.op('f64.promote_f32');
  e.code.at('call', e.host.functions[type === 'f16' ? 'f16Bits' : 'bf16Bits']);
}

/** Replaces a value on the stack by its bits, as an i64. */
export function writeBits(code: Code, type: Type): void {
  const held = heldAs(type);
  if (held === 'f64') code.op('i64.reinterpret_f64');
  if (held === 'f32') code.op('i32.reinterpret_f32');
  if (held === 'f32' || held === 'i32') code.op('i64.extend_i32_u');
}
