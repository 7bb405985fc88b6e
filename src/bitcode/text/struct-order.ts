/**
 * The named structs that a module's text defines, in the order in which a walk over globals, functions and metadata finds them.
 * Source: `llvm/lib/IR/TypeFinder.cpp` of LLVM 14.
 */

import type { Constant, Instruction, Function as LlvmFunction, Metadata, MetadataNode, Module, Value } from '../model.ts';
import { operandsOf, partsOf, typeParts } from '../operands.ts';
import type { Type, TypeOf } from '../types.ts';

interface Walk {
  readonly found: TypeOf<'struct'>[];
  readonly types: Set<Type>;
  readonly constants: Set<Constant>;
  readonly nodes: Set<MetadataNode>;
}

/** Named structs that the module uses, in the order of LLVM's text. */
export function usedStructs(module: Module): TypeOf<'struct'>[] {
  const walk: Walk = { found: [], types: new Set(), constants: new Set(), nodes: new Set() };
  for (const global of module.globals) {
    visitType(walk, global.type);
    if (global.init) visitValue(walk, global.init);
  }
  for (const fn of module.functions) visitFunction(walk, fn);
  for (const named of module.namedMetadata) for (const node of named.nodes) visitMetadata(walk, node);
  return walk.found;
}

function visitFunction(walk: Walk, fn: LlvmFunction): void {
  visitType(walk, fn.type);
  for (const block of fn.blocks) for (const inst of block.body) visitInstruction(walk, inst);
}

function visitInstruction(walk: Walk, inst: Instruction): void {
  visitType(walk, inst.type);
  for (const operand of operandsOf(inst)) visitValue(walk, operand);
  if (inst.op === 'call') for (const arg of inst.args) if (arg.kind === 'metadata') visitMetadata(walk, arg.metadata);
  if (inst.op === 'gep') visitType(walk, inst.sourceType);
  if (inst.op === 'alloca') visitType(walk, inst.allocated);
  for (const { node } of inst.metadata ?? []) visitMetadata(walk, node);
}

/** Visits types in pre-order. */
function visitType({ found, types }: Walk, type: Type): void {
  if (types.has(type)) return;
  types.add(type);
  const open = [type];
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.kind === 'struct' && next.name !== undefined) found.push(next);
    for (const part of [...typeParts(next)].reverse()) {
      if (types.has(part)) continue;
      types.add(part);
      open.push(part);
    }
  }
}

function visitValue(walk: Walk, value: Value): void {
  if (value.kind !== 'constant' || walk.constants.has(value)) return;
  walk.constants.add(value);
  visitType(walk, value.type);
  for (const part of partsOf(value)) visitValue(walk, part);
}

function visitMetadata(walk: Walk, root: Metadata): void {
  const open = [root];
  for (let metadata = open.pop(); metadata; metadata = open.pop()) {
    if (metadata.kind === 'value') visitValue(walk, metadata.value);
    if (metadata.kind !== 'node' || walk.nodes.has(metadata)) continue;
    walk.nodes.add(metadata);
    for (const operand of [...metadata.operands].reverse()) if (operand) open.push(operand);
  }
}
