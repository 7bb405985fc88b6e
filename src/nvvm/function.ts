/** One function: its parameters, its blocks in an order in which definitions come before uses, and its text. */
import type { Argument, Block, Instruction, Function as LlvmFunction, Value } from '../bitcode/index.ts';
import { operandsOf, spell, successorsOf } from '../bitcode/index.ts';
import { annotationsOf } from './annotations.ts';
import { selectIntrinsic } from './intrinsics/index.ts';
import { alignOf, sizeOf } from './layout.ts';
import { Refused, refuse } from './refused.ts';
import { selectGep } from './select/addresses.ts';
import {
  extractElement,
  extractValue,
  freeze,
  insertElement,
  insertValue,
  mapElements,
  selectBetween,
  shuffleVector,
} from './select/aggregates.ts';
import { selectAsm } from './select/asm.ts';
import { selectCompareAndSwap, selectFence, selectUpdate } from './select/atomics.ts';
import { giveScalars, selectCall, takeScalars } from './select/calls.ts';
import { selectCast } from './select/casts.ts';
import { phisOf, selectBranch, selectSwitch } from './select/control.ts';
import { compareFloats, contractionOf, floatBinary, fusedProduct, negated } from './select/floats.ts';
import { compareIntegers, compareWide, integerBinary, selected, wideBinary } from './select/integers.ts';
import { loadParts, registersOf, selectLoad, selectStore, storeParts } from './select/memory.ts';
import { boundsText, byValueOfArgument, clusterText, headText, isKernel, parameterName } from './signatures.ts';
import { inferSpaces, spaceNumbers } from './spaces.ts';
import { emit, type FunctionState, into, type ModuleState, newLabel, registerDeclarations } from './state.ts';
import { addressIn, nameOf, operand, partsFor, placeOf, registersFor } from './values.ts';

/** The text of a function that the module defines. */
export function functionText(module: ModuleState, fn: LlvmFunction): string {
  const name = nameOf(module, fn);
  const head = headText(fn, name);
  const order = reversePostorder(fn);
  const s = newState(module, fn, order);
  takeParameters(s);
  const entry = s.text;
  const texts = new Map<Block, string[]>();
  for (const block of order) {
    s.text = [];
    selectBlock(s, block);
    texts.set(block, s.text);
  }
  const body = fn.blocks.filter((block) => texts.has(block)).flatMap((block) => [`${s.labels.get(block)}:`, ...texts.get(block)!]);
  const bounds = isKernel(fn) ? [...boundsText(fn), ...clusterText(fn, annotationsOf(module.module))] : [];
  return [head, ...bounds, '{', ...registerDeclarations(s), ...s.declarations, ...entry, ...body, '}', ''].join('\n');
}

function newState(module: ModuleState, fn: LlvmFunction, order: readonly Block[]): FunctionState {
  const isEntry = isKernel(fn);
  const uses = new Map<Value, number>();
  for (const block of order)
    for (const inst of block.body) for (const value of operandsOf(inst)) uses.set(value, (uses.get(value) ?? 0) + 1);
  const spaces = inferSpaces(fn, (arg) => {
    if (byValueOfArgument(fn, arg)) return spaceNumbers.local;
    return isEntry ? spaceNumbers.global : spaceNumbers.generic;
  });
  const s: FunctionState = {
    module,
    fn,
    isKernel: isEntry,
    flushes: flushes(fn),
    spaces,
    parts: new Map(),
    places: new Map(),
    labels: new Map(),
    fused: new Set(),
    uses,
    declarations: [],
    text: [],
    counts: new Map(),
    next: 0,
  };
  for (const block of order) {
    s.labels.set(block, newLabel(s));
    for (const phi of phisOf(block)) s.parts.set(phi, registersOf(s, phi.type));
  }
  findFused(s, order);
  return s;
}

/** Whether subnormals of 32 bits are flushed. Source: LLVM Language Reference, "denormal-fp-math-f32", which clang 22 writes. */
const flushes = (fn: LlvmFunction): boolean =>
  fn.attributes.function.some(
    (each) => each.form === 'string' && each.key === 'denormal-fp-math-f32' && (each.value ?? '').startsWith('preserve-sign'),
  );

