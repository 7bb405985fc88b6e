/** Command lines of nvcc: words with one dash or two, values behind a blank, an equals sign or at once, and files of words. */
import { closest } from '../../base/closest.ts';
import { addTo } from '../../base/group.ts';
import { shellWords } from '../../base/shell-words.ts';
import type { Language } from '../../toolchain/index.ts';
import { type Effect, hostWords, type Word, words } from './options.ts';

/** A command line, read. */
export interface CompilerLine {
  /** Sources, objects and archives, with the language where it was named. */
  readonly files: readonly { readonly path: string; readonly language?: Language }[];
  /** The values of each effect, in order; the empty text for flags. */
  values(effect: Effect): readonly string[];
}

const languages: Readonly<Record<string, Language>> = { cu: 'cuda', cuda: 'cuda', c: 'c', 'c++': 'c++' };

interface Found {
  readonly word: Word;
  readonly name: string;
  /** Undefined for a flag, and where the value is the next word. */
  readonly value: string | undefined;
}

/** The word of an argument: the whole name, the name before an equals sign, or a name with its value joined. */
function find(argument: string, table: readonly Word[]): Found | undefined {
  const equals = argument.indexOf('=');
  const name = equals < 0 ? argument : argument.slice(0, equals);
  const exact = table.find(({ names, value }) => names.includes(name) && (equals < 0 || value !== undefined));
  if (exact) return { word: exact, name, value: equals < 0 ? undefined : argument.slice(equals + 1) };
  const start = argument.slice(0, 2);
  const short = table.find(({ names, isJoined }) => isJoined && names.includes(start));
  return short && { word: short, name: start, value: argument.slice(2) };
}

/** The first word of a command line whose other words are those of a C++ compiler: unknown ones change nothing. */
export const hostCompiler = '--host-compiler';

/** How words are read. */
interface Reading {
  readonly table: readonly Word[];
  /** What an unknown word becomes; it is an error where this is absent. */
  readonly unknown?: 'hostWords' | 'ignored';
}

function readingOf(given: readonly string[]): Reading {
  if (given[0] === hostCompiler) return { table: hostWords, unknown: 'ignored' };
  const isForwarding = words.find(({ effect }) => effect === 'forwardUnknown')!.names.some((name) => given.includes(name));
  return isForwarding ? { table: words, unknown: 'hostWords' } : { table: words };
}

/** What is wrong with a command line, as a sentence; or the line. */
export function parseLine(given: readonly string[]): CompilerLine | string {
  const values = new Map<Effect, string[]>();
  const files: { path: string; language?: Language }[] = [];
  let language: Language | undefined;
  const reading = readingOf(given);
  const rest = given[0] === hostCompiler ? given.slice(1) : [...given];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (!argument.startsWith('-') || argument === '-') {
      files.push({ path: argument, ...(language ? { language } : {}) });
      continue;
    }
    const read = readWord(argument, rest, reading);
    if (typeof read === 'string') return read;
    for (const each of read.values) addTo(values, read.effect, each);
    if (read.effect === 'language') language = languages[read.values[0]!];
  }
  // The device linker makes an object by this word.
  if (values.has('shared') && !values.has('deviceLink'))
    return '`-shared` is refused: shared libraries are not made; link the program with objects and archives';
  takeHostWords(values);
  return { files, values: (effect) => values.get(effect) ?? [] };
}

/** A word and its values, which it may take from the rest; or what is wrong with it. */
function readWord(
  argument: string,
  rest: string[],
  { table, unknown: as }: Reading,
): { readonly effect: Effect; readonly values: readonly string[] } | string {
  const found = find(argument, table);
  if (!found) return as ? { effect: as, values: [argument] } : unknown(argument);
  const { name } = found;
  const { effect, doc, value: placeholder, isList } = found.word;
  if (effect === 'refused') return `\`${name}\` is refused: ${doc.charAt(0).toLowerCase()}${doc.slice(1, -1)}`;
  const value = placeholder === undefined ? '' : (found.value ?? rest.shift());
  if (value === undefined) return `\`${name}\` requires a value: \`${name} ${placeholder}\``;
  if (effect === 'language' && value !== 'none' && !Object.hasOwn(languages, value))
    return `unknown language \`${value}\`: expected cu, c or c++`;
  return { effect, values: isList ? value.split(',') : [value] };
}

/** The words for the host compiler that the front end has too. Others are for code generation of another machine. */
function takeHostWords(values: Map<Effect, string[]>): void {
  const rest = (values.get('hostWords') ?? []).flatMap((text) => text.split(/\s+/)).map((text) => text.replace(/^["']|["']$/g, ''));
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const found = find(argument, words);
    if (!found || !['define', 'undefine', 'include', 'standard', 'preInclude'].includes(found.word.effect)) continue;
    const value = found.value ?? rest.shift();
    if (value !== undefined) addTo(values, found.word.effect, value);
  }
}

function unknown(argument: string): string {
  const near = closest(
    argument.replace(/=.*$/, ''),
    words.flatMap(({ names }) => names),
  );
  return `unknown option \`${argument}\`${near ? `; did you mean \`${near}\`?` : ''}`;
}

/** Command lines with the words of the files that they name. `read`: the text of a file; a text without it says what is wrong. */
export function withOptionFiles(given: readonly string[], read: (path: string) => string | undefined): readonly string[] | string {
  const { names } = words.find(({ effect }) => effect === 'optionsFile')!;
  const all: string[] = [];
  const rest = [...given];
  // Files may name files; a circle of them ends here.
  for (let count = 0; rest.length > 0; ) {
    const argument = rest.shift()!;
    const [name, joinedValue] = argument.split('=', 2) as [string, string?];
    const isNamed = names.includes(name);
    if (!isNamed && !/^@./.test(argument)) {
      all.push(argument);
      continue;
    }
    const value = isNamed ? (joinedValue ?? rest.shift()) : argument.slice(1);
    if (value === undefined) return `\`${name}\` requires a value: \`${name} FILE\``;
    for (const path of (isNamed ? value.split(',') : [value]).reverse()) {
      const text = count++ < maxOptionFiles ? read(path) : undefined;
      if (text === undefined) return `the file of options \`${path}\` cannot be read`;
      rest.unshift(...shellWords(text));
    }
  }
  return all;
}

const maxOptionFiles = 1000;
