/** A short notation for integer arithmetic of one width, for the expansions of f64. A bigint operand is a constant. */
import type { Builder, IcmpPredicate, IntType, Value } from '../../../ir/index.ts';

export type Operand = Value | bigint;

const binaries = ['add', 'sub', 'mul', 'umulhi', 'and', 'or', 'xor', 'shl', 'lshr', 'ashr', 'smin', 'smax', 'umin', 'umax'] as const;
type Binaries = Record<(typeof binaries)[number], (a: Operand, b: Operand) => Value>;

/** Shifts are total, as in the IR: a count of 64 or more, or a negative one, gives zeros (for `ashr` signs). */
export interface IntegerOps extends Binaries {
  readonly b: Builder;
  word(a: Operand): Value;
  clz(a: Operand): Value;
  /** An i1. */
  is(a: Operand, pred: IcmpPredicate, b: Operand): Value;
  /** The conjunction or disjunction of i1 values. */
  all(...flags: readonly [Value, ...Value[]]): Value;
  any(...flags: readonly [Value, ...Value[]]): Value;
  select(cond: Value, a: Operand, b: Operand): Value;
  /** 1 if a flag holds, else 0. */
  flag(cond: Value): Value;
}

/** Arithmetic that appends at the builder's position, for one block; each constant is created once. The default width is 64 bits. */
export function integerOps(b: Builder, type: IntType = 'i64'): IntegerOps {
  const constants = new Map<bigint, Value>();
  const word = (a: Operand): Value => {
    if (typeof a !== 'bigint') return a;
    const known = constants.get(a) ?? b.const(type, a);
    constants.set(a, known);
    return known;
  };
  const made = Object.fromEntries(binaries.map((op) => [op, (x: Operand, y: Operand) => b[op](word(x), word(y))])) as Binaries;
  return {
    ...made,
    b,
    word,
    clz: (a) => b.clz(word(a)),
    is: (x, pred, y) => b.icmp(word(x), word(y), { pred }),
    all: (first, ...rest) => rest.reduce((sum, flag) => b.and(sum, flag), first),
    any: (first, ...rest) => rest.reduce((sum, flag) => b.or(sum, flag), first),
    select: (cond, x, y) => b.select(cond, word(x), word(y)),
    flag: (cond) => b.zext(type, cond),
  };
}
