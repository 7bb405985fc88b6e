/**
 * The text format: disassembles the modules that `module.ts` writes to WAT, with one instruction per line and branches by depth. Custom
 * sections (branch hints) are left out. Source: WebAssembly Core Specification 2.0, 5.5 (binary modules) and 6 (text format).
 */
import { bug } from '../base/bug.ts';
import type { Signature } from './module.ts';
import type { ValueType } from './opcodes.ts';
import { type ReadBody, type ReadExport, type ReadImport, readWasm, type WasmModuleRead } from './read/index.ts';
import { instructionText } from './text-instruction.ts';

/** What a name refers to: functions and globals have index spaces of their own. */
interface Names {
  readonly functions: readonly string[];
  readonly globals: readonly string[];
}

/**
 * The text of a module that this room encoded. Functions and globals are named by their import or export, else `$f` or `$g` and their index.
 * A module with an encoding that this room does not write is a bug.
 */
export function moduleText(bytes: Uint8Array, name?: string): string {
  const module = readWasm(bytes);
  const names = namesOf(module);
  const lines = [
    `(module${name === undefined ? '' : ` ${identifier(name)}`}`,
    ...module.types.map((type, i) => `  (type (;${i};) (func${typeUse(type)}))`),
    ...importLines(module, names),
    ...module.globals.map(({ type, isMutable, init }, i) => {
      const { text } = instructionText(init, String);
      return `  (global ${names.globals[i]} ${isMutable ? `(mut ${type})` : type} (${text}))`;
    }),
    ...module.exports.map(({ name, kind, index }) => {
      const target = kind === 'func' ? names.functions[index] : names.globals[index];
      return `  (export ${quoted(name)} (${kind} ${target}))`;
    }),
    ...module.bodies.flatMap((body, i) => functionLines(body, module, names, module.importedFunctions + i)),
  ];
  return `${lines.join('\n')}\n)\n`;
}

/** Names of functions and globals, each used once: by import, by the first export, else by index. */
function namesOf({ imports, functions, globals, exports }: WasmModuleRead): Names {
  const imported = imports.filter(({ kind }) => kind === 'func');
  const named = (kind: ReadExport['kind'], count: number, letter: string, first: readonly ReadImport[]): string[] => {
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

const typeUse = ({ params, results }: Signature): string => clause('param', params) + clause('result', results);

function importLines({ imports }: WasmModuleRead, { functions }: Names): string[] {
  let next = 0;
  return imports.map((each) => {
    const what = each.kind === 'func' ? `(func ${functions[next++]} (type ${each.type}))` : `(memory ${limitsText(each)})`;
    return `  (import "env" ${quoted(each.name)} ${what})`;
  });
}

const limitsText = ({ minPages, maxPages, isShared }: ReadImport): string =>
  `${minPages}${maxPages === undefined ? '' : ` ${maxPages}`}${isShared ? ' shared' : ''}`;

function functionLines(body: ReadBody, { functions, functionTypes }: WasmModuleRead, names: Names, index: number): string[] {
  const lines = [`  (func ${names.functions[index]} (type ${functionTypes[index]})${typeUse(functions[index]!)}`];
  if (body.locals.length > 0) lines.push(`    (local ${body.locals.join(' ')})`);
  return [...lines, ...bodyLines(body, names), '  )'];
}

/** The instructions of a body, indented by nesting; the `end` of the function itself has no line. */
function bodyLines({ instructions }: ReadBody, names: Names): string[] {
  const nameOf = (index: number, name: string): string => {
    if (name === 'call') return names.functions[index] ?? bug(`function ${index} does not exist`);
    if (name.startsWith('global.')) return names.globals[index] ?? bug(`global ${index} does not exist`);
    return String(index);
  };
  const lines: string[] = [];
  let depth = 0;
  for (const instruction of instructions) {
    const { text, opens, closes } = instructionText(instruction, nameOf);
    if (closes) depth--;
    if (depth >= 0) lines.push(`${'  '.repeat(depth + 2)}${text}`);
    if (opens) depth++;
  }
  if (depth !== -1) bug(`${depth + 1} structures of a function body are open at its end`);
  return lines;
}
