/**
 * AIR to IR: the way in for the CPU device, whoever wrote the metallib. Vectors of LLVM become scalars here, pointers become
 * opaque, phis become block parameters. What is graphics, unknown or without exact meaning is refused by name (CM4053).
 */
import { Diagnostics } from '../base/diagnostic.ts';
import type { Instruction, InstructionOf, Block as LlvmBlock, Function as LlvmFunction, Module } from '../bitcode/model.ts';
import { spell } from '../bitcode/types.ts';
import {
  addBlock,
  addBlockParam,
  type Block,
  builder,
  type Edge,
  isHidden,
  type Kernel,
  renumber,
  type Terminator,
  type Value,
  verify,
} from '../ir/index.ts';
import type { KernelReflection, ParamReflection } from './abi.ts';
import { readLine } from './lines.ts';
import { raiseInstruction } from './raise-instructions.ts';
import { raiseArguments, raiseKernelShell } from './raise-params.ts';
import { type Lanes, type RaiseState, Refused, raiseState } from './raise-state.ts';
import { elementOfTypeName, type KernelDescription, readKernels, readTarget } from './read-metadata.ts';
import { reflectHidden, reflectLimits, withPacked } from './reflect.ts';

export interface RaisedKernel {
  readonly kernel: Kernel;
  readonly reflection: KernelReflection;
}

/** Raises the compute kernels of a module; those that cannot be raised are reported and left out. */
export function raiseModule(module: Module, diagnostics: Diagnostics): RaisedKernel[] {
  const raised: RaisedKernel[] = [];
  for (const description of readKernels(module, diagnostics)) {
    const kernel = raiseKernel(module, description, diagnostics);
    if (kernel) raised.push({ kernel, reflection: { ...reflect(description, kernel), ...reflectLimits(readTarget(module)) } });
  }
  return raised;
}

/** What a host must bind, from the metadata alone. */
export function reflectModule(module: Module, diagnostics: Diagnostics): KernelReflection[] {
  return raiseModule(module, diagnostics).map((each) => each.reflection);
}

function reflect(description: KernelDescription, kernel: Kernel): KernelReflection {
  const params = description.params.flatMap((p): ParamReflection[] => {
    if (p.kind !== 'buffer' || kernel.params.every((k) => k.name !== p.name || k.kind === 'threadgroup' || isHidden(k))) return [];
    const isBytes = p.bufferSize !== undefined;
    return [
      {
        name: p.name,
        slot: p.slot,
        kind: isBytes ? 'bytes' : 'buffer',
        size: isBytes ? p.bufferSize! : p.typeSize,
        align: p.typeAlign,
        element: elementOfTypeName(p.typeName),
        access: p.access,
      },
    ];
  });
  const shared = kernel.variables.filter((v) => v.space === 'shared');
  return {
    name: kernel.name,
    params: withPacked(params, kernel),
    ...reflectHidden(kernel),
    staticSharedBytes: shared.filter((v) => !v.isDynamic).reduce((sum, v) => Math.ceil(sum / v.align) * v.align + v.size, 0),
    usesDynamicShared: kernel.params.some((p) => p.kind === 'threadgroup'),
    maxThreads: description.maxThreads,
    requiredThreads: undefined,
  };
}

function raiseKernel(module: Module, description: KernelDescription, diagnostics: Diagnostics): Kernel | undefined {
  try {
    const kernel = raiseKernelShell(module, description);
    raiseBody(kernel, description);
    refuseUnsound(kernel);
    return kernel;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    diagnostics.report('CM4053', { kernel: description.fn.name, why: error.message });
    return undefined;
  }
}

/** Damaged files may break promises that only the whole kernel shows: a value used where it is not defined, say. */
function refuseUnsound(kernel: Kernel): void {
  const found = new Diagnostics();
  if (!verify(kernel, found)) throw new Refused(`a body in which ${found.list[0]!.message}`);
}

function raiseBody(kernel: Kernel, description: KernelDescription): void {
  const fn = description.fn;
  if (fn.blocks.length === 0) throw new Refused('it has no body');
  const state = raiseState(kernel, builder(kernel, addBlock(kernel)), {
    within: [fn],
    returned: undefined,
    budget: { left: mostInstructions },
    inline: inlineCall,
  });
  raiseArguments(state, description);
  raiseBlocks(state, fn);
  renumber(kernel);
}

/** Instructions of a kernel with all that it calls, and calls within calls; far more than any compiler takes. */
const mostInstructions = 1_000_000;
const deepest = 256;

/** The body of a function in the place of a call of it, with registers and memory of its own; the call's block goes on behind it. */
function inlineCall(state: RaiseState, call: InstructionOf<'call'>, callee: LlvmFunction): Lanes | undefined {
  const { kernel, b, place } = state;
  const { result, params } = callee.functionType;
  if (place.within.length > deepest) throw new Refused(`calls more than ${deepest} deep`);
  if (place.within.includes(callee)) throw new Refused(`the function \`${callee.name}\`, which calls itself`);
  if (call.functionType !== callee.functionType || call.args.length !== params.length || callee.args.length !== params.length)
    throw new Refused(`the function \`${callee.name}\` called as ${spell(call.functionType)}`);
  const returned = addBlock(kernel);
  const lanes = result.kind === 'void' ? undefined : state.typesOf(result).map((type) => addBlockParam(kernel, returned, type));
  const inner = raiseState(kernel, b, { ...place, within: [...place.within, callee], returned });
  callee.args.forEach((arg, i) => {
    const from = call.args[i]!;
    const given = from.kind === 'metadata' ? [] : state.lanes(from);
    if (given.map(b.typeOf).join() !== inner.typesOf(arg.type).join())
      throw new Refused(`an argument of \`${callee.name}\` of another type`);
    inner.define(arg, given);
  });
  raiseBlocks(inner, callee);
  b.block = returned;
  return lanes;
}

