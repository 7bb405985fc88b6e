/** What rules that simplify instructions are made of. */
import type { Inst, SsaType, Value } from './types.ts';

/** What rules see of a function. */
export interface Rewriter {
  readonly types: readonly SsaType[];
  /** The instruction that defines a value; undefined for a parameter. */
  definition(value: Value): Inst | undefined;
  /** The bits of a constant number; undefined for any other value. */
  bits(value: Value): bigint | undefined;
  /** The bytes of a constant vector; undefined for any other value. */
  bytes(value: Value): readonly number[] | undefined;
  /** The result of a new instruction on numbers, which stands before the one that is being simplified. */
  make(op: string, ...args: Value[]): Value;
  /** A constant number. */
  constant(type: SsaType, bits: bigint): Value;
  /** A constant vector. */
  vector(type: SsaType, bytes: readonly number[]): Value;
}

/** An instruction in place of another one, with the same result; or the value that the result is. */
export type Simpler = { readonly inst: Pick<Inst, 'op' | 'args' | 'bits' | 'bytes' | 'lane'> } | { readonly value: Value } | undefined;

export type Rule = (r: Rewriter, inst: Inst) => Simpler;
