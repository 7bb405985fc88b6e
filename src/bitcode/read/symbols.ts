/** Globals and functions of a module that is read, with their names from the string or the symbol table. */
import { isLocalByItself } from '../linkage.ts';
import { decoded, Malformed } from '../malformed.ts';
import type { Argument, GlobalVariable, Function as LlvmFunction } from '../model.ts';
import { blocks, linkages, unnamedAddrs, visibilities } from '../records.ts';
import { types as llvm } from '../types.ts';
import type { AttributeTable } from './attributes.ts';
import type { Before, ConstantSource } from './constants.ts';
import { type RawRecord, textOf } from './record-reader.ts';
import { childBlocks, type RawBlock, records } from './stream-reader.ts';
import { addressSpace, type TypeTable } from './types.ts';

interface Tables {
  readonly types: TypeTable;
  readonly attributes: AttributeTable;
  readonly sections: readonly string[];
  readonly strings: Uint8Array | undefined;
}

export interface Symbols {
  readonly globals: GlobalVariable[];
  readonly functions: LlvmFunction[];
  /** Both by their value ids, for the constants behind them. */
  readonly asBefore: Before;
  /** Fills in initialisers once constants are known. */
  finish(values: ConstantSource): void;
}

const codes = blocks.module.records;
/** They would take a value's number. */
const aliases = new Set<number>([codes.oldAlias.code, codes.alias.code, codes.ifunc.code]);

/** Alignments are written as log2 + 1, 0 for none. */
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
  const version = Number(records(module).find((r) => r.code === codes.version.code)?.ops[0] ?? 0);
  if (version !== 1 && version !== 2) throw new Malformed(module.bit, 'module', `module version ${version}`);
  const values: (GlobalVariable | LlvmFunction)[] = [];
  const inits: { global: GlobalVariable; id: number; bit: number }[] = [];
  for (const record of records(module)) {
    if (aliases.has(record.code)) throw new Malformed(record.bit, 'module', 'another name for a symbol (an alias) is not known');
    if (record.code !== codes.globalVar.code && record.code !== codes.function.code) continue;
    const name = version === 2 ? nameFrom(tables.strings, record) : '';
    const ops = version === 2 ? record.ops.slice(2) : record.ops;
    if (record.code === codes.function.code) values.push(readFunctionHeader(name, ops, record, tables));
    else {
      const global = readGlobal(name, ops, record, tables);
      values.push(global);
      if (Number(ops[2]) > 0) inits.push({ global, id: Number(ops[2]) - 1, bit: record.bit });
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

function nameFrom(strings: Uint8Array | undefined, record: RawRecord): string {
  const [offset, size] = [Number(record.ops[0]), Number(record.ops[1])];
  if (!strings || !(offset + size <= strings.length)) throw new Malformed(record.bit, 'module', 'a name outside the string table');
  return decoded(strings.subarray(offset, offset + size), record.bit, 'strtab');
}

/** VERSION 1: names are in the module's own symbol table. */
function nameFromSymtab(module: RawBlock, values: (GlobalVariable | LlvmFunction)[]): void {
  const { entry, fnEntry } = blocks.valueSymtab.records;
  for (const block of childBlocks(module, blocks.valueSymtab.id))
    for (const record of records(block)) {
      const value = values[Number(record.ops[0])];
      if (value && record.code === entry.code) value.name = textOf(record, 1);
      if (value && record.code === fnEntry.code) value.name = textOf(record, 2);
    }
}

const sectionAt = (tables: Tables, id: number | bigint | undefined): string | undefined =>
  Number(id ?? 0) === 0 ? undefined : tables.sections[Number(id) - 1];

/** Refuses what the model has no place for, each named with the number of its field. */
function refuseFields(record: RawRecord, ops: readonly (number | bigint)[], fields: Readonly<Record<string, number>>): void {
  for (const [what, at] of Object.entries(fields))
    if (Number(ops[at] ?? 0) !== 0) throw new Malformed(record.bit, 'module', `${what} is not known`);
}

function readGlobal(name: string, ops: readonly (number | bigint)[], record: RawRecord, tables: Tables): GlobalVariable {
  const valueType = tables.types.at(ops[0], record.bit);
  const flags = Number(ops[1]);
  if ((flags & 2) === 0) throw new Malformed(record.bit, 'module', 'a global without explicit type');
  const linkage = linkages.get(Number(ops[3] ?? 0)) ?? 'external';
  refuseFields(record, ops, { 'thread-local storage': 7, 'a DLL storage class': 10, 'a comdat': 11, 'attributes of a variable': 12 });
  const visibility = visibilities.get(Number(ops[6] ?? 0));
  return {
    kind: 'global',
    ...(visibility ? { visibility } : {}),
    name,
    type: llvm.pointer(valueType, addressSpace(Math.floor(flags / 4), record.bit)),
    valueType,
    isConstant: (flags & 1) !== 0,
    init: undefined,
    linkage,
    align: alignOfCode(ops[4], record.bit),
    section: sectionAt(tables, ops[5]),
    unnamedAddr: unnamedAddrs.get(Number(ops[8] ?? 0)) ?? 'none',
    externallyInitialized: Number(ops[9] ?? 0) !== 0,
    dsoLocal: Number(ops[13] ?? 0) !== 0 && !isLocalByItself({ linkage, visibility }),
  };
}

function readFunctionHeader(name: string, ops: readonly (number | bigint)[], record: RawRecord, tables: Tables): LlvmFunction {
  const functionType = tables.types.at(ops[0], record.bit);
  if (functionType.kind !== 'function') throw new Malformed(record.bit, 'module', 'a function whose type is no function type');
  const linkage = linkages.get(Number(ops[3] ?? 0)) ?? 'external';
  refuseFields(record, ops, {
    'a garbage collector': 8,
    'a prologue': 10,
    'a DLL storage class': 11,
    'a comdat': 12,
    'prefix data': 13,
    'a personality': 14,
    'an address space of functions': 16,
  });
  const visibility = visibilities.get(Number(ops[7] ?? 0));
  const [convention, align] = [conventionOf(ops[1], record.bit), alignOfCode(ops[5], record.bit)];
  return {
    kind: 'function',
    ...(visibility ? { visibility } : {}),
    ...(convention ? { convention } : {}),
    ...(align ? { align } : {}),
    name,
    functionType,
    type: llvm.pointer(functionType),
    linkage,
    attributes: tables.attributes.at(ops[4], record.bit),
    unnamedAddr: unnamedAddrs.get(Number(ops[9] ?? 0)) ?? 'none',
    dsoLocal: Number(ops[15] ?? 0) !== 0 && !isLocalByItself({ linkage, visibility }),
    section: sectionAt(tables, ops[6]),
    args: functionType.params.map((type, index): Argument => ({ kind: 'argument', type, index, name: undefined })),
    // A body is read later; what is no prototype has one.
    blocks: ops[2] === 1 ? [] : [{ kind: 'block', name: undefined, body: [] }],
    metadata: [],
  };
}
