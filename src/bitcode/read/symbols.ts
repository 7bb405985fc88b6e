/** Globals and functions of a module, with their names from the string table or the symbol table. */
import { linkages, unnamedAddrs, visibilities } from '../codes.ts';
import { isImplicitlyLocal } from '../linkage.ts';
import { decoded, Malformed } from '../malformed.ts';
import type { Argument, GlobalVariable, Linkage, Function as LlvmFunction } from '../model.ts';
import { blocks } from '../records.ts';
import { types as llvm } from '../types.ts';
import type { AttributeTable } from './attributes.ts';
import type { Before, ConstantSource } from './constants.ts';
import { fieldsOf } from './record-fields.ts';
import type { RawRecord } from './record-reader.ts';
import { childBlocks, type RawBlock, records } from './stream-reader.ts';
import { addressSpace, type TypeTable } from './types.ts';

interface Tables {
  readonly types: TypeTable;
  readonly attributes: AttributeTable;
  readonly sections: readonly string[];
  readonly strings: Uint8Array | undefined;
}

/** Where a symbol's name is in the string table. */
interface NameFields {
  readonly name: number | bigint;
  readonly size: number | bigint;
}

interface Context extends Tables {
  /** The name of a symbol; empty where the module's symbol table holds names. */
  nameOf(fields: NameFields, bit: number): string;
}

export interface Symbols {
  readonly globals: GlobalVariable[];
  readonly functions: LlvmFunction[];
  /** Both by their value ids, which precede those of constants. */
  readonly asBefore: Before;
  /** Fills in initializers once constants are known. */
  finish(values: ConstantSource): void;
}

const codes = blocks.module.records;
/** Aliases, which would take the id of a value. */
const aliases = new Set<number>([codes.oldAlias.code, codes.alias.code, codes.ifunc.code]);

/** Alignments by their codes: log2 + 1, 0 for none. */
const alignments: readonly number[] = Array.from({ length: 34 }, (_, code) => (code === 0 ? 0 : 2 ** (code - 1)));

export function alignOfCode(code: number | bigint | undefined, bit: number): number {
  const found = alignments[Number(code ?? 0)];
  if (found === undefined) throw new Malformed(bit, 'module', `alignment code ${code}`);
  return found;
}

/** Calling conventions have ten bits. Source: `CallingConv::MaxID` of LLVM 14. */
function conventionOf(code: number | bigint | undefined, bit: number): number {
  const n = Number(code ?? 0);
  if (!(n < 2 ** 10)) throw new Malformed(bit, 'module', `calling convention ${code}`);
  return n;
}

export function readSymbols(module: RawBlock, tables: Tables): Symbols {
  const versioned = records(module).find((r) => r.code === codes.version.code);
  const version = versioned ? Number(fieldsOf(codes.version, versioned).version) : 0;
  if (version !== 1 && version !== 2) throw new Malformed(module.bit, 'module', `module version ${version}`);
  const context: Context = { ...tables, nameOf: (fields, bit) => (version === 2 ? nameFrom(tables.strings, fields, bit) : '') };
  const values: (GlobalVariable | LlvmFunction)[] = [];
  const inits: { global: GlobalVariable; id: number; bit: number }[] = [];
  for (const record of records(module)) {
    if (aliases.has(record.code)) throw new Malformed(record.bit, 'module', 'aliases are not supported');
    if (record.code !== codes.globalVar.code && record.code !== codes.function.code) continue;
    // Records of version 1 have no name.
    const symbol = version === 2 ? record : { ...record, ops: [0, 0, ...record.ops] };
    if (record.code === codes.function.code) values.push(readFunctionHeader(symbol, context));
    else {
      const { global, init } = readGlobal(symbol, context);
      values.push(global);
      if (init > 0) inits.push({ global, id: init - 1, bit: record.bit });
    }
  }
  if (version === 1) nameFromSymtab(module, values);
  return {
    globals: values.filter((v): v is GlobalVariable => v.kind === 'global'),
    functions: values.filter((v): v is LlvmFunction => v.kind === 'function'),
    asBefore: {
      first: values.length,
      outer: { at: (id, bit) => values[Number(id)] ?? noSymbol(bit, id) },
    },
    finish: (constants) => {
      for (const { global, id, bit } of inits) global.init = constants.at(id, bit);
    },
  };
}

function noSymbol(bit: number, id: unknown): never {
  throw new Malformed(bit, 'module', `value ${id} does not exist`);
}

function nameFrom(strings: Uint8Array | undefined, { name, size }: NameFields, bit: number): string {
  const [from, to] = [Number(name), Number(name) + Number(size)];
  if (!strings || !(to <= strings.length)) throw new Malformed(bit, 'module', 'a name outside the string table');
  return decoded(strings.subarray(from, to), bit, 'strtab');
}