/** Products that every use contains are not computed on their own. */
function findFused(s: FunctionState, order: readonly Block[]): void {
  const contained = new Map<Value, number>();
  for (const block of order)
    for (const inst of block.body) {
      const found = contractionOf(inst, s.uses);
      if (found) contained.set(found.product, (contained.get(found.product) ?? 0) + 1);
    }
  for (const [product, count] of contained) if (count === s.uses.get(product)) s.fused.add(product);
}

/** Blocks that can be reached, each behind those that dominate it. */
function reversePostorder(fn: LlvmFunction): Block[] {
  const order: Block[] = [];
  const entered = new Set<Block>();
  const open: { block: Block; next: number }[] = [];
  const enter = (block: Block): void => {
    if (entered.has(block)) return;
    entered.add(block);
    open.push({ block, next: 0 });
  };
  enter(fn.blocks[0]!);
  while (open.length > 0) {
    const top = open[open.length - 1]!;
    const followers = successorsOf(top.block.body[top.block.body.length - 1]!);
    const follower = followers[top.next++];
    if (follower) enter(follower);
    else order.push(open.pop()!.block);
  }
  return order.reverse();
}

// ── parameters ──

function takeParameters(s: FunctionState): void {
  for (const arg of s.fn.args) {
    const name = parameterName(nameOf(s.module, s.fn), arg.index);
    const byValue = byValueOfArgument(s.fn, arg);
    if (byValue) takeByValue(s, arg, name, byValue);
    else if (s.isKernel) s.parts.set(arg, takeKernelParameter(s, arg, name));
    else s.parts.set(arg, takeScalars(s, arg.type, name));
  }
}

/** Pointers that the host passes are generic, and point to global memory. */
function takeKernelParameter(s: FunctionState, arg: Argument, name: string): readonly string[] {
  const parts = loadParts(s, arg.type, { at: { base: name, offset: 0, space: spaceNumbers.param }, align: alignOf(arg.type), order: '' });
  if (arg.type.kind !== 'pointer' || arg.type.space !== 0) return parts;
  return [into(s, 'rd', 'cvta.to.global.u64', parts[0]!)];
}

/** A struct by value: the parameter itself where it is only read, at constant offsets unless it is a kernel's, else a copy in local memory. */
function takeByValue(s: FunctionState, arg: Argument, name: string, { type, align }: { type: Argument['type']; align: number }): void {
  if (isOnlyLoaded(s, arg)) {
    s.places.set(arg, { base: name, offset: 0, space: spaceNumbers.param });
    return;
  }
  const copy = `$_copy_${arg.index}`;
  s.declarations.push(`\t.local .align ${align} .b8 ${copy}[${Math.max(1, sizeOf(type))}];`);
  const parts = loadParts(s, type, { at: { base: name, offset: 0, space: spaceNumbers.param }, align, order: '' });
  storeParts(s, type, parts, { at: { base: copy, offset: 0, space: spaceNumbers.local }, align, order: '' });
  s.places.set(arg, { base: into(s, 'rd', 'mov.u64', copy), offset: 0, space: spaceNumbers.local });
}

/** Whether all uses of a pointer are loads; at constant offsets, unless the parameter is a kernel's, which has an address. */
function isOnlyLoaded(s: FunctionState, pointer: Value): boolean {
  return s.fn.blocks.every(({ body }) =>
    body.every((inst) => {
      if (!operandsOf(inst).includes(pointer)) return true;
      if (inst.op === 'load') return true;
      return (
        inst.op === 'gep' &&
        inst.base === pointer &&
        (s.isKernel || inst.indices.every((index) => index.kind === 'constant')) &&
        isOnlyLoaded(s, inst)
      );
    }),
  );
}

// ── instructions ──

function selectBlock(s: FunctionState, block: Block): void {
  let line = '';
  for (const inst of block.body) {
    if (inst.op === 'phi' || s.fused.has(inst)) continue;
    const location = s.module.lines.at(inst);
    const directive = location ? `\t.loc ${location.file} ${location.line} ${location.column}` : '';
    if (directive !== '' && directive !== line) s.text.push(directive);
    line = directive || line;
    try {
      select(s, block, inst);
    } catch (error) {
      if (error instanceof Refused && location) error.where ??= s.module.lines.spell(location);
      throw error;
    }
  }
}

