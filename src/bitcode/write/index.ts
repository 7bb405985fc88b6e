/**
 * A module as LLVM 14 bitcode, block by block in the order of Apple's compilers for macOS 11 and later.
 * Source: `llvm/lib/Bitcode/Writer` of LLVM 14 for the operands, real metallibs for the order.
 */

import { linkageCodes, unnamedAddrCodes, visibilityCodes } from '../codes.ts';
import { isImplicitlyLocal } from '../linkage.ts';
import type { Attribute, GlobalVariable, Function as LlvmFunction, Module } from '../model.ts';
import { operandBundleTags, syncScopeNames } from '../names.ts';
import { writeConstants } from './constants.ts';
import { type ModuleNumbers, numberModule } from './enumerate.ts';
import { writeFunction } from './function.ts';
import { writeMetadata } from './metadata.ts';
import { alignCode } from './record-instruction.ts';
import { type RecordFields, type StreamWriter, streamWriter } from './stream-writer.ts';
import { writeTypes } from './types.ts';

/** Operands of the records of functions and variables: those of LLVM 14 have partitions, older ones do not. */
export interface RecordOperands {
  readonly functionOperands: number;
  readonly variableOperands: number;
}

const ofLlvm14: RecordOperands = { functionOperands: 21, variableOperands: 18 };

/** Raw bitcode (`BC` C0 DE …) without wrapper; the same module gives the same bytes. */
export function writeModule(module: Module, operands: RecordOperands = ofLlvm14): Uint8Array {
  const out = streamWriter();
  const names = stringTable(module);
  out.block('identification', () => {
    out.record('identification', 'string', { text: module.identification });
    out.record('identification', 'epoch', { epoch: 0 });
  });
  out.block('module', () => writeModuleBlock(out, module, numberModule(module), names, operands));
  out.block('strtab', () => out.record('strtab', 'blob', { blob: names.bytes }));
  return out.finish();
}

const chars = (text: string): number[] => [...new TextEncoder().encode(text)];

interface StringTable {
  readonly bytes: Uint8Array;
  place(of: GlobalVariable | LlvmFunction): { readonly name: number; readonly size: number };
}

/** Names of globals and functions, one after the other. */
function stringTable(module: Module): StringTable {
  const places = new Map<object, { readonly name: number; readonly size: number }>();
  const bytes: number[] = [];
  for (const named of [...module.globals, ...module.functions]) {
    const name = chars(named.name);
    places.set(named, { name: bytes.length, size: name.length });
    bytes.push(...name);
  }
  return { bytes: Uint8Array.from(bytes), place: (of) => places.get(of)! };
}

function writeModuleBlock(
  out: StreamWriter,
  module: Module,
  numbers: ModuleNumbers,
  names: StringTable,
  { functionOperands, variableOperands }: RecordOperands,
): void {
  out.record('module', 'version', { version: 2 });
  out.block('blockinfo', () => {});
  writeTypes(out, numbers.types);
  writeAttributes(out, numbers);
  out.record('module', 'triple', { text: module.triple });
  out.record('module', 'dataLayout', { text: module.dataLayout });
  for (const section of module.sections) out.record('module', 'sectionName', { text: section });
  out.record('module', 'sourceFilename', { text: module.sourceFilename });
  for (const global of module.globals) out.record('module', 'globalVar', globalFields(global, module, numbers, names), variableOperands);
  for (const fn of module.functions) out.record('module', 'function', functionFields(fn, module, numbers, names), functionOperands);
  const symtabPlace = out.reserveRecord('module', 'vstOffset');
  writeConstants(out, numbers.constants, numbers.types, numbers.valueId);
  out.block('metadataKind', () =>
    numbers.metadata.kinds.forEach((kind, id) => void out.record('metadataKind', 'kind', { kind: id, name: kind })),
  );
  writeMetadata(out, module, numbers);
  out.block('operandBundleTags', () => operandBundleTags.forEach((tag) => void out.record('operandBundleTags', 'tag', { text: tag })));
  out.block('syncScopeNames', () => syncScopeNames.forEach((name) => void out.record('syncScopeNames', 'name', { text: name })));
  const defined = module.functions.filter((fn) => fn.blocks.length > 0);
  const starts = defined.map((fn) => writeFunction(out, fn, numbers));
  const symtab = out.block('valueSymtab', () =>
    defined.forEach((fn, i) => void out.record('valueSymtab', 'fnEntry', { value: numbers.valueId(fn), start: starts[i]!, name: '' })),
  );
  out.patch(symtabPlace, symtab);
}

