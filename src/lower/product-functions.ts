/**
 * Products of matrices as functions of a kernel, for targets that have no instruction for them: a kernel calls the function of a form at each
 * product, so that it is about as long as its source.
 */
import { bug } from '../base/bug.ts';
import {
  addBlock,
  builder,
  columnsOfThread,
  emptyKernel,
  gatheredLanes,
  type Kernel,
  mmaForm,
  mmaRegisters,
  type PureFunction,
  productFunctionName,
  registersAs,
  runPasses,
  type ScalarType,
  specOf,
  standardPasses,
  sumType,
  type Value,
} from '../ir/index.ts';
import type { ProductExpansion } from '../ptx/index.ts';
import { straightBuilder } from './straight-code.ts';

/** Bodies by form; each is made once per process, and nothing changes it. */
const bodies = new Map<string, PureFunction>();

/** Notes that a kernel has products of a form. */
export function noteProduct(kernel: Kernel, form: string, expand: ProductExpansion): void {
  const name = productFunctionName(form);
  if (kernel.functions?.has(name)) return;
  const body = bodies.get(form) ?? bodyOf(name, form, expand);
  bodies.set(form, body);
  kernel.functions = new Map([...(kernel.functions ?? []), [name, body]]);
}

/** An optimized body. During the passes its operands are loads and its result is a store, which passes preserve. */
function bodyOf(name: string, text: string, expand: ProductExpansion): PureFunction {
  const form = mmaForm(text);
  const { a, b, c } = mmaRegisters(form);
  const sum = sumType(form.sum);
  const body = emptyKernel(name);
  const ir = builder(body, addBlock(body));
  const outside = ir.const('ptr.global', 0);
  const operand = (type: ReturnType<typeof registersAs>): Value => ir.load(type, outside, { align: 1, volatile: true });
  const gathered = (count: number): Value[] => Array.from({ length: count }, () => operand(registersAs('i32', gatheredLanes)));
  const [left, right] = [gathered(a), gathered(columnsOfThread * b)];
  const addend = operand(registersAs(sum, c));
  const elements = (type: ScalarType, values: readonly Value[], count: number): Value[] =>
    values.flatMap((value) => Array.from({ length: count }, (_, lane) => ir.extract(type, value, { lane })));
  const rows = straightBuilder(ir, () => bug(`${name} is no straight code`));
  const [x, y, z] = [elements('i32', left, gatheredLanes), elements('i32', right, gatheredLanes), elements(sum, [addend], c)];
  const made = expand(rows, text, x, y, z);
  ir.store(outside, vectorOf(ir, registersAs(sum, c), made), { align: 1, volatile: true });
  runPasses(body, standardPasses);
  return withoutMemory(body, outside, [...left, ...right, addend]);
}

function vectorOf(ir: ReturnType<typeof builder>, type: ReturnType<typeof registersAs>, values: readonly Value[]): Value {
  const [x, y, z, w] = values as [Value, Value, Value, Value];
  return values.length === 2 ? ir.vec2(type, x, y) : ir.vec4(type, x, y, z, w);
}

/** The body with its operands as parameters, and what it stores as its result. */
function withoutMemory(body: Kernel, outside: Value, operands: Value[]): PureFunction {
  const [block, ...others] = body.blocks;
  const end = block!.body.at(-1)!;
  const last = body.insts[end]!;
  if (last.op !== 'store' || others.length > 0) return bug(`${body.name} has no result`);
  const scratch = new Set<Value>([outside, ...operands, end]);
  block!.body = block!.body.filter((value) => !scratch.has(value));
  block!.params = operands;
  for (const operand of operands) body.insts[operand] = { op: 'arg', type: body.insts[operand]!.type };
  if (block!.body.some((value) => specOf(body.insts[value]!.op).effect !== 'pure')) return bug(`${body.name} is not pure`);
  return { body, result: last.value };
}