function select(s: FunctionState, block: Block, inst: Instruction): void {
  const end = selectTerminator(s, block, inst);
  if (end) return;
  if (inst.op === 'gep') {
    s.places.set(inst, selectGep(s, inst));
    return;
  }
  if (inst.type.kind === 'pointer' && selectPointer(s, inst)) return;
  const parts = selectValue(s, inst);
  if (inst.type.kind !== 'void') s.parts.set(inst, parts);
}

/** Pointers that stay in the space that they come from; false for those that are values of other instructions. */
function selectPointer(s: FunctionState, inst: Instruction): boolean {
  const space = inst.type.kind === 'pointer' && inst.type.space !== 0 ? inst.type.space : s.spaces.of(inst);
  switch (inst.op) {
    case 'alloca':
      s.places.set(inst, selectAlloca(s, inst));
      return true;
    case 'freeze':
      s.places.set(inst, placeOf(s, inst.value));
      return true;
    case 'cast':
      if (inst.opcode === 'inttoptr') return false;
      if (inst.opcode === 'addrspacecast' && placeOf(s, inst.value).space !== space)
        s.parts.set(inst, [addressIn(s, placeOf(s, inst.value), space)]);
      else s.places.set(inst, placeOf(s, inst.value));
      return true;
    case 'select': {
      const [a, b] = [inst.a, inst.b].map((value) => addressIn(s, placeOf(s, value), space));
      s.parts.set(inst, [selected(s, 'rd', 'b64', operand(s, inst.condition), a!, b!)]);
      return true;
    }
    default:
      return false;
  }
}

function selectAlloca(s: FunctionState, inst: Extract<Instruction, { op: 'alloca' }>): { base: string; offset: number; space: number } {
  const { count: number } = inst;
  if (number.kind !== 'constant' || number.form !== 'int') return { base: allocated(s, inst), offset: 0, space: spaceNumbers.local };
  const count = Number(number.value);
  const name = `$_local_${s.next++}`;
  s.declarations.push(`\t.local .align ${Math.max(1, inst.align)} .b8 ${name}[${Math.max(1, count * sizeOf(inst.allocated))}];`);
  return { base: into(s, 'rd', 'mov.u64', name), offset: 0, space: spaceNumbers.local };
}

/** The address of an array on the stack, whose size is known when the function runs. */
function allocated(s: FunctionState, { count, allocated: element, align }: Extract<Instruction, { op: 'alloca' }>): string {
  const { type } = count;
  if (type.kind !== 'int' || (type.bits !== 32 && type.bits !== 64)) return refuse(`an array whose size is ${spell(type)}`);
  const own = operand(s, count);
  const wide = type.bits === 64 ? own : into(s, 'rd', 'cvt.u64.u32', own);
  const bytes = sizeOf(element) === 1 ? wide : into(s, 'rd', 'mul.lo.u64', wide, `${sizeOf(element)}`);
  return into(s, 'rd', 'alloca.u64', bytes, `${Math.max(8, align)}`);
}

/** Branches and ends; false for other instructions. */
function selectTerminator(s: FunctionState, block: Block, inst: Instruction): boolean {
  switch (inst.op) {
    case 'br':
    case 'condbr':
      selectBranch(s, block, inst);
      return true;
    case 'switch':
      selectSwitch(s, block, inst);
      return true;
    case 'ret':
      if (inst.value) giveScalars(s, inst.value.type, registersFor(s, inst.value), 'func_retval0');
      emit(s, 'ret');
      return true;
    case 'unreachable':
      emit(s, 'trap');
      emit(s, 'exit');
      return true;
    default:
      return false;
  }
}

