/**
 * The text format: disassembles the modules that `module.ts` writes to WAT, with one instruction per line and branches by depth. Custom
 * sections (branch hints) are left out. Source: WebAssembly Core Specification 2.0, 5.5 (binary modules) and 6 (text format).
 */
import { bug } from '../base/bug.ts';
import { ByteReader } from '../base/bytes.ts';
import { readUnsigned } from './leb.ts';
import { type ValueType, valueTypes } from './opcodes.ts';
import { readInstruction } from './text-instruction.ts';

const typeNames = new Map<number, ValueType>(Object.entries(valueTypes).map(([name, code]) => [code, name as ValueType]));

/** What a name refers to: functions and globals have index spaces of their own. */
interface Names {
  readonly functions: readonly string[];
  readonly globals: readonly string[];
}

interface Import {
  readonly name: string;
  readonly kind: 'func' | 'memory';
  /** The index of a function's type, or the limits of a memory. */
  readonly type: number;
  readonly limits: string;
}

interface Export {
  readonly name: string;
  readonly kind: 'func' | 'global';
  readonly index: number;
}

/** The sections of a module, decoded but for the bodies of functions. */
interface Sections {
  readonly types: { readonly params: readonly ValueType[]; readonly results: readonly ValueType[] }[];
  readonly imports: Import[];
  /** Types of the functions, by index. */
  readonly functions: number[];
  readonly globals: { readonly type: ValueType; readonly isMutable: boolean; readonly init: string }[];
  readonly exports: Export[];
  readonly bodies: ByteReader[];
}

/**
 * The text of a module that this room encoded. Functions and globals are named by their import or export, else `$f` or `$g` and their index.
 * A module with an encoding that this room does not write is a bug.
 */
export function moduleText(bytes: Uint8Array, name?: string): string {
  const sections = readSections(bytes);
  const names = namesOf(sections);
  const imported = sections.imports.filter(({ kind }) => kind === 'func').length;
  const lines = [
    `(module${name === undefined ? '' : ` ${identifier(name)}`}`,
    ...sections.types.map((type, i) => `  (type (;${i};) (func${typeUse(type)}))`),
    ...importLines(sections, names),
    ...sections.globals.map(
      ({ type, isMutable, init }, i) => `  (global ${names.globals[i]} ${isMutable ? `(mut ${type})` : type} ${init})`,
    ),
    ...sections.exports.map(({ name, kind, index }) => {
      const target = kind === 'func' ? names.functions[index] : names.globals[index];
      return `  (export ${quoted(name)} (${kind} ${target}))`;
    }),
    ...sections.bodies.flatMap((body, i) => functionLines(body, sections, names, imported + i)),
  ];
  return `${lines.join('\n')}\n)\n`;
}

function readSections(bytes: Uint8Array): Sections {
  const sections: Sections = { types: [], imports: [], functions: [], globals: [], exports: [], bodies: [] };
  const reader = new ByteReader(bytes);
  if (reader.u32() !== 0x6d736100 || reader.u32() !== 1) bug('not a WebAssembly module');
  while (reader.remaining > 0) {
    const id = reader.u8();
    const size = readUnsigned(reader);
    const section = new ByteReader(bytes, reader.offset, reader.offset + size);
    reader.offset += size;
    // Id 0: a custom section.
    if (id !== 0) readSection(id, section, sections);
  }
  return sections;
}

function readSection(id: number, section: ByteReader, sections: Sections): void {
  const count = readUnsigned(section);
  for (let i = 0; i < count; i++) readItem(id, section, sections);
  if (section.remaining > 0) bug(`${section.remaining} bytes after the items of WebAssembly section ${id}`);
}