/** The blocks of a function; the block that the builder is at goes on to the first. */
function raiseBlocks(state: RaiseState, fn: LlvmFunction): void {
  const { kernel } = state;
  const entry = state.b.block;
  const reachable = reachableBlocks(fn.blocks[0]!);
  const blocks = new Map<LlvmBlock, Block>(reachable.map((llvm) => [llvm, addBlock(kernel)]));
  for (const [llvm, block] of blocks)
    for (const phi of phisOf(llvm))
      state.define(
        phi,
        state.typesOf(phi.type).map((t) => addBlockParam(kernel, block, t)),
      );
  entry.end = { op: 'br', to: { block: blocks.get(fn.blocks[0]!)!, args: [] } };
  for (const llvm of definitionOrder(reachable)) raiseBlock(state, llvm, blocks);
}

const phisOf = (block: LlvmBlock) => block.body.filter((inst): inst is InstructionOf<'phi'> => inst.op === 'phi');

function raiseBlock(state: RaiseState, llvm: LlvmBlock, blocks: ReadonlyMap<LlvmBlock, Block>): void {
  const b = state.b;
  b.block = blocks.get(llvm)!;
  for (const inst of llvm.body) {
    if (--state.place.budget.left < 0) throw new Refused(`more than ${mostInstructions} instructions with all that it calls`);
    if (inst.op === 'phi') continue;
    b.loc = readLine(inst);
    if (isTerminator(inst)) return void raiseTerminator(state, inst, llvm, blocks);
    const made = raiseInstruction(state, inst);
    if (made) defineChecked(state, inst, made);
  }
  throw new Refused('a basic block without terminator');
}

/** What an instruction became must have the shape of its type: files from elsewhere may say one and mean another. */
function defineChecked(state: RaiseState, inst: Instruction, made: Lanes): void {
  const types = state.typesOf(inst.type);
  if (made.length !== types.length || made.some((value, i) => state.b.typeOf(value) !== types[i]))
    throw new Refused(`\`${inst.op}\` with a result of type ${spell(inst.type)}`);
  state.define(inst, made);
}

const isTerminator = (inst: Instruction): boolean => ['br', 'condbr', 'switch', 'ret', 'unreachable'].includes(inst.op);

function raiseTerminator(state: RaiseState, inst: Instruction, from: LlvmBlock, blocks: ReadonlyMap<LlvmBlock, Block>): void {
  const b = state.b;
  const edge = (to: LlvmBlock): Edge => ({ block: blocks.get(to)!, args: phisOf(to).flatMap((phi): Lanes => incoming(state, phi, from)) });
  if (inst.op === 'br') b.block.end = { op: 'br', to: edge(inst.target) };
  else if (inst.op === 'condbr')
    b.block.end = { op: 'condbr', cond: state.scalar(inst.condition), then: edge(inst.ifTrue), else: edge(inst.ifFalse) };
  else if (inst.op === 'switch') raiseSwitch(state, inst, edge);
  else b.block.end = inst.op === 'ret' ? returnFrom(state, inst) : { op: 'ret' };
}

function returnFrom(state: RaiseState, { value }: InstructionOf<'ret'>): Terminator {
  const { returned } = state.place;
  return returned ? { op: 'br', to: { block: returned, args: value ? state.lanes(value) : [] } } : { op: 'ret' };
}

/** A switch as a chain of comparisons. */
function raiseSwitch(state: RaiseState, inst: InstructionOf<'switch'>, edge: (to: LlvmBlock) => Edge): void {
  const b = state.b;
  for (const each of inst.cases) {
    const cond = b.icmp(state.scalar(inst.condition), state.scalar(each.value), { pred: 'eq' });
    const then = edge(each.block);
    const next = addBlock(state.kernel);
    b.block.end = { op: 'condbr', cond, then, else: { block: next, args: [] } };
    b.block = next;
  }
  b.block.end = { op: 'br', to: edge(inst.defaultBlock) };
}

function incoming(state: RaiseState, phi: InstructionOf<'phi'>, from: LlvmBlock): Value[] {
  const found = phi.incoming.find((each) => each.block === from);
  if (!found) throw new Refused('a phi that lacks a predecessor');
  return state.lanes(found.value);
}

function successors(block: LlvmBlock): LlvmBlock[] {
  const end = block.body[block.body.length - 1];
  if (end?.op === 'br') return [end.target];
  if (end?.op === 'condbr') return [end.ifTrue, end.ifFalse];
  return end?.op === 'switch' ? [...end.cases.map((c) => c.block), end.defaultBlock] : [];
}

function reachableBlocks(entry: LlvmBlock): LlvmBlock[] {
  const seen = new Set([entry]);
  for (const block of seen) for (const next of successors(block)) seen.add(next);
  return [...seen];
}

/** Reverse postorder, so that definitions come before their uses. */
function definitionOrder(blocks: readonly LlvmBlock[]): LlvmBlock[] {
  const done: LlvmBlock[] = [];
  const seen = new Set([blocks[0]!]);
  const stack = [{ block: blocks[0]!, next: successors(blocks[0]!) }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!;
    const to = top.next.pop();
    if (!to) done.push(stack.pop()!.block);
    else if (!seen.has(to)) {
      seen.add(to);
      stack.push({ block: to, next: successors(to) });
    }
  }
  return done.reverse();
}
