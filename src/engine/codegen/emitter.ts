/** What the rules of all ops share: where code goes, and how operands of each type get on the stack. */

import { bitsOf, type Kernel, type Type, type Value, type Variable } from '../../ir/index.ts';
import type { Code, ValueType } from '../../wasm/index.ts';
import type { HelperName } from './helpers.ts';
import type { Probe, SanitizerHooks } from './hooks.ts';
import type { Host } from './host.ts';
import { heldAs, type Values } from './values.ts';

export interface Emitter {
  readonly kernel: Kernel;
  readonly code: Code;
  readonly host: Host;
  readonly values: Values;
  helper(name: HelperName): number;
  /** Puts a value on the stack that is made anew at every use. */
  free(value: Value): void;
  /** Puts the address on the stack at which the window of a space starts for this thread. */
  window(space: Variable['space']): void;
  /** Puts the index of memory on the stack that an atomic is at, where that is worked out before. */
  readonly index?: (() => void) | undefined;
  /** Of an instrumented compilation. */
  readonly sanitizer?: SanitizerHooks | undefined;
  readonly probe?: Probe | undefined;
  /** Whether singles are computed without subnormal ones. */
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

/** Integers (and halves) of fewer bits than the word they are held in. */
export const isNarrow = (type: Type): boolean => heldAs(type) === 'i32' && bitsOf(type) < 32;
/** Floats that WebAssembly does not have. */
export const isShort = (type: Type): type is 'f16' | 'bf16' => type === 'f16' || type === 'bf16';
/** The type in which a float is computed. */
export const computedAs = (type: Type): 'f32' | 'f64' => (type === 'f64' ? 'f64' : 'f32');
/** How helpers of a width are named. */
export const suffix = (type: ValueType): '32' | '64' => (type.endsWith('64') ? '64' : '32');

/** The type of a value. */
export const typeOf = (e: Emitter, value: Value): Type => e.kernel.insts[value]!.type;
/** Calls a helper on what is on the stack. */
export const call = (e: Emitter, name: string): void => e.code.at('call', e.helper(name as HelperName));
/** A value as it is held. */
export const pushPlain = (e: Emitter, value: Value): void => e.values.push(value);

/** Values as they are held, the first one first. */
export function pushAll(e: Emitter, values: readonly Value[]): void {
  for (const value of values) e.values.push(value);
}

/** Narrow integers are kept zero-extended. */
export function mask(e: Emitter, type: Type): void {
  if (!isNarrow(type) || isShort(type)) return;
  e.code.i32(2 ** bitsOf(type) - 1);
  e.code.op('i32.and');
}

/** An integer, sign-extended to the width in which it is held. */
export function pushSigned(e: Emitter, value: Value): void {
  const type = typeOf(e, value);
  if (type === 'i1') e.code.i32(0);
  e.values.push(value);
  if (type === 'i1') e.code.op('i32.sub');
  if (type === 'i8' || type === 'i16') e.code.op(`i32.extend${bitsOf(type)}_s`);
}

/** A float in the type it is computed in. */
export function pushFloat(e: Emitter, value: Value): void {
  const type = typeOf(e, value);
  e.values.push(value);
  if (isShort(type)) e.code.at('call', e.host.functions[`${type}Value`]);
}

/** A computed float to its own type. A float result of two halves has enough bits that rounding it once more is harmless. */
export function narrow(e: Emitter, type: Type): void {
  if (isShort(type)) narrowFrom(e, type, 'f32');
}

/** A float on the stack to a half or bfloat. */
export function narrowFrom(e: Emitter, type: Type, from: 'f32' | 'f64'): void {
  if (from === 'f32') e.code.op('f64.promote_f32');
  e.code.at('call', e.host.functions[type === 'f16' ? 'f16Bits' : 'bf16Bits']);
}

/** The bits of a value on the stack as an i64. */
export function writeBits(code: Code, type: Type): void {
  const held = heldAs(type);
  if (held === 'f64') code.op('i64.reinterpret_f64');
  if (held === 'f32') code.op('i32.reinterpret_f32');
  if (held === 'f32' || held === 'i32') code.op('i64.extend_i32_u');
}
