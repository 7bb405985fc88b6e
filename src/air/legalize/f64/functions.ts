/**
 * Expansions that are too long to inline, as helper functions of the kernel: `cumetal.f64.fadd`, with the other type where an op has one,
 * `cumetal.f64.sitofp.i32`, or the predicate, `cumetal.f64.fcmp.olt`. Each body is created once per process.
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
import { integerOps } from './integer-ops.ts';

const bodyCache = new Map<string, PureFunction>();
const operandNames = ['a', 'b', 'c'] as const;

/** The helper function for an op. `types` are the operand types, with i64 in place of f64, as in its own result type. */
export function functionOf(inst: Inst, types: readonly Type[], { expand }: Expansion): { name: string; fn: PureFunction } {
  const other = [...types, inst.type].find((type) => type !== 'i64') ?? (inst.op.includes('to') ? 'i64' : undefined);
  const word = inst.op === 'fcmp' ? inst.pred : other;
  const name = ['cumetal.f64', inst.op, ...(word ? [word] : [])].join('.');
  const fn = bodyCache.get(name) ?? createBody(name, inst, types, expand);
  bodyCache.set(name, fn);
  return { name, fn };
}

/** An optimized body. During the passes its operands are loads and its result is a store, which passes preserve. */
function createBody(name: string, inst: Inst, types: readonly Type[], expand: Expansion['expand']): PureFunction {
  const body = emptyKernel(name);
  const b = builder(body, addBlock(body));
  const noSpan = b.const('ptr.global', 0);
  const operands = types.map((type) => b.load(type, noSpan, { align: 1, volatile: true }));
  const named = Object.fromEntries(operands.map((operand, i) => [operandNames[i]!, operand]));
  b.store(noSpan, expand(integerOps(b), { ...inst, ...named } as never), { align: 1, volatile: true });
  runPasses(body, standardPasses);
  const block = body.blocks[0]!;
  const last = body.insts[block.body.at(-1)!]!;
  const result = last.op === 'store' ? last.value : bug(`${name} has no result`);
  const scratch = new Set<Value>([noSpan, ...operands, block.body.at(-1)!]);
  block.body = block.body.filter((value) => !scratch.has(value));
  block.params = operands;
  for (const operand of operands) body.insts[operand] = { op: 'arg', type: body.insts[operand]!.type };
  return { body, result };
}
