/**
 * What the functions of a module refer to, each in order of first use. All is found in one walk, for there may be more
 * instructions than a processor keeps at hand.
 */
import { attachedNodes, placeOf } from './locations.ts';
import type { Argument, AttributeList, Instruction, Function as LlvmFunction, Metadata, Module, Value } from './model.ts';
import { eachOperand, isLocal, partsOf } from './operands.ts';
import { type Type, types } from './types.ts';

export interface Scan {
  readonly types: ReadonlySet<Type>;
  /** Of calls. */
  readonly attributes: ReadonlySet<AttributeList>;
  /** Arguments of calls that are metadata of the module, and what is attached to functions and instructions. */
  readonly metadata: readonly Metadata[];
  /** What is attached under. */
  readonly kinds: ReadonlySet<string>;
  readonly functions: ReadonlyMap<LlvmFunction, FunctionScan>;
}

/** What a function has that its instructions are not asked for again. */
export interface FunctionScan {
  /** Constants, globals and functions that are operands, for their numbers; `noNumber` so far. */
  readonly ids: Map<Value, number>;
  /** Values of the function that are metadata. */
  readonly locals: ReadonlySet<Argument | Instruction>;
  /** Those with a value, each at its `number`. */
  readonly instructions: readonly Instruction[];
  readonly named: readonly Instruction[];
  readonly hasAttached: boolean;
}

export const noNumber = -1;

/** The same while it is made. */
interface OpenScan {
  readonly types: Set<Type>;
  readonly attributes: Set<AttributeList>;
  readonly metadata: Metadata[];
  readonly kinds: Set<string>;
  readonly functions: Map<LlvmFunction, FunctionScan>;
}

/** Walks all functions. */
export function scanModule(module: Module): Scan {
  const scan: OpenScan = {
    types: new Set(),
    attributes: new Set(),
    metadata: [],
    kinds: new Set(),
    functions: new Map(),
  };
  for (const fn of module.functions) scanFunction(scan, fn);
  return scan;
}

function scanFunction(scan: OpenScan, fn: LlvmFunction): void {
  for (const { type } of fn.args) scan.types.add(type);
  for (const { kind, node } of fn.metadata) {
    scan.kinds.add(kind);
    scan.metadata.push(node);
  }
  const ids = new Map<Value, number>();
  const visit = (operand: Value): void => {
    const { kind } = operand;
    // Arguments and instructions have added their own types.
    if (kind === 'instruction' || kind === 'argument' || ids.has(operand)) return;
    ids.set(operand, noNumber);
    addTypes(scan.types, operand);
  };
  const calls: Calls = { visit, lists: [fn.attributes], locals: new Set() };
  const instructions: Instruction[] = [];
  const named: Instruction[] = [];
  let hasAttached = false;
  let last: Type | undefined;
  for (const { body } of fn.blocks)
    for (const inst of body) {
      if (inst.type !== types.void) inst.number = instructions.push(inst) - 1;
      if (inst.type !== last) scan.types.add(inst.type);
      last = inst.type;
      if (inst.op === 'call') scanCall(scan, inst, calls);
      else eachOperand(inst, visit);
      if (inst.op === 'gep') scan.types.add(inst.sourceType);
      else if (inst.op === 'alloca') scan.types.add(inst.allocated);
      if (inst.name !== undefined) named.push(inst);
      if (!inst.metadata?.length) continue;
      hasAttached = true;
      scanAttached(scan, inst);
    }
  for (const list of calls.lists)
    for (const attribute of [...list.function, ...list.result, ...list.params.flat()])
      if (attribute.form === 'type' && attribute.type) scan.types.add(attribute.type);
  scan.functions.set(fn, { ids, locals: calls.locals, instructions, named, hasAttached });
}

/** What the calls of a function are asked for. */
interface Calls {
  visit(operand: Value): void;
  /** Attributes that were not met before. */
  readonly lists: AttributeList[];
  readonly locals: Set<Argument | Instruction>;
}

function scanCall(scan: OpenScan, inst: Extract<Instruction, { op: 'call' }>, { visit, lists, locals }: Calls): void {
  visit(inst.callee);
  for (const arg of inst.args) {
    if (arg.kind !== 'metadata') visit(arg);
    else if (isLocal(arg.metadata)) locals.add(arg.metadata.value);
    else scan.metadata.push(arg.metadata);
  }
  scan.types.add(inst.functionType);
  if (scan.attributes.has(inst.attributes)) return;
  scan.attributes.add(inst.attributes);
  lists.push(inst.attributes);
}

function scanAttached(scan: OpenScan, inst: Instruction): void {
  for (const node of attachedNodes(inst)) scan.metadata.push(node);
  for (const { kind } of placeOf(inst).others) scan.kinds.add(kind);
}

/** The types of a value and of what it is made of. */
function addTypes(types: Set<Type>, value: Value): void {
  types.add(value.type);
  if (value.kind !== 'constant') return;
  for (const part of partsOf(value)) addTypes(types, part);
  if (value.form === 'gep') types.add(value.sourceType);
}
