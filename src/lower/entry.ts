/** One entry: parameters, then basic block after basic block, then what can only be seen when all are there. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { builder, cfgOf, emptyKernel, type Kernel, recoverPointers, renumber, type Space, type Value } from '../ir/index.ts';
import type { AddressOperand, CheckedFunction, MatchedOperand, PtxFunction, Register } from '../ptx/index.ts';
import { convertAddress, pointerTo } from './address.ts';
import { type Context, enter, newEvidence, readRegister, writeRegister } from './context.ts';
import { newFlow } from './flow.ts';
import { flowGraph, leave, type SourceBlock } from './flow-graph.ts';
import { guardValue, lowerEither, lowerInstruction } from './instructions.ts';
import { lowerParams, pointerParams } from './params.ts';
import { classifyParams } from './passes/classify-params.ts';
import { refuseMissingMemory } from './passes/missing-memory.ts';
import { useParamOffsets } from './passes/param-offsets.ts';
import { resolveSpaces } from './passes/resolve-spaces.ts';
import { type Flow, link, registerFile } from './ssa.ts';
import { variablesOf } from './variables.ts';

/** The kernel of an entry; incomplete after reports of CM20xx. */
export function lowerEntry({ fn, scope, items }: CheckedFunction, diagnostics: Diagnostics): Kernel {
  const before = diagnostics.list.length;
  const kernel = emptyKernel(fn.name);
  kernel.params = lowerParams(fn, diagnostics);
  Object.assign(kernel, threadLimits(fn));
  const start = newFlow(kernel, 0);
  const c = newContext(kernel, start, scope, diagnostics);
  lowerBlocks(c, flowGraph(items), start);
  c.registers.finish();
  inFlowOrder(kernel);
  const { addresses, signed } = c.evidence;
  classifyParams(kernel, { ...pointerParams(fn), addresses, signed }, diagnostics);
  resolveSpaces(kernel, c.evidence.generic, diagnostics);
  // A variable that was refused is missing too, and its accesses are no faults of their own.
  if (diagnostics.list.length === before) refuseMissingMemory(kernel, diagnostics);
  recoverPointers(kernel);
  if (diagnostics.list.length === before) useParamOffsets(kernel, diagnostics);
  return kernel;
}

/** The flag `CC.CF`, which instructions name by `.cc` alone. Source: PTX ISA 9.0, 9.7.2. */
const conditionCode: Register = { name: 'CC.CF', declared: 'pred', type: 'i1' };

function newContext(kernel: Kernel, start: Flow, scope: Context['scope'], diagnostics: Diagnostics): Context {
  const ir = builder(kernel, start.block);
  const rows = Object.assign(Object.create(ir) as typeof ir, {
    lanes: undefined as number | undefined,
    part: (operand: string): string | undefined => rows.operands.find(({ slot }) => slot.name === operand)?.part,
    operands: [] as readonly MatchedOperand[],
    pointer: (address: AddressOperand, space: Space): Value => pointerTo(c, address, space),
    convertAddress: (a: Value, space: Space, to: 'generic' | 'space'): Value => convertAddress(c, a, space, to),
    either: (condition: Value, yes: () => Value, no: () => Value): Value => lowerEither(c, condition, yes, no),
    carry: (): Value => readRegister(c, conditionCode),
    setCarry: (carry: Value): void => writeRegister(c, conditionCode, carry),
    refuse(reason: string): undefined {
      diagnostics.report('CM2001', { instruction: 'this instruction' }, { ...(ir.loc ? { span: ir.loc } : {}), label: reason });
      return undefined;
    },
  });
  const c: Context = {
    kernel,
    diagnostics,
    ir,
    rows,
    registers: registerFile(kernel, start),
    variables: variablesOf(kernel, diagnostics),
    evidence: newEvidence(),
    flow: start,
    scope,
    guard: undefined,
  };
  return c;
}

function lowerBlocks(c: Context, blocks: readonly SourceBlock[], start: Flow): void {
  const flows = new Map<number, Flow>();
  for (const { index, edgeCount, label } of blocks) {
    const isFirst = index === blocks[0]!.index;
    flows.set(index, newFlow(c.kernel, edgeCount + (isFirst ? 1 : 0), label));
  }
  start.block.end = { op: 'br', to: link(start, flows.get(blocks[0]!.index)!) };
  for (const block of blocks) {
    enter(c, flows.get(block.index)!);
    for (const item of block.code) lowerInstruction(c, item);
    lowerEnd(c, block, flows);
  }
}

function lowerEnd(c: Context, { end }: SourceBlock, flows: ReadonlyMap<number, Flow>): void {
  const from = c.flow;
  const { block } = from;
  c.ir.loc = end.span;
  block.endLoc = end.span;
  const target = (index: number) => link(from, flows.get(index) ?? newFlow(c.kernel, 1));
  if (end.guard) block.end = { op: 'condbr', cond: guardValue(c, end.guard), then: target(end.to), else: target(end.next) };
  else block.end = end.to === leave ? { op: 'ret' } : { op: 'br', to: target(end.to) };
}

/** Blocks in the order in which control reaches them. */
function inFlowOrder(kernel: Kernel): void {
  renumber(kernel);
  kernel.blocks = cfgOf(kernel).order.map((id) => kernel.blocks[id]!);
  renumber(kernel);
}

/** `.maxntid` and `.reqntid`; axes that are not written are 1. */
function threadLimits(fn: PtxFunction): Pick<Kernel, 'maxThreads' | 'requiredThreads'> {
  const axes = (name: string): [number, number, number] | undefined => {
    const values = fn.directives.find((directive) => directive.name === name)?.values.map(Number);
    return values && [values[0] ?? 1, values[1] ?? 1, values[2] ?? 1];
  };
  const required = axes('reqntid');
  const most = axes('maxntid') ?? required;
  return { maxThreads: most && most[0] * most[1] * most[2], requiredThreads: required };
}