function readItem(id: number, section: ByteReader, { types, imports, functions, globals, exports, bodies }: Sections): void {
  switch (id) {
    case 1:
      if (section.u8() !== 0x60) bug('not a function type');
      types.push({ params: readTypes(section), results: readTypes(section) });
      return;
    case 2:
      imports.push(readImport(section, functions));
      return;
    case 3:
      functions.push(readUnsigned(section));
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

const readType = (reader: ByteReader): ValueType => {
  const code = reader.u8();
  return typeNames.get(code) ?? bug(`WebAssembly type ${code}`);
};

const readTypes = (reader: ByteReader): ValueType[] => Array.from({ length: readUnsigned(reader) }, () => readType(reader));

const readName = (reader: ByteReader): string => reader.text(readUnsigned(reader));

/** An import from `env`; the type of a function is added to `functions`, whose index space starts with the imports. */
function readImport(reader: ByteReader, functions: number[]): Import {
  const from = readName(reader);
  if (from !== 'env') bug(`an import from ${from}`);
  const name = readName(reader);
  const kind = reader.u8();
  if (kind === 0) {
    const type = readUnsigned(reader);
    functions.push(type);
    return { name, kind: 'func', type, limits: '' };
  }
  if (kind !== 2) bug(`an import of kind ${kind}`);
  const flags = reader.u8();
  const min = readUnsigned(reader);
  // Bit 0: a maximum follows. Bit 1: the memory is shared. Source: the threads proposal, binary format of limits.
  const max = flags & 1 ? ` ${readUnsigned(reader)}` : '';
  return { name, kind: 'memory', type: 0, limits: `${min}${max}${flags & 2 ? ' shared' : ''}` };
}

function readExportKind(reader: ByteReader): Export['kind'] {
  const kind = reader.u8();
  return kind === 0 ? 'func' : kind === 3 ? 'global' : bug(`an export of kind ${kind}`);
}

/** The initial value of a global: one constant. */
function readInit(reader: ByteReader): string {
  const { text } = readInstruction(reader, readType, String);
  if (readInstruction(reader, readType, String).text !== 'end') bug('a global with more than one instruction');
  return `(${text})`;
}

/** Names of functions and globals, each used once: by import, by the first export, else by index. */
function namesOf({ imports, functions, globals, exports }: Sections): Names {
  const imported = imports.filter(({ kind }) => kind === 'func');
  const named = (kind: Export['kind'], count: number, letter: string, first: readonly Import[]): string[] => {
    const used = new Set<string>();
    return Array.from({ length: count }, (_, i) => {
      const given = first[i]?.name ?? exports.find((each) => each.kind === kind && each.index === i)?.name;
      const wanted = given === undefined ? `$${letter}${i}` : identifier(given);
      const name = used.has(wanted) ? `${wanted}.${i}` : wanted;
      used.add(name);
      return name;
    });
  };
  return { functions: named('func', functions.length, 'f', imported), globals: named('global', globals.length, 'g', []) };
}

/** An identifier; a character that identifiers must not have becomes an underscore. Source: Core Specification, 6.3.5. */
const identifier = (name: string): string => `$${name.replace(/[^\w!#$%&'*+\-./:<=>?@\\^`|~]/g, '_')}`;

/** A string, with every byte that is not printable ASCII escaped. Source: Core Specification, 6.3.3. */
const quoted = (text: string): string => {
  const bytes = [...new TextEncoder().encode(text)];
  const escaped = bytes.map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c ? `\\${byte.toString(16).padStart(2, '0')}` : String.fromCharCode(byte),
  );
  return `"${escaped.join('')}"`;
};

const clause = (word: string, types: readonly ValueType[]): string => (types.length > 0 ? ` (${word} ${types.join(' ')})` : '');

const typeUse = ({ params, results }: Sections['types'][number]): string => clause('param', params) + clause('result', results);

function importLines({ imports }: Sections, { functions }: Names): string[] {
  let next = 0;
  return imports.map(({ name, kind, type, limits }) => {
    const what = kind === 'func' ? `(func ${functions[next++]} (type ${type}))` : `(memory ${limits})`;
    return `  (import "env" ${quoted(name)} ${what})`;
  });
}

function functionLines(body: ByteReader, { types, functions }: Sections, names: Names, index: number): string[] {
  const type = functions[index]!;
  const lines = [`  (func ${names.functions[index]} (type ${type})${typeUse(types[type]!)}`];
  const locals: string[] = [];
  for (let runs = readUnsigned(body); runs > 0; runs--) {
    const count = readUnsigned(body);
    const type = readType(body);
    for (let i = 0; i < count; i++) locals.push(type);
  }
  if (locals.length > 0) lines.push(`    (local ${locals.join(' ')})`);
  return [...lines, ...bodyLines(body, names), '  )'];
}

/** The instructions of a body, indented by nesting; the `end` of the function itself has no line. */
function bodyLines(body: ByteReader, names: Names): string[] {
  const nameOf = (index: number, name: string): string => {
    if (name === 'call') return names.functions[index] ?? bug(`function ${index} does not exist`);
    if (name.startsWith('global.')) return names.globals[index] ?? bug(`global ${index} does not exist`);
    return String(index);
  };
  const lines: string[] = [];
  let depth = 0;
  while (body.remaining > 0) {
    const { text, opens, closes } = readInstruction(body, readType, nameOf);
    if (closes) depth--;
    if (depth >= 0) lines.push(`${'  '.repeat(depth + 2)}${text}`);
    if (opens) depth++;
  }
  if (depth !== -1) bug(`${depth + 1} structures of a function body are open at its end`);
  return lines;
}