function selectValue(s: FunctionState, inst: Instruction): readonly string[] {
  switch (inst.op) {
    case 'binary':
      return selectBinary(s, inst);
    case 'fneg':
    case 'icmp':
    case 'fcmp':
      return selectSimple(s, inst);
    case 'cast':
      return selectCast(s, inst);
    case 'select':
      return selectBetween(s, inst);
    case 'call':
      return selectCallee(s, inst);
    case 'load':
      return selectLoad(s, inst);
    case 'store':
      selectStore(s, inst);
      return [];
    case 'fence':
      selectFence(s, inst);
      return [];
    case 'atomicrmw':
      return selectUpdate(s, inst);
    case 'cmpxchg':
      return selectCompareAndSwap(s, inst);
    case 'extractvalue':
      return extractValue(s, inst);
    case 'insertvalue':
      return insertValue(s, inst);
    case 'extractelement':
      return extractElement(s, inst);
    case 'insertelement':
      return insertElement(s, inst);
    case 'shufflevector':
      return shuffleVector(s, inst);
    case 'freeze':
      return freeze(s, inst);
    default:
      return refuse(`the instruction ${inst.op}`);
  }
}

function selectCallee(s: FunctionState, inst: Extract<Instruction, { op: 'call' }>): readonly string[] {
  const { callee } = inst;
  if (callee.kind === 'constant' && callee.form === 'asm') return selectAsm(s, inst, callee);
  return callee.kind === 'function' && callee.name.startsWith('llvm.') ? selectIntrinsic(s, inst, callee.name) : selectCall(s, inst);
}

const scalarOf = ({ type }: Value): Value['type'] => (type.kind === 'vector' ? type.element : type);

function selectBinary(s: FunctionState, inst: Extract<Instruction, { op: 'binary' }>): readonly string[] {
  const element = scalarOf(inst);
  const contraction = contractionOf(inst, s.uses);
  if (element.kind === 'float') {
    if (!contraction) return mapElements(s, [inst.a, inst.b], ([a, b]) => floatBinary(s, inst.opcode, element.name, inst.flags, [a!, b!]));
    const { product, addend, negatesAddend, negatesProduct } = contraction;
    return mapElements(s, [product.a, product.b, addend], ([a, b, c]) =>
      fusedProduct(
        s,
        element.name,
        negatesProduct ? negated(s, element.name, a!) : a!,
        b!,
        negatesAddend ? negated(s, element.name, c!) : c!,
      ),
    );
  }
  if (element.kind !== 'int') return refuse(`${inst.opcode} of ${spell(inst.type)}`);
  if (element.bits <= 64) return mapElements(s, [inst.a, inst.b], ([a, b]) => integerBinary(s, inst.opcode, element.bits, a!, b!));
  if (inst.type.kind === 'vector') return refuse(`${inst.opcode} of ${spell(inst.type)}`);
  return wideBinary(s, inst.opcode, element.bits, partsFor(s, inst.a), partsFor(s, inst.b));
}

function selectSimple(s: FunctionState, inst: Extract<Instruction, { op: 'fneg' | 'icmp' | 'fcmp' }>): readonly string[] {
  if (inst.op === 'fneg') {
    const element = scalarOf(inst);
    return element.kind === 'float' ? mapElements(s, [inst.value], ([x]) => negated(s, element.name, x!)) : refuse('fneg');
  }
  const element = scalarOf(inst.a);
  if (element.kind === 'pointer' && inst.a.type.kind === 'pointer') return [comparePointers(s, inst)];
  const bits = element.kind === 'int' ? element.bits : 64;
  if (bits > 64) return [compareWide(s, inst.predicate, bits, partsFor(s, inst.a), partsFor(s, inst.b))];
  return mapElements(s, [inst.a, inst.b], ([a, b]) =>
    element.kind === 'float' ? compareFloats(s, inst.predicate, element.name, a!, b!) : compareIntegers(s, inst.predicate, bits, a!, b!),
  );
}

/** Addresses of one space are compared there, others as generic ones. */
function comparePointers(s: FunctionState, inst: Extract<Instruction, { op: 'icmp' | 'fcmp' }>): string {
  const [a, b] = [placeOf(s, inst.a), placeOf(s, inst.b)];
  const isNull = [a, b].some(({ base }) => /^\d/.test(base));
  const isAlike = a.space === b.space && !isNull;
  const [x, y] = isAlike ? [addressIn(s, a, a.space), addressIn(s, b, b.space)] : [operand(s, inst.a), operand(s, inst.b)];
  return compareIntegers(s, inst.predicate, 64, x, y);
}
