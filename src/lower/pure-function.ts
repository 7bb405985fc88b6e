/** Functions of a kernel without effects: rows give their code, which passes shorten once for all calls. */
import { bug } from '../base/bug.ts';
import {
  addBlock,
  type Builder,
  builder,
  emptyKernel,
  type Kernel,
  type PureFunction,
  runPasses,
  specOf,
  standardPasses,
  type Type,
  type Value,
} from '../ir/index.ts';
import type { RowBuilder } from '../ptx/index.ts';
import { straightBuilder } from './straight-code.ts';

/** Makes code of operands, with the IR's builder and with that of rows. */
export type FunctionCode = (ir: Builder, rows: RowBuilder, operands: readonly Value[]) => Value;

/** Bodies by name; each is made once per process, and nothing changes it. */
const bodies = new Map<string, PureFunction>();

/** Gives a kernel the function of a name, whose code is the same wherever the name is. */
export function addFunction(kernel: Kernel, name: string, types: readonly Type[], code: FunctionCode): PureFunction {
  const known = kernel.functions?.get(name);
  if (known) return known;
  const made = bodies.get(name) ?? bodyOf(name, types, code);
  bodies.set(name, made);
  kernel.functions = new Map([...(kernel.functions ?? []), [name, made]]);
  return made;
}

/** An optimized body. During the passes its operands are loads and its result is a store, which passes preserve. */
function bodyOf(name: string, types: readonly Type[], code: FunctionCode): PureFunction {
  const body = emptyKernel(name);
  const ir = builder(body, addBlock(body));
  const outside = ir.const('ptr.global', 0);
  const operands = types.map((type) => ir.load(type, outside, { align: 1, volatile: true }));
  const rows = straightBuilder(ir, () => bug(`${name} is no straight code`));
  ir.store(outside, code(ir, rows, operands), { align: 1, volatile: true });
  runPasses(body, standardPasses);
  const [block, ...others] = body.blocks;
  const end = block!.body.at(-1)!;
  const last = body.insts[end]!;
  if (last.op !== 'store' || others.length > 0) return bug(`${name} has no result`);
  const scratch = new Set<Value>([outside, ...operands, end]);
  block!.body = block!.body.filter((value) => !scratch.has(value));
  block!.params = operands;
  for (const operand of operands) body.insts[operand] = { op: 'arg', type: body.insts[operand]!.type };
  if (block!.body.some((value) => specOf(body.insts[value]!.op).effect !== 'pure')) return bug(`${name} is not pure`);
  return { body, result: last.value };
}
