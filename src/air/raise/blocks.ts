/** Raises function bodies: blocks in dominance order, phis as block parameters, calls inlined. */
import type { Instruction, InstructionOf, Block as LlvmBlock, Function as LlvmFunction, Value as LlvmValue } from '../../bitcode/model.ts';
import { spell } from '../../bitcode/types.ts';
import { addBlock, addBlockParam, type Block, type Edge, type Terminator, type Value } from '../../ir/index.ts';
import { readLine } from '../lines.ts';
import { isValidAs, type Lanes, Refused } from '../types.ts';
import { raiseInstruction } from './instructions.ts';
import { type RaiseState, raiseState } from './state.ts';

/** The largest number of instructions of a kernel with all inlined calls; far more than any compiler accepts. */
export const maxInstructions = 1_000_000;
const maxDepth = 256;

/** Inlines a function at a call, with registers and memory of its own. The rest of the call's block follows it. */
export function inlineCall(state: RaiseState, call: InstructionOf<'call'>, callee: LlvmFunction): Lanes | undefined {
  const { kernel, b, place } = state;
  const { result, params } = callee.functionType;
  if (place.within.length > maxDepth) throw new Refused(`calls nested more than ${maxDepth} deep`);
  if (place.within.includes(callee)) throw new Refused(`the function \`${callee.name}\`, which calls itself`);
  if (call.functionType !== callee.functionType || call.args.length !== params.length || callee.args.length !== params.length)
    throw new Refused(`the function \`${callee.name}\` called as ${spell(call.functionType)}`);
  const returned = addBlock(kernel);
  const lanes = result.kind === 'void' ? undefined : state.typesOf(result).map((type) => addBlockParam(kernel, returned, type));
  const inner = raiseState(kernel, b, { ...place, within: [...place.within, callee], returned });
  callee.args.forEach((arg, i) => {
    const from = call.args[i]!;
    const given = from.kind === 'metadata' ? [] : state.lanes(from);
    const wanted = inner.typesOf(arg.type);
    if (given.length !== wanted.length || !given.every((value, n) => isValidAs(b.typeOf(value), wanted[n]!)))
      throw new Refused(`an argument of \`${callee.name}\` of another type`);
    inner.define(arg, given);
  });
  raiseBlocks(inner, callee);
  if (callee.blocks.length > 1) kernel.hasInlined = true;
  b.block = returned;
  return lanes;
}

/** Raises the blocks of a function. The builder's current block continues with the first one. */
export function raiseBlocks(state: RaiseState, fn: LlvmFunction): void {
  const { kernel } = state;
  const entry = state.b.block;
  const reachable = reachableBlocks(fn.blocks[0]!);
  const blocks = new Map<LlvmBlock, Block>(reachable.map((llvm) => [llvm, addBlock(kernel)]));
  for (const [llvm, block] of blocks)
    for (const phi of phisOf(llvm))
      state.define(
        phi,
        state.typesOf(phi.type).map((t) => addBlockParam(kernel, block, t === 'ptr.constant' && isLoaded(state, phi) ? 'ptr.global' : t)),
      );
  entry.end = { op: 'br', to: { block: blocks.get(fn.blocks[0]!)!, args: [] } };
  for (const llvm of definitionOrder(reachable)) raiseBlock(state, llvm, blocks);
}

/** Whether an address was loaded from memory, directly or through other operations. */
function isLoaded(state: RaiseState, value: LlvmValue, seen = new Set<LlvmValue>()): boolean {
  if (seen.has(value)) return false;
  seen.add(value);
  const from = (...values: LlvmValue[]): boolean => values.some((each) => isLoaded(state, each, seen));
  if (value.kind === 'argument') return state.b.typeOf(state.scalar(value)) === 'ptr.global';
  if (value.kind !== 'instruction') return false;
  switch (value.op) {
    case 'load':
      return true;
    case 'gep':
      return from(value.base);
    case 'cast':
    case 'freeze':
      return from(value.value);
    case 'select':
      return from(value.a, value.b);
    case 'phi':
      return from(...value.incoming.map((each) => each.value));
    default:
      return false;
  }
}

const phisOf = (block: LlvmBlock) => block.body.filter((inst): inst is InstructionOf<'phi'> => inst.op === 'phi');

function raiseBlock(state: RaiseState, llvm: LlvmBlock, blocks: ReadonlyMap<LlvmBlock, Block>): void {
  const b = state.b;
  b.block = blocks.get(llvm)!;
  for (const inst of llvm.body) {
    if (--state.place.budget.left < 0) throw new Refused(`more than ${maxInstructions} instructions, calls included`);
    if (inst.op === 'phi') continue;
    b.loc = readLine(inst);
    if (isTerminator(inst)) return void raiseTerminator(state, inst, llvm, blocks);
    const made = raiseInstruction(state, inst);
    if (made) defineChecked(state, inst, made);
  }
  throw new Refused('a basic block without terminator');
}

/** The raised values must match the type: the types in a foreign file may be inconsistent. */
function defineChecked(state: RaiseState, inst: Instruction, made: Lanes): void {
  const types = state.typesOf(inst.type);
  if (made.length !== types.length || made.some((value, i) => !isValidAs(state.b.typeOf(value), types[i]!)))
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
  if (!found) throw new Refused('a phi without a value for a predecessor');
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

/** Reverse postorder, so that definitions precede uses. */
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