/** VERSION 1: names are in the module's own symbol table. */
function nameFromSymtab(module: RawBlock, values: (GlobalVariable | LlvmFunction)[]): void {
  const { entry, fnEntry } = blocks.valueSymtab.records;
  for (const block of childBlocks(module, blocks.valueSymtab.id))
    for (const record of records(block)) {
      if (record.code !== entry.code && record.code !== fnEntry.code) continue;
      const { value: id, name } = record.code === entry.code ? fieldsOf(entry, record) : fieldsOf(fnEntry, record);
      const value = values[Number(id)];
      if (value) value.name = name;
    }
}

const sectionAt = (tables: Tables, id: number | bigint | undefined): string | undefined =>
  Number(id ?? 0) === 0 ? undefined : tables.sections[Number(id) - 1];

/** Refuses nonzero fields that the model does not have. */
function refuseFields(bit: number, fields: Readonly<Record<string, number | bigint | undefined>>): void {
  for (const [what, field] of Object.entries(fields))
    if (Number(field ?? 0) !== 0) throw new Malformed(bit, 'module', `${what} is not supported`);
}

const linkageOf = (code: number | bigint | undefined): Linkage => linkages.get(Number(code ?? 0)) ?? 'external';
const isSet = (field: number | bigint | undefined): boolean => Number(field ?? 0) !== 0;

/** A variable, and the id of its initializer plus 1, 0 for none. */
function readGlobal(record: RawRecord, tables: Context): { readonly global: GlobalVariable; readonly init: number } {
  const { bit } = record;
  const f = fieldsOf(codes.globalVar, record);
  const valueType = tables.types.at(f.type, bit);
  const flags = Number(f.flags);
  if ((flags & 2) === 0) throw new Malformed(bit, 'module', 'a global without explicit type');
  const linkage = linkageOf(f.linkage);
  const isLatest = tables.types.dialect === 'latest';
  refuseFields(bit, {
    'thread-local storage': f.tls,
    'a DLL storage class': f.dll,
    ...(isLatest ? {} : { 'a comdat': f.comdat, 'attributes of a variable': f.attributes }),
  });
  const visibility = visibilities.get(Number(f.visibility ?? 0));
  const global: GlobalVariable = {
    kind: 'global',
    ...(visibility ? { visibility } : {}),
    name: tables.nameOf(f, bit),
    type: llvm.pointer(isLatest ? llvm.opaque : valueType, addressSpace(Math.floor(flags / 4), bit)),
    valueType,
    isConstant: (flags & 1) !== 0,
    init: undefined,
    linkage,
    align: alignOfCode(f.align, bit),
    section: sectionAt(tables, f.section),
    unnamedAddr: unnamedAddrs.get(Number(f.unnamed ?? 0)) ?? 'none',
    externallyInitialized: isSet(f.external),
    dsoLocal: isSet(f.dsoLocal) && !isImplicitlyLocal({ linkage, visibility }),
  };
  return { global, init: Number(f.init) };
}

function readFunctionHeader(record: RawRecord, tables: Context): LlvmFunction {
  const { bit } = record;
  const f = fieldsOf(codes.function, record);
  const functionType = tables.types.at(f.type, bit);
  if (functionType.kind !== 'function') throw new Malformed(bit, 'module', 'a function whose type is not a function type');
  const linkage = linkageOf(f.linkage);
  const isLatest = tables.types.dialect === 'latest';
  refuseFields(bit, {
    'a garbage collector': f.gc,
    'a prologue': f.prologue,
    'a DLL storage class': f.dll,
    ...(isLatest ? {} : { 'a comdat': f.comdat }),
    'prefix data': f.prefix,
    'a personality': f.personality,
    'an address space of functions': f.space,
  });
  const visibility = visibilities.get(Number(f.visibility ?? 0));
  const [convention, align] = [conventionOf(f.cc, bit), alignOfCode(f.align, bit)];
  return {
    kind: 'function',
    ...(visibility ? { visibility } : {}),
    ...(convention ? { convention } : {}),
    ...(align ? { align } : {}),
    name: tables.nameOf(f, bit),
    functionType,
    type: llvm.pointer(isLatest ? llvm.opaque : functionType),
    linkage,
    attributes: tables.attributes.at(f.attributes, bit),
    unnamedAddr: unnamedAddrs.get(Number(f.unnamed ?? 0)) ?? 'none',
    dsoLocal: isSet(f.dsoLocal) && !isImplicitlyLocal({ linkage, visibility }),
    section: sectionAt(tables, f.section),
    args: functionType.params.map((type, index): Argument => ({ kind: 'argument', type, index, name: undefined })),
    // The body of a definition is read later.
    blocks: f.declaration === 1 ? [] : [{ kind: 'block', name: undefined, body: [] }],
    metadata: [],
  };
}
