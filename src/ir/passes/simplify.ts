/**
 * Constant folding and algebraic identities, one walk in reverse postorder, so that operands are simplified before their users.
 * The result equals the original bit for bit; float identities that fail for a NaN or a zero's sign are left out.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { type KnownBitsOf, knownBits } from '../analysis/known-bits.ts';
import { valueRanges } from '../analysis/value-range.ts';
import { evalOp, isEvaluableInst } from '../eval.ts';
import type { Block, Inst, InstOf, Kernel, Value } from '../kernel.ts';
import { argsOf, mapOperands, mapTerminator, operandsOf } from '../operands.ts';
import type { IcmpPredicate } from '../ops.ts';
import { isScalar } from '../types.ts';
import { byIdentity, usesOf } from './apply-identities.ts';
import { decided } from './decide-comparisons.ts';
import { loadedConstant } from './known-loads.ts';
import { dropRedundantParams } from './redundant-params.ts';
import { bitsIn, constant, placeConstant, type Rewrite, type RewriteContext, typeIn } from './rewrite.ts';
import { type Settled, settledOf } from './settled.ts';
import { arithmeticRules, ofThreads } from './simplify-arithmetic.ts';
import { conversionRules } from './simplify-conversions.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';
import { mirrored } from './symmetry.ts';

/** Rewrites of one instruction in a row; each makes it simpler, so the bound is only for our own faults. */
const maxRewrites = 16;

const rules = { ...arithmeticRules, ...conversionRules } as Partial<Record<string, (inst: Inst, c: RewriteContext) => Rewrite>>;

interface Simplifying extends RewriteContext {
  readonly bits: KnownBitsOf;
  /** How often each value was used before the pass. */
  readonly uses: () => Int32Array;
  readonly settled: Settled;
  /** Whether a rule has asked for uses, of which later passes leave fewer. */
  isByUses: boolean;
}

/** Folds and simplifies in place; true where anything changed. */
export function simplify(kernel: Kernel): boolean {
  let changed = dropRedundantParams(kernel);
  const s = substitution(kernel.insts.length);
  let counts: Int32Array | undefined;
  const c: Simplifying = {
    kernel,
    body: [],
    value: 0 as Value,
    bits: knownBits(kernel),
    threadRanges: valueRanges(kernel, ofThreads),
    uses: () => {
      c.isByUses = true;
      counts ??= usesOf(kernel);
      return counts;
    },
    settled: settledOf(kernel),
    isByUses: false,
  };
  const { order } = cfgOf(kernel);
  for (const id of order) changed = simplifyBlock(kernel.blocks[id]!, c, s) || changed;
  // Definitions were visited before their uses, but for those in unreachable code.
  if (order.length < kernel.blocks.length) substitute(kernel, s);
  return changed;
}

function simplifyBlock(block: Block, c: Simplifying, s: Substitution): boolean {
  let changed = false;
  const before = block.body;
  c.body = [];
  for (const value of before) {
    if (s.count() > 0) mapOperands(c.kernel.insts[value]!, s.of);
    if (c.settled.has(value)) {
      c.body.push(value);
      continue;
    }
    c.value = value;
    c.isByUses = false;
    const result = simplifyInst(c);
    if (typeof result === 'number') s.replace(value, result);
    else {
      c.body.push(value);
      c.settled.note(value, c.isByUses);
    }
    changed ||= result !== false;
  }
  block.body = c.body;
  if (s.count() > 0) mapTerminator(block.end, s.of);
  return decideBranch(block, c) || changed;
}

/** Rewrites the instruction at hand until no rule applies; gives whether one did, or the value that it turned out to be. */
function simplifyInst(c: Simplifying): boolean | Value {
  for (let turn = 0; turn < maxRewrites; turn++) {
    const result = rewriteOf(c.kernel.insts[c.value]!, c);
    if (result === undefined) return turn > 0;
    if (typeof result === 'number') return result;
    c.kernel.insts[c.value] = result;
  }
  return true;
}

function rewriteOf(inst: Inst, c: Simplifying): Rewrite {
  if (inst.op === 'const') return undefined;
  return (
    folded(inst, c) ??
    constantLast(inst, c) ??
    rules[inst.op]?.(inst, c) ??
    decided(inst, c, c.bits) ??
    joined(inst, c) ??
    storedAs(inst, c) ??
    loadedConstant(inst, c.kernel) ??
    foldedChoice(inst, c) ??
    byIdentity(inst, c, c.bits, c.uses)
  );
}

const joins = { and: (a: boolean, b: boolean) => a && b, or: (a: boolean, b: boolean) => a || b, xor: (a: boolean, b: boolean) => a !== b };

/** The outcomes of a comparison of integers for which each predicate holds: below, equal, above. */
const outcomes: Readonly<Record<string, readonly [boolean, boolean, boolean]>> = {
  eq: [false, true, false],
  ne: [true, false, true],
  lt: [true, false, false],
  le: [true, true, false],
  gt: [false, false, true],
  ge: [false, true, true],
};

