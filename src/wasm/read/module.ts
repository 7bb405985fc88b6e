/** The sections of a module. Source: WebAssembly Core Specification 2.0, 5.5; rare branches: the proposal "Branch Hinting". */
import { bug } from '../../base/bug.ts';
import { ByteReader } from '../../base/bytes.ts';
import { readUnsigned } from '../leb.ts';
import type { Signature } from '../module.ts';
import type { ValueType } from '../opcodes.ts';
import { type ReadInstruction, readInstruction, readType } from './instruction.ts';

/** An import from `env`. */
export interface ReadImport {
  readonly name: string;
  readonly kind: 'func' | 'memory';
  /** Of a function: the number of its type. */
  readonly type: number;
  /** Of a memory: its pages, and whether threads share it. */
  readonly minPages: number;
  readonly maxPages: number | undefined;
  readonly isShared: boolean;
}

export interface ReadExport {
  readonly name: string;
  readonly kind: 'func' | 'global';
  readonly index: number;
}

export interface ReadGlobal {
  readonly type: ValueType;
  readonly isMutable: boolean;
  /** A constant. */
  readonly init: ReadInstruction;
}

/** The body of a function. */
export interface ReadBody {
  /** Types of the locals behind the parameters. */
  readonly locals: readonly ValueType[];
  /** With the `end` of the function itself. */
  readonly instructions: readonly ReadInstruction[];
  /** The numbers of those instructions that are branches seldom taken. */
  readonly rare: ReadonlySet<number>;
}

/** A decoded module. Functions are numbered with the imports first. */
export interface WasmModuleRead {
  readonly types: readonly Signature[];
  readonly imports: readonly ReadImport[];
  readonly importedFunctions: number;
  /** The type of each function, by number. */
  readonly functions: readonly Signature[];
  /** The number of the type of each function. */
  readonly functionTypes: readonly number[];
  readonly globals: readonly ReadGlobal[];
  readonly exports: readonly ReadExport[];
  /** The bodies of the functions behind the imports. */
  readonly bodies: readonly ReadBody[];
}

interface Sections {
  readonly types: Signature[];
  readonly imports: ReadImport[];
  readonly functionTypes: number[];
  readonly globals: ReadGlobal[];
  readonly exports: ReadExport[];
  readonly bodies: ByteReader[];
  /** Offsets in the body of rare branches, by the number of the function. */
  readonly rare: Map<number, ReadonlySet<number>>;
}

/** Decodes a module that this room encoded; a module with an encoding that it does not write is a bug. */
export function readWasm(bytes: Uint8Array): WasmModuleRead {
  const sections: Sections = { types: [], imports: [], functionTypes: [], globals: [], exports: [], bodies: [], rare: new Map() };
  const reader = new ByteReader(bytes);
  if (reader.u32() !== 0x6d736100 || reader.u32() !== 1) bug('not a WebAssembly module');
  while (reader.remaining > 0) {
    const id = reader.u8();
    const size = readUnsigned(reader);
    const section = new ByteReader(bytes, reader.offset, reader.offset + size);
    reader.offset += size;
    if (id === 0) readCustom(section, sections);
    else readSection(id, section, sections);
  }
  const { types, imports, functionTypes, globals, exports, bodies, rare } = sections;
  const importedFunctions = imports.filter(({ kind }) => kind === 'func').length;
  return {
    types,
    imports,
    importedFunctions,
    functionTypes,
    functions: functionTypes.map((type) => types[type] ?? bug(`WebAssembly type ${type} does not exist`)),
    globals,
    exports,
    bodies: bodies.map((body, i) => readBody(body, rare.get(importedFunctions + i) ?? new Set())),
  };
}

function readSection(id: number, section: ByteReader, sections: Sections): void {
  const count = readUnsigned(section);
  for (let i = 0; i < count; i++) readItem(id, section, sections);
  if (section.remaining > 0) bug(`${section.remaining} bytes after the items of WebAssembly section ${id}`);
}

