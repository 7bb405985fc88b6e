/** Functions of a kernel that write nothing: rows give their code, which passes shorten once for all calls. */
import { bug } from '../base/bug.ts';
import {
  addBlock,
  type Builder,
  builder,
  type Effect,
  emptyKernel,
  type Kernel,
  optimize,
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

/**
 * What a function does, and the effects that its instructions may have: it is straight code that computes, or that exchanges values of a warp and reads
 * shared memory; or it reads global memory, and may have branches. What `flushes` computes floats that are no subnormals.
 */
const doings = { computes: ['pure'], flushes: ['pure'], exchanges: ['pure', 'warp', 'reads'], reads: ['pure', 'reads'] } as const;
type Doing = keyof typeof doings;

/** Gives a kernel the function of a name, whose code is the same wherever the name is. */
export function addFunction(
  kernel: Kernel,
  name: string,
  types: readonly Type[],
  code: FunctionCode,
  doing: Doing = 'computes',
): PureFunction {
  const known = kernel.functions?.get(name);
  if (known) return known;
  const made = bodies.get(name) ?? bodyOf(name, types, code, doing);
  bodies.set(name, made);
  kernel.functions = new Map([...(kernel.functions ?? []), [name, made]]);
  return made;
}

/** An optimized body. During the passes its operands are loads and its result is a store, which passes preserve. */
function bodyOf(name: string, types: readonly Type[], code: FunctionCode, doing: Doing): PureFunction {
  const body = emptyKernel(name);
  const ir = builder(body, addBlock(body));
  const outside = ir.const('ptr.global', 0);
  const operands = types.map((type) => ir.load(type, outside, { align: 1, volatile: true }));
  const rows = straightBuilder(ir, () => bug(`${name} is no straight code`));
  ir.store(outside, code(ir, rows, operands), { align: 1, volatile: true });
  if (doing === 'reads') optimize(body);
  else runPasses(body, standardPasses);
  const ends = body.blocks.filter(({ end }) => end.op === 'ret');
  const end = ends[0]?.body.at(-1);
  const last = end === undefined ? undefined : body.insts[end]!;
  if (last?.op !== 'store' || ends.length > 1) return bug(`${name} has no result`);
  const scratch = new Set<Value>([outside, ...operands, end!]);
  for (const block of body.blocks) block.body = block.body.filter((value) => !scratch.has(value));
  body.blocks[0]!.params = operands;
  for (const operand of operands) body.insts[operand] = { op: 'arg', type: body.insts[operand]!.type };
  const allowed: ReadonlySet<Effect> = new Set(doings[doing]);
  const isAllowed = (value: Value): boolean => allowed.has(specOf(body.insts[value]!.op).effect);
  if (doing !== 'reads' && body.blocks.length > 1) return bug(`${name} is no straight code`);
  if (!body.blocks.every((block) => block.body.every(isAllowed))) return bug(`${name} has an effect`);
  return { body, result: last.value, ...(doing === 'flushes' ? { isFlushed: true } : {}) };
}
