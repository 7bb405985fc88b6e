/** Walking operands, generated once from the op table. */
import type { Block, Inst, Terminator, Value } from './kernel.ts';
import { edgesOf } from './kernel.ts';
import { type Op, opNames, ops } from './ops.ts';

const argNames = Object.fromEntries(opNames.map((op) => [op, Object.keys(ops[op].args)])) as unknown as Record<Op, readonly string[]>;
const attrNames = Object.fromEntries(
  opNames.map((op) => [op, Object.keys('attrs' in ops[op] ? (ops[op] as { attrs: object }).attrs : {})]),
) as unknown as Record<Op, readonly string[]>;

/** The operands that most ops have, whose fields are read by name: every pass reads those of every instruction. */
const usual = ['', 'a', 'a,b', 'a,b,c', 'cond,a,b', 'addr', 'addr,value'];
/** By op: which of these it has, as the cases below count them; -1 for others. */
const forms = Object.fromEntries(opNames.map((op) => [op, usual.indexOf(argNames[op].join())])) as unknown as Record<Op, number>;
type Fields = Record<'a' | 'b' | 'c' | 'cond' | 'addr' | 'value', Value>;

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
  const fields = inst as unknown as Fields;
  switch (forms[inst.op]) {
    case 0:
      return;
    case 1:
      return visit(fields.a);
    case 2:
      visit(fields.a);
      return visit(fields.b);
    case 3:
      visit(fields.a);
      visit(fields.b);
      return visit(fields.c);
    case 4:
      visit(fields.cond);
      visit(fields.a);
      return visit(fields.b);
    case 5:
      return visit(fields.addr);
    case 6:
      visit(fields.addr);
      return visit(fields.value);
    default:
      for (const name of argNames[inst.op]) visit((inst as unknown as Record<string, Value>)[name]!);
  }
}

/** Replaces every operand by its image under `map`, in place. */
export function mapOperands(inst: Inst, map: (value: Value) => Value): void {
  const fields = inst as unknown as Fields;
  switch (forms[inst.op]) {
    case 0:
      return;
    case 1:
      fields.a = map(fields.a);
      return;
    case 2:
      fields.a = map(fields.a);
      fields.b = map(fields.b);
      return;
    case 3:
      fields.a = map(fields.a);
      fields.b = map(fields.b);
      fields.c = map(fields.c);
      return;
    case 4:
      fields.cond = map(fields.cond);
      fields.a = map(fields.a);
      fields.b = map(fields.b);
      return;
    case 5:
      fields.addr = map(fields.addr);
      return;
    case 6:
      fields.addr = map(fields.addr);
      fields.value = map(fields.value);
      return;
    default:
      mapNamed(inst as unknown as Record<string, Value>, argNames[inst.op], map);
  }
}

function mapNamed(fields: Record<string, Value>, names: readonly string[], map: (value: Value) => Value): void {
  for (const name of names) fields[name] = map(fields[name]!);
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
