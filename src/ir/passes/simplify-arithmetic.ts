/** Identities of integer and float ops. They hold for every bit pattern, NaN and -0 among them. */
import { type RangeOptions, threadNumberMax } from '../analysis/value-range.ts';
import { evalOp, isEvaluableInst } from '../eval.ts';
import type { Inst, InstOf } from '../kernel.ts';
import type { IcmpPredicate, Op } from '../ops.ts';
import { bitsOf, type Type } from '../types.ts';
import { bitsIn, constant, defOf, placeConstant, type Rewrite, type RewriteContext, type RewriteRule } from './rewrite.ts';
import { associative, invertComparison } from './symmetry.ts';

type Binary = InstOf<'add'>;
type BinaryRule = (inst: Binary, c: RewriteContext) => Rewrite;
/** `a`: the first operand; else the bits of the result, 'ones' being all bits. */
type Answer = 'a' | 'zero' | 'ones' | undefined;

interface Identity {
  /** The answer where both operands are the same value. */
  readonly same?: Answer;
  /** The answer where the second operand is 0, 1, or all ones. */
  readonly zero?: Answer;
  readonly one?: Answer;
  readonly ones?: Answer;
  /** The answer where a shift count is the width or more. */
  readonly wide?: Answer;
}

const binaries = {
  add: { zero: 'a' },
  sub: { same: 'zero', zero: 'a' },
  mul: { zero: 'zero', one: 'a' },
  smulhi: { zero: 'zero' },
  umulhi: { zero: 'zero', one: 'zero' },
  sdiv: { zero: 'ones', one: 'a' },
  udiv: { zero: 'ones', one: 'a' },
  srem: { zero: 'a', one: 'zero', ones: 'zero' },
  urem: { zero: 'a', one: 'zero' },
  and: { same: 'a', zero: 'zero', ones: 'a' },
  or: { same: 'a', zero: 'a', ones: 'ones' },
  xor: { same: 'zero', zero: 'a' },
  shl: { zero: 'a', wide: 'zero' },
  lshr: { zero: 'a', wide: 'zero' },
  ashr: { zero: 'a' },
  smin: { same: 'a' },
  smax: { same: 'a' },
  umin: { same: 'a', zero: 'zero', ones: 'a' },
  umax: { same: 'a', zero: 'a', ones: 'ones' },
} as const satisfies Partial<Record<Op, Identity>>;

/** What an integer operation gives where its second operand is 0: the first operand, zero or all ones; undefined where that depends. */
export const answerForZero = (op: Op): Answer => (binaries as Partial<Record<Op, Identity>>)[op]?.zero;

const isWide = (bits: bigint, type: Type): boolean => bits >= bitsOf(type);
const onesOfWidths: readonly bigint[] = Array.from({ length: 65 }, (_, bits) => (1n << BigInt(bits)) - 1n);
const onesOf = (type: Type): bigint => onesOfWidths[bitsOf(type)]!;

/** Where a constant fits two descriptions, as 1 does for i1, both answers are true; the first is taken. */
function answerOf(identity: Identity, { a, b, type }: Binary, c: RewriteContext): Answer {
  if (a === b && identity.same) return identity.same;
  const bits = bitsIn(c, b);
  if (bits === undefined) return undefined;
  if (identity.wide && isWide(bits, type)) return identity.wide;
  if (bits === 0n) return identity.zero;
  return (bits === 1n ? identity.one : undefined) ?? (bits === onesOf(type) ? identity.ones : undefined);
}

const binaryRule =
  (identity: Identity): BinaryRule =>
  (inst, c) => {
    const answer = answerOf(identity, inst, c);
    if (answer === 'a') return inst.a;
    if (answer !== undefined) return constant(inst.type, answer === 'zero' ? 0n : -1n);
    return associative.has(inst.op) ? gathered(inst, c) : undefined;
  };

