/**
 * Expansions that are too long to stand wherever their op does, as functions of the kernel: `cumetal.f64.fadd`, and with the
 * type that is no double where an op has one, `cumetal.f64.sitofp.i32`. A body is made once in the life of the program.
 */
import { bug } from '../../../base/bug.ts';
import {
  addBlock,
  builder,
  emptyKernel,
  type Inst,
  type PureFunction,
  runPasses,
  standardPasses,
  type Type,
  type Value,
} from '../../../ir/index.ts';
import type { Expansion } from './expansions.ts';
import { words } from './words.ts';

const known = new Map<string, PureFunction>();
const operandNames = ['a', 'b', 'c'] as const;

/** The function that does what an op does; `types` are those of its operands, an i64 for each double, as is its own type. */
export function functionOf(inst: Inst, types: readonly Type[], { expand }: Expansion): { name: string; fn: PureFunction } {
  const other = [...types, inst.type].find((type) => type !== 'i64') ?? (inst.op.includes('to') ? 'i64' : undefined);
  const name = ['cumetal.f64', inst.op, ...(other ? [other] : [])].join('.');
  const fn = known.get(name) ?? made(name, inst, types, expand);
  known.set(name, fn);
  return { name, fn };
}

/**
 * A body in the form that the passes leave it in. While they are at work its operands are loads and its result is stored: what
 * they know to keep.
 */
function made(name: string, inst: Inst, types: readonly Type[], expand: Expansion['expand']): PureFunction {
  const body = emptyKernel(name);
  const b = builder(body, addBlock(body));
  const nowhere = b.const('ptr.global', 0);
  const operands = types.map((type) => b.load(type, nowhere, { align: 1, volatile: true }));
  const named = Object.fromEntries(operands.map((operand, i) => [operandNames[i]!, operand]));
  b.store(nowhere, expand(words(b), { ...inst, ...named } as never), { align: 1, volatile: true });
  runPasses(body, standardPasses);
  const block = body.blocks[0]!;
  const last = body.insts[block.body.at(-1)!]!;
  const result = last.op === 'store' ? last.value : bug(`${name} has no result`);
  const aside = new Set<Value>([nowhere, ...operands, block.body.at(-1)!]);
  block.body = block.body.filter((value) => !aside.has(value));
  block.params = operands;
  for (const operand of operands) body.insts[operand] = { op: 'arg', type: body.insts[operand]!.type };
  return { body, result };
}
