/** The interface of the rules of `simplify`. */
import type { ValueRanges } from '../analysis/value-range.ts';
import { addInst } from '../build.ts';
import { constantOf, type Inst, type InstOf, type Kernel, type Value } from '../kernel.ts';
import type { Op } from '../ops.ts';
import { bitsOf, type Type } from '../types.ts';

/** The value that an instruction equals, or the instruction that replaces it; undefined where the rule does not apply. */
export type Rewrite = Value | Inst | undefined;
export type RewriteRule<K extends Op> = (inst: InstOf<K>, c: RewriteContext) => Rewrite;

/** The instructions that a rule may ask about, and the place where it may add constants. */
export interface RewriteContext {
  readonly kernel: Kernel;
  /** The rewritten body of the block so far. */
  body: Value[];
  /** The instruction that is rewritten. */
  value: Value;
  /** The ranges of what is made of the numbers of threads. */
  readonly threadRanges: ValueRanges;
}

export const defOf = ({ kernel }: RewriteContext, value: Value): Inst => kernel.insts[value]!;
export const typeIn = ({ kernel }: RewriteContext, value: Value): Type => kernel.insts[value]!.type;

/** The bits of a constant. */
export const bitsIn = ({ kernel }: RewriteContext, value: Value): bigint | undefined => constantOf(kernel, value);

/** A constant instruction; bits wrap to the type. */
export const constant = (type: Type, bits: bigint): Inst => ({ op: 'const', type, bits: BigInt.asUintN(bitsOf(type), bits) });

/** A constant placed before the instruction that is rewritten, with its location. */
export function placeConstant(c: RewriteContext, type: Type, bits: bigint): Value {
  const value = addInst(c.kernel, constant(type, bits), c.kernel.locs[c.value]);
  c.body.push(value);
  return value;
}
