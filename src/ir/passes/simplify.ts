/**
 * Constant folding and algebraic identities, one walk in reverse postorder, so that operands are simplified before their users.
 * The result equals the original bit for bit; float identities that fail for a NaN or a zero's sign are left out.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { evalOp, isEvaluableInst } from '../eval.ts';
import type { Block, Inst, Kernel, Value } from '../kernel.ts';
import { argsOf, mapOperands, mapTerminator, operandsOf } from '../operands.ts';
import { isScalar } from '../types.ts';
import { dropRedundantParams } from './redundant-params.ts';
import { bitsIn, constant, type Rewrite, type RewriteContext, typeIn } from './rewrite.ts';
import { arithmeticRules } from './simplify-arithmetic.ts';
import { conversionRules } from './simplify-conversions.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';
import { mirrored } from './symmetry.ts';

/** Rewrites of one instruction in a row; each makes it simpler, so the bound is only for our own faults. */
const maxRewrites = 16;

const rules = { ...arithmeticRules, ...conversionRules } as Partial<Record<string, (inst: Inst, c: RewriteContext) => Rewrite>>;

/** Folds and simplifies in place; true where anything changed. */
export function simplify(kernel: Kernel): boolean {
  let changed = dropRedundantParams(kernel);
  const s = substitution();
  const c: RewriteContext = { kernel, body: [], value: 0 as Value };
  for (const id of cfgOf(kernel).order) changed = simplifyBlock(kernel.blocks[id]!, c, s) || changed;
  // Edge arguments of loops, and unreachable code, may use values that were replaced after they were visited.
  substitute(kernel, s);
  return changed;
}

function simplifyBlock(block: Block, c: RewriteContext, s: Substitution): boolean {
  let changed = false;
  const before = block.body;
  c.body = [];
  for (const value of before) {
    if (s.count() > 0) mapOperands(c.kernel.insts[value]!, s.of);
    c.value = value;
    const result = simplifyInst(c);
    if (typeof result === 'number') s.replace(value, result);
    else c.body.push(value);
    changed ||= result !== false;
  }
  block.body = c.body;
  mapTerminator(block.end, s.of);
  return decideBranch(block, c) || changed;
}

/** Rewrites the instruction at hand until no rule applies; gives whether one did, or the value that it turned out to be. */
function simplifyInst(c: RewriteContext): boolean | Value {
  for (let turn = 0; turn < maxRewrites; turn++) {
    const result = rewriteOf(c.kernel.insts[c.value]!, c);
    if (result === undefined) return turn > 0;
    if (typeof result === 'number') return result;
    c.kernel.insts[c.value] = result;
  }
  return true;
}

function rewriteOf(inst: Inst, c: RewriteContext): Rewrite {
  if (inst.op === 'const') return undefined;
  return folded(inst, c) ?? constantLast(inst, c) ?? rules[inst.op]?.(inst, c);
}

/** The constant an instruction of constants amounts to. Vectors and addresses have no constant form but the null pointer. */
function folded(inst: Inst, c: RewriteContext): Inst | undefined {
  if (!isScalar(inst.type) || !isEvaluableInst(inst)) return undefined;
  const bits: bigint[] = [];
  const fields = inst as unknown as Record<string, Value>;
  // Most instructions are out at their first operand.
  for (const name of argsOf(inst.op)) {
    const known = bitsIn(c, fields[name]!);
    if (known === undefined) return undefined;
    bits.push(known);
  }
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
  const bits = end.op === 'condbr' ? bitsIn(c, end.cond) : undefined;
  if (end.op !== 'condbr' || bits === undefined) return false;
  block.end = { op: 'br', to: bits === 1n ? end.then : end.else };
  return true;
}
