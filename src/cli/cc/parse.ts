/** Command lines of nvcc: words with one dash or two, values behind a blank, an equals sign or at once, and files of words. */
import { closest } from '../../base/closest.ts';
import { addTo } from '../../base/group.ts';
import type { Language } from '../../toolchain/index.ts';
import { type Effect, type Word, words } from './options.ts';

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
function find(argument: string): Found | undefined {
  const equals = argument.indexOf('=');
  const name = equals < 0 ? argument : argument.slice(0, equals);
  const exact = words.find(({ names, value }) => names.includes(name) && (equals < 0 || value !== undefined));
  if (exact) return { word: exact, name, value: equals < 0 ? undefined : argument.slice(equals + 1) };
  const start = argument.slice(0, 2);
  const short = words.find(({ names, isJoined }) => isJoined && names.includes(start));
  return short && { word: short, name: start, value: argument.slice(2) };
}

/** What is wrong with a command line, as a sentence; or the line. */
export function parseLine(given: readonly string[]): CompilerLine | string {
  const values = new Map<Effect, string[]>();
  const files: { path: string; language?: Language }[] = [];
  let language: Language | undefined;
  const rest = [...given];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (!argument.startsWith('-')) {
      files.push({ path: argument, ...(language ? { language } : {}) });
      continue;
    }
    const read = readWord(argument, rest);
    if (typeof read === 'string') return read;
    for (const each of read.values) addTo(values, read.effect, each);
    if (read.effect === 'language') language = languages[read.values[0]!];
  }
  takeHostWords(values);
  return { files, values: (effect) => values.get(effect) ?? [] };
}

/** A word and its values, which it may take from the rest; or what is wrong with it. */
function readWord(argument: string, rest: string[]): { readonly effect: Effect; readonly values: readonly string[] } | string {
  const found = find(argument);
  if (!found) return unknown(argument);
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
    const found = find(argument);
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