function readItem(id: number, section: ByteReader, { types, imports, functionTypes, globals, exports, bodies }: Sections): void {
  switch (id) {
    case 1:
      if (section.u8() !== 0x60) bug('not a function type');
      types.push({ params: readTypes(section), results: readTypes(section) });
      return;
    case 2:
      imports.push(readImport(section, functionTypes));
      return;
    case 3:
      functionTypes.push(readUnsigned(section));
      return;
    case 6:
      globals.push({ type: readType(section), isMutable: section.u8() === 1, init: readInit(section) });
      return;
    case 7:
      exports.push({ name: readName(section), kind: readExportKind(section), index: readUnsigned(section) });
      return;
    case 10: {
      const size = readUnsigned(section);
      bodies.push(new ByteReader(section.bytes, section.offset, section.offset + size));
      section.offset += size;
      return;
    }
    default:
      bug(`WebAssembly section ${id}`);
  }
}

/** Custom sections other than that of rare branches mean nothing here. */
function readCustom(section: ByteReader, { rare }: Sections): void {
  if (readName(section) !== 'metadata.code.branch_hint') return;
  for (let functions = readUnsigned(section); functions > 0; functions--) {
    const index = readUnsigned(section);
    const offsets = new Set<number>();
    for (let hints = readUnsigned(section); hints > 0; hints--) {
      const at = readUnsigned(section);
      if (readUnsigned(section) !== 1) bug('a branch hint of more than one byte');
      if (section.u8() === 0) offsets.add(at);
    }
    rare.set(index, offsets);
  }
}

const readTypes = (reader: ByteReader): ValueType[] => Array.from({ length: readUnsigned(reader) }, () => readType(reader));

const readName = (reader: ByteReader): string => reader.text(readUnsigned(reader));

/** An import from `env`; the type of a function is added to `functionTypes`, whose index space starts with the imports. */
function readImport(reader: ByteReader, functionTypes: number[]): ReadImport {
  const from = readName(reader);
  if (from !== 'env') bug(`an import from ${from}`);
  const name = readName(reader);
  const kind = reader.u8();
  if (kind === 0) {
    const type = readUnsigned(reader);
    functionTypes.push(type);
    return { name, kind: 'func', type, minPages: 0, maxPages: undefined, isShared: false };
  }
  if (kind !== 2) bug(`an import of kind ${kind}`);
  const flags = reader.u8();
  const minPages = readUnsigned(reader);
  // Bit 0: a maximum follows. Bit 1: the memory is shared. Source: the threads proposal, binary format of limits.
  const maxPages = flags & 1 ? readUnsigned(reader) : undefined;
  return { name, kind: 'memory', type: 0, minPages, maxPages, isShared: (flags & 2) !== 0 };
}

function readExportKind(reader: ByteReader): ReadExport['kind'] {
  const kind = reader.u8();
  return kind === 0 ? 'func' : kind === 3 ? 'global' : bug(`an export of kind ${kind}`);
}

/** The initial value of a global: one constant. */
function readInit(reader: ByteReader): ReadInstruction {
  const init = readInstruction(reader);
  if (readInstruction(reader).name !== 'end') bug('a global with more than one instruction');
  return init;
}

/** The offsets of rare branches count from the start of the body. */
function readBody(body: ByteReader, rareOffsets: ReadonlySet<number>): ReadBody {
  const start = body.offset;
  const locals: ValueType[] = [];
  for (let runs = readUnsigned(body); runs > 0; runs--) {
    const count = readUnsigned(body);
    const type = readType(body);
    for (let i = 0; i < count; i++) locals.push(type);
  }
  const instructions: ReadInstruction[] = [];
  const rare = new Set<number>();
  while (body.remaining > 0) {
    if (rareOffsets.has(body.offset - start)) rare.add(instructions.length);
    instructions.push(readInstruction(body));
  }
  return { locals, instructions, rare };
}
