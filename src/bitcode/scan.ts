/**
 * What the functions of a module refer to, each in order of first use. All is found in one walk, for there may be more
 * instructions than a processor keeps at hand.
 */
import { attachedNodes, placeOf } from './locations.ts';
import type { AttributeList, Instruction, Function as LlvmFunction, Metadata, Module, Value } from './model.ts';
import { eachOperand, partsOf } from './operands.ts';
import type { Type } from './types.ts';

export interface Scan {
  readonly types: ReadonlySet<Type>;
  /** Of calls. */
  readonly attributes: ReadonlySet<AttributeList>;
  /** Arguments of calls that are metadata, and what is attached to functions and instructions. */
  readonly metadata: readonly Metadata[];
  /** What is attached under. */
  readonly kinds: ReadonlySet<string>;
  /** Constants, globals and functions that are operands. */
  readonly constants: ReadonlyMap<LlvmFunction, ReadonlySet<Value>>;
}

/** The same while it is made. */
interface OpenScan {
  readonly types: Set<Type>;
  readonly attributes: Set<AttributeList>;
  readonly metadata: Metadata[];
  readonly kinds: Set<string>;
  readonly constants: Map<LlvmFunction, Set<Value>>;
  /** Operands whose types are there. */
  readonly typed: Set<Value>;
}

/** Walks all functions. */
export function scanModule(module: Module): Scan {
  const scan: OpenScan = {
    types: new Set(),
    attributes: new Set(),
    metadata: [],
    kinds: new Set(),
    constants: new Map(),
    typed: new Set(),
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
  const constants = new Set<Value>();
  const visit = (operand: Value): void => {
    // Arguments and instructions have added their own types.
    if (operand.kind === 'instruction' || operand.kind === 'argument' || constants.has(operand)) return;
    constants.add(operand);
    if (!scan.typed.has(operand)) addTypes(scan.types, operand);
    scan.typed.add(operand);
  };
  const lists = [fn.attributes];
  let last: Type | undefined;
  for (const { body } of fn.blocks)
    for (const inst of body) {
      if (inst.type !== last) scan.types.add(inst.type);
      last = inst.type;
      eachOperand(inst, visit);
      if (inst.op === 'call') scanCall(scan, inst, lists);
      else if (inst.op === 'gep') scan.types.add(inst.sourceType);
      else if (inst.op === 'alloca') scan.types.add(inst.allocated);
      if (inst.metadata?.length) scanAttached(scan, inst);
    }
  for (const list of lists)
    for (const attribute of [...list.function, ...list.result, ...list.params.flat()])
      if (attribute.form === 'type' && attribute.type) scan.types.add(attribute.type);
  scan.constants.set(fn, constants);
}

/** Attributes that were not met before go to `lists`. */
function scanCall(scan: OpenScan, inst: Extract<Instruction, { op: 'call' }>, lists: AttributeList[]): void {
  scan.types.add(inst.functionType);
  for (const arg of inst.args) if (arg.kind === 'metadata') scan.metadata.push(arg.metadata);
  if (scan.attributes.has(inst.attributes)) return;
  scan.attributes.add(inst.attributes);
  lists.push(inst.attributes);
}

function scanAttached(scan: OpenScan, inst: Instruction): void {
  scan.metadata.push(...attachedNodes(inst));
  for (const { kind } of placeOf(inst).others) scan.kinds.add(kind);
}

/** The types of a value and of what it is made of. */
function addTypes(types: Set<Type>, value: Value): void {
  types.add(value.type);
  if (value.kind !== 'constant') return;
  for (const part of partsOf(value)) addTypes(types, part);
  if (value.form === 'gep') types.add(value.sourceType);
}