/** Two comparisons of the same numbers are one. */
function joined(inst: Inst, c: Simplifying): Inst | undefined {
  if (inst.type !== 'i1' || (inst.op !== 'and' && inst.op !== 'or' && inst.op !== 'xor')) return undefined;
  const [x, y] = [c.kernel.insts[inst.a]!, c.kernel.insts[inst.b]!];
  if (x.op !== 'icmp' || y.op !== 'icmp' || x.a !== y.a || !isSame(c, x.b, y.b)) return undefined;
  const kinds = [x, y].map(({ pred }) => (pred.length === 2 ? '' : pred[0]!)).filter((kind) => kind !== '');
  if (kinds[0] !== kinds.at(-1)) return undefined;
  const [of, to] = [x, y].map(({ pred }) => outcomes[pred.slice(-2)]!);
  const holds = of!.map((first, i) => joins[inst.op as keyof typeof joins](first, to![i]!));
  if (holds.every((is) => is === holds[0])) return constant('i1', holds[0] ? 1n : 0n);
  const found = Object.entries(outcomes).find(([, other]) => other.every((is, i) => is === holds[i]))![0];
  const pred = (found === 'eq' || found === 'ne' ? found : `${kinds[0]}${found}`) as IcmpPredicate;
  return { ...x, pred };
}

const isSame = (c: Simplifying, a: Value, b: Value): boolean => a === b || (bitsIn(c, a) !== undefined && bitsIn(c, a) === bitsIn(c, b));

/** Bits are stored as what they were computed as. */
function storedAs(inst: Inst, c: Simplifying): Inst | undefined {
  if (inst.op !== 'store') return undefined;
  const value = c.kernel.insts[inst.value]!;
  if (value.op !== 'bitcast' || inst.volatile) return undefined;
  const from = typeIn(c, value.a);
  return isScalar(from) && from !== 'bf16' ? { ...inst, value: value.a } : undefined;
}

/** An op of a constant and of a choice between constants is a choice between two others. */
function foldedChoice(inst: Inst, c: Simplifying): Inst | undefined {
  if (inst.op === 'select') return undefined;
  const choice = choiceIn(inst, c);
  if (choice === undefined || !isScalar(inst.type) || !isEvaluableInst(inst)) return undefined;
  const operands = operandsOf(inst);
  const arms = [bitsIn(c, choice.a), bitsIn(c, choice.b)];
  if (arms[0] === undefined || arms[1] === undefined) return undefined;
  const types = operands.map((operand) => typeIn(c, operand));
  const [a, b] = arms.map((arm) =>
    evalOp(
      inst,
      operands.map((operand) => bitsIn(c, operand) ?? arm!),
      types,
    ),
  );
  if (a === b) return constant(inst.type, a!);
  return { op: 'select', type: inst.type, cond: choice.cond, a: placeConstant(c, inst.type, a!), b: placeConstant(c, inst.type, b!) };
}

/** The one choice among the operands of an instruction whose others are constants. Most instructions are out at their first operand. */
function choiceIn(inst: Inst, { kernel: { insts } }: Simplifying): InstOf<'select'> | undefined {
  let choice: InstOf<'select'> | undefined;
  const fields = inst as unknown as Record<string, Value>;
  for (const name of argsOf(inst.op)) {
    const of = insts[fields[name]!]!;
    if (of.op === 'const') continue;
    if (of.op !== 'select' || (choice !== undefined && choice !== of)) return undefined;
    choice = of;
  }
  return choice;
}

/** The constant an instruction of constants amounts to. Vectors and addresses have no constant form but the null pointer. */
function folded(inst: Inst, c: RewriteContext): Inst | undefined {
  const names = argsOf(inst.op);
  const fields = inst as unknown as Record<string, Value>;
  // Most instructions are out at their first operand.
  for (let i = 0; i < names.length; i++) if (c.kernel.insts[fields[names[i]!]!]!.op !== 'const') return undefined;
  if (!isScalar(inst.type) || !isEvaluableInst(inst)) return undefined;
  const bits = names.map((name) => bitsIn(c, fields[name]!)!);
  const types = operandsOf(inst).map((operand) => typeIn(c, operand));
  return constant(inst.type, evalOp(inst, bits, types));
}

/** A lone constant becomes the second operand, where the rules expect it. */
function constantLast(inst: Inst, c: RewriteContext): Inst | undefined {
  if (!('a' in inst && 'b' in inst) || bitsIn(c, inst.a) === undefined || bitsIn(c, inst.b) !== undefined) return undefined;
  return mirrored(inst);
}

function decideBranch(block: Block, c: RewriteContext): boolean {
  const { end } = block;
  if (end.op !== 'condbr') return false;
  const bits = bitsIn(c, end.cond);
  if (bits === undefined) {
    const cond = c.kernel.insts[end.cond]!;
    if (cond.op !== 'xor' || bitsIn(c, cond.b) !== 1n) return false;
    block.end = { op: 'condbr', cond: cond.a, then: end.else, else: end.then };
    return true;
  }
  block.end = { op: 'br', to: bits === 1n ? end.then : end.else };
  return true;
}