const sectionId = (module: Module, name: string | undefined): number => (name === undefined ? 0 : module.sections.indexOf(name) + 1);

function globalFields(
  global: GlobalVariable,
  module: Module,
  numbers: ModuleNumbers,
  names: StringTable,
): RecordFields<'module', 'globalVar'> {
  const explicitType = 2;
  return {
    ...names.place(global),
    type: numbers.types.idOf(global.valueType),
    flags: (global.type.space << 2) | explicitType | (global.isConstant ? 1 : 0),
    init: global.init ? numbers.valueId(global.init) + 1 : 0,
    linkage: linkageCodes[global.linkage],
    align: alignCode(global.align),
    section: sectionId(module, global.section),
    visibility: global.visibility ? visibilityCodes[global.visibility] : 0,
    tls: 0,
    unnamed: unnamedAddrCodes[global.unnamedAddr],
    external: global.externallyInitialized ? 1 : 0,
    dll: 0,
    comdat: 0,
    attributes: 0,
    dsoLocal: isDsoLocal(global) ? 1 : 0,
    partition: 0,
    partitionSize: 0,
  };
}

const isDsoLocal = (symbol: GlobalVariable | LlvmFunction): boolean => symbol.dsoLocal || isImplicitlyLocal(symbol);

function functionFields(fn: LlvmFunction, module: Module, numbers: ModuleNumbers, names: StringTable): RecordFields<'module', 'function'> {
  return {
    ...names.place(fn),
    type: numbers.types.idOf(fn.functionType),
    cc: fn.convention ?? 0,
    declaration: fn.blocks.length === 0 ? 1 : 0,
    linkage: linkageCodes[fn.linkage],
    attributes: numbers.attributes.idOf(fn.attributes),
    align: alignCode(fn.align ?? 0),
    section: sectionId(module, fn.section),
    visibility: fn.visibility ? visibilityCodes[fn.visibility] : 0,
    gc: 0,
    unnamed: unnamedAddrCodes[fn.unnamedAddr],
    prologue: 0,
    dll: 0,
    comdat: 0,
    prefix: 0,
    personality: 0,
    dsoLocal: isDsoLocal(fn) ? 1 : 0,
    space: 0,
    partition: 0,
    partitionSize: 0,
  };
}

function writeAttributes(out: StreamWriter, { attributes, types }: ModuleNumbers): void {
  if (attributes.lists.length === 0) return;
  out.block('paramattrGroup', () =>
    attributes.groups.forEach((group, i) => {
      const words = group.attributes.flatMap((attribute) => attributeWords(attribute, types.idOf));
      out.record('paramattrGroup', 'entry', { group: i + 1, index: group.index, attributes: words });
    }),
  );
  out.block('paramattr', () => attributes.lists.forEach((groups) => void out.record('paramattr', 'entry', { groups })));
}

function attributeWords(attribute: Attribute, typeId: ModuleNumbers['types']['idOf']): (number | bigint)[] {
  switch (attribute.form) {
    case 'enum':
      return [0, attribute.kind];
    case 'int':
      return [1, attribute.kind, attribute.value];
    case 'string':
      return attribute.value === undefined
        ? [3, ...chars(attribute.key), 0]
        : [4, ...chars(attribute.key), 0, ...chars(attribute.value), 0];
    case 'type':
      return attribute.type ? [6, attribute.kind, typeId(attribute.type)] : [5, attribute.kind];
  }
}