/** (x op c) op d = x op (c op d). */
function gathered(inst: Binary, c: RewriteContext): Rewrite {
  const inner = defOf(c, inst.a);
  const outerBits = bitsIn(c, inst.b);
  if (inner.op !== inst.op || outerBits === undefined) return undefined;
  const innerBits = bitsIn(c, inner.b);
  if (innerBits === undefined || !isEvaluableInst(inst)) return undefined;
  return { ...inst, a: inner.a, b: placeConstant(c, inst.type, evalOp(inst, [innerBits, outerBits], [inst.type, inst.type])) };
}

/** Predicates that hold of a value and itself. */
const reflexive: ReadonlySet<IcmpPredicate> = new Set(['eq', 'sle', 'sge', 'ule', 'uge']);

const icmp: RewriteRule<'icmp'> = ({ a, b, pred }, c) => {
  if (a === b) return constant('i1', reflexive.has(pred) ? 1n : 0n);
  const isFlag = defOf(c, a).type === 'i1';
  const bits = bitsIn(c, b);
  // A comparison of two flags is often the rest of a negated or widened predicate.
  return isFlag && ((pred === 'ne' && bits === 0n) || (pred === 'eq' && bits === 1n)) ? a : undefined;
};

const select: RewriteRule<'select'> = ({ cond, a, b, type }, c) => {
  if (a === b) return a;
  const bits = bitsIn(c, cond);
  if (bits !== undefined) return bits === 1n ? a : b;
  return type === 'i1' && bitsIn(c, a) === 1n && bitsIn(c, b) === 0n ? cond : undefined;
};

const exclusiveOr = binaryRule(binaries.xor);

/** A comparison xor 1 is the inverse comparison. */
const xor: RewriteRule<'xor'> = (inst, c) => {
  const answer = exclusiveOr(inst as unknown as Binary, c);
  const isInverse = answer === undefined && inst.type === 'i1' && bitsIn(c, inst.b) === 1n;
  return isInverse ? invertComparison(defOf(c, inst.a)) : answer;
};

/**
 * The facts that shifts use of the value-range analysis: thread numbers and the results of these ops on them, as 32-bit numbers that are not
 * negative. Every metallib depends on them.
 */
export const ofThreads: RangeOptions = {
  through: new Set<Op>(['add', 'and', 'lshr', 'ashr']),
  sregs: threadNumberMax,
  usesWidths: false,
  ceiling: (1n << 31n) - 1n,
};

/** Compilers divide signed numbers by shifts, after adding a bias that they take from the sign; of a number that is not negative the bias is 0. */
const ofNatural =
  (rule: BinaryRule): BinaryRule =>
  (inst, c) => {
    const answer = rule(inst, c);
    const by = answer === undefined ? bitsIn(c, inst.b) : undefined;
    const isBounded = by !== undefined && by < 32n && inst.type === 'i32';
    const most = isBounded ? c.threadRanges.unsignedMax(inst.a) : undefined;
    if (by === undefined || most === undefined) return answer;
    if (most >> by === 0n) return constant(inst.type, 0n);
    return (inst.op as Op) === 'ashr' ? ({ ...inst, op: 'lshr' } as Inst) : undefined;
  };

const fneg: RewriteRule<'fneg'> = ({ a }, c) => {
  const inner = defOf(c, a);
  return inner.op === 'fneg' ? inner.a : undefined;
};

const fabs: RewriteRule<'fabs'> = (inst, c) => {
  const inner = defOf(c, inst.a);
  if (inner.op === 'fabs') return inst.a;
  return inner.op === 'fneg' ? { ...inst, a: inner.a } : undefined;
};

const ftz: RewriteRule<'ftz'> = (inst, c) => (defOf(c, inst.a).op === 'ftz' ? inst.a : undefined);

const binaryRules = Object.fromEntries(Object.entries(binaries).map(([op, identity]) => [op, binaryRule(identity)])) as Record<
  keyof typeof binaries,
  (inst: Inst, c: RewriteContext) => Rewrite
>;

const shifts = { lshr: ofNatural(binaryRule(binaries.lshr)), ashr: ofNatural(binaryRule(binaries.ashr)) };

/** Rules of arithmetic, comparison and choice. */
export const arithmeticRules = { ...binaryRules, ...shifts, xor, icmp, select, fneg, fabs, ftz };
