/** Walking operands, generated once from the op table. */
import type { Block, Inst, Terminator, Value } from './kernel.ts';
import { edgesOf } from './kernel.ts';
import { type Op, opNames, ops } from './ops.ts';

const argNames = Object.fromEntries(opNames.map((op) => [op, Object.keys(ops[op].args)])) as unknown as Record<Op, readonly string[]>;
const attrNames = Object.fromEntries(
  opNames.map((op) => [op, Object.keys('attrs' in ops[op] ? (ops[op] as { attrs: object }).attrs : {})]),
) as unknown as Record<Op, readonly string[]>;

/** Operand names of an op in order. */
export const argsOf = (op: Op): readonly string[] => argNames[op];
/** Attribute names of an op in order. */
export const attrsOf = (op: Op): readonly string[] => attrNames[op];

/** The operands of an instruction in order. */
export function operandsOf(inst: Inst): Value[] {
  const fields = inst as unknown as Record<string, Value>;
  const names = argNames[inst.op];
  // No closure for the usual numbers of operands: every pass calls this for every instruction.
  if (names.length === 0) return [];
  if (names.length === 1) return [fields[names[0]!]!];
  if (names.length === 2) return [fields[names[0]!]!, fields[names[1]!]!];
  return names.map((name) => fields[name]!);
}

/** Visits the operands of an instruction in order, without a list of them. */
export function eachOperand(inst: Inst, visit: (value: Value) => void): void {
  const fields = inst as unknown as Record<string, Value>;
  const names = argNames[inst.op];
  for (let i = 0; i < names.length; i++) visit(fields[names[i]!]!);
}

/** Replaces every operand by its image under `map`, in place. */
export function mapOperands(inst: Inst, map: (value: Value) => Value): void {
  const fields = inst as unknown as Record<string, Value>;
  const names = argNames[inst.op];
  for (let i = 0; i < names.length; i++) fields[names[i]!] = map(fields[names[i]!]!);
}

/** The values a terminator uses: condition, then edge arguments. */
export function terminatorOperands(end: Terminator): Value[] {
  const cond = end.op === 'condbr' ? [end.cond] : [];
  return [...cond, ...edgesOf(end).flatMap((edge) => edge.args)];
}

/** Replaces every value a terminator uses, in place. */
export function mapTerminator(end: Terminator, map: (value: Value) => Value): void {
  if (end.op === 'condbr') end.cond = map(end.cond);
  for (const edge of edgesOf(end)) edge.args = edge.args.map(map);
}

/** Replaces every use in a block, of body and terminator. */
export function mapBlock(insts: readonly Inst[], block: Block, map: (value: Value) => Value): void {
  for (const value of block.body) mapOperands(insts[value]!, map);
  mapTerminator(block.end, map);
}
