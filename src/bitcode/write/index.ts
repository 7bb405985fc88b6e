/**
 * A module as LLVM 14 bitcode, block by block in the order of Apple's compilers for macOS 11 and later.
 * Source: `llvm/lib/Bitcode/Writer` of LLVM 14 for the operands, real metallibs for the order.
 */

import { isLocalByItself } from '../linkage.ts';
import type { Attribute, GlobalVariable, Function as LlvmFunction, Module } from '../model.ts';
import { operandBundleTags, syncScopeNames } from '../names.ts';
import { linkageCodes, unnamedAddrCodes, visibilityCodes } from '../records.ts';
import { writeConstants } from './constants.ts';
import { type ModuleNumbers, numberModule } from './enumerate.ts';
import { writeFunction } from './function.ts';
import { writeMetadata } from './metadata.ts';
import { alignCode } from './record-instruction.ts';
import { type StreamWriter, streamWriter } from './stream-writer.ts';
import { writeTypes } from './types.ts';

/** How many operands the records of functions and of variables have: LLVM 14 knows partitions, older ones do not. */
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
    out.record('identification', 'string', chars(module.identification));
    out.record('identification', 'epoch', [0]);
  });
  out.block('module', () => writeModuleBlock(out, module, numberModule(module), names, operands));
  out.block('strtab', () => out.blob('strtab', 'blob', [], names.bytes));
  return out.finish();
}

const chars = (text: string): number[] => [...new TextEncoder().encode(text)];

interface StringTable {
  readonly bytes: Uint8Array;
  place(of: GlobalVariable | LlvmFunction): readonly [offset: number, size: number];
}

/** Names of globals and functions, one behind the other. */
function stringTable(module: Module): StringTable {
  const places = new Map<object, readonly [number, number]>();
  const bytes: number[] = [];
  for (const named of [...module.globals, ...module.functions]) {
    const name = chars(named.name);
    places.set(named, [bytes.length, name.length]);
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
  out.record('module', 'version', [2]);
  out.block('blockinfo', () => {});
  writeTypes(out, numbers.types);
  writeAttributes(out, numbers);
  out.record('module', 'triple', chars(module.triple));
  out.record('module', 'dataLayout', chars(module.dataLayout));
  for (const section of module.sections) out.record('module', 'sectionName', chars(section));
  out.record('module', 'sourceFilename', chars(module.sourceFilename));
  for (const global of module.globals)
    out.record('module', 'globalVar', globalWords(global, module, numbers, names).slice(0, variableOperands));
  for (const fn of module.functions) out.record('module', 'function', functionWords(fn, module, numbers, names).slice(0, functionOperands));
  const symtabPlace = out.laterRecord('module', 'vstOffset');
  writeConstants(out, numbers.constants, numbers.types, numbers.valueId);
  out.block('metadataKind', () =>
    numbers.metadata.kinds.forEach((kind, id) => void out.record('metadataKind', 'kind', [id, ...chars(kind)])),
  );
  writeMetadata(out, module, numbers);
  out.block('operandBundleTags', () => operandBundleTags.forEach((tag) => void out.record('operandBundleTags', 'tag', chars(tag))));
  out.block('syncScopeNames', () => syncScopeNames.forEach((name) => void out.record('syncScopeNames', 'name', chars(name))));
  const defined = module.functions.filter((fn) => fn.blocks.length > 0);
  const starts = defined.map((fn) => writeFunction(out, fn, numbers));
  const symtab = out.block('valueSymtab', () =>
    defined.forEach((fn, i) => void out.record('valueSymtab', 'fnEntry', [numbers.valueId(fn), starts[i]!])),
  );
  out.patch(symtabPlace, symtab);
}

const sectionId = (module: Module, name: string | undefined): number => (name === undefined ? 0 : module.sections.indexOf(name) + 1);

function globalWords(global: GlobalVariable, module: Module, numbers: ModuleNumbers, names: StringTable): number[] {
  const explicitType = 2;
  return [
    ...names.place(global),
    numbers.types.idOf(global.valueType),
    (global.type.space << 2) | explicitType | (global.isConstant ? 1 : 0),
    global.init ? numbers.valueId(global.init) + 1 : 0,
    linkageCodes[global.linkage],
    alignCode(global.align),
    sectionId(module, global.section),
    global.visibility ? visibilityCodes[global.visibility] : 0,
    0,
    unnamedAddrCodes[global.unnamedAddr],
    global.externallyInitialized ? 1 : 0,
    0,
    0,
    0,
    isDsoLocal(global) ? 1 : 0,
    0,
    0,
  ];
}

const isDsoLocal = (symbol: GlobalVariable | LlvmFunction): boolean => symbol.dsoLocal || isLocalByItself(symbol);

function functionWords(fn: LlvmFunction, module: Module, numbers: ModuleNumbers, names: StringTable): number[] {
  return [
    ...names.place(fn),
    numbers.types.idOf(fn.functionType),
    fn.convention ?? 0,
    fn.blocks.length === 0 ? 1 : 0,
    linkageCodes[fn.linkage],
    numbers.attributes.idOf(fn.attributes),
    alignCode(fn.align ?? 0),
    sectionId(module, fn.section),
    fn.visibility ? visibilityCodes[fn.visibility] : 0,
    0,
    unnamedAddrCodes[fn.unnamedAddr],
    0,
    0,
    0,
    0,
    0,
    isDsoLocal(fn) ? 1 : 0,
    0,
    0,
    0,
  ];
}

function writeAttributes(out: StreamWriter, { attributes, types }: ModuleNumbers): void {
  if (attributes.lists.length === 0) return;
  out.block('paramattrGroup', () =>
    attributes.groups.forEach((group, i) => {
      const words = group.attributes.flatMap((attribute) => attributeWords(attribute, types.idOf));
      out.record('paramattrGroup', 'entry', [i + 1, group.index, ...words]);
    }),
  );
  out.block('paramattr', () => attributes.lists.forEach((groups) => void out.record('paramattr', 'entry', groups)));
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
