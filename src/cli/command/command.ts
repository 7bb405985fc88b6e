/** What a command is, and how words become its options. */
import { closest } from '../../base/closest.ts';
import { addTo } from '../../base/group.ts';
import type { ExitCode } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';

export interface Option {
  readonly name: string;
  /** A one-letter spelling. */
  readonly short?: string;
  /** What stands for the value in help; a flag has none. */
  readonly value?: string;
  /** The value may be left out, and is given as `--name=value` alone. */
  readonly isBare?: boolean;
  /** May be given more than once. */
  readonly many?: boolean;
  /** The only values there are. */
  readonly choices?: readonly string[];
  readonly doc: string;
}

export interface Example {
  readonly line: string;
  readonly does: string;
}

export interface Command {
  readonly name: string;
  /** A few words for the list of commands. */
  readonly summary: string;
  /** What follows the command's name. */
  readonly usage: readonly string[];
  /** Least and most words that are not options. */
  readonly positionals: readonly [least: number, most: number];
  readonly options: readonly Option[];
  readonly examples: readonly Example[];
  /** A paragraph or a list below the options. */
  readonly details?: string;
  run(context: Context): Promise<ExitCode>;
}

export interface Context {
  readonly command: Command;
  readonly words: Words;
  readonly terminal: Terminal;
}

/** The words behind a command, sorted. */
export interface Words {
  readonly positionals: readonly string[];
  readonly options: ReadonlyMap<string, readonly (string | true)[]>;
}

/** Whether a flag was given. */
export const has = (words: Words, name: string): boolean => words.options.has(name);

/** The last value of an option. */
export const lastValue = (words: Words, name: string): string | undefined => allValues(words, name).at(-1);

/** Every value of an option, in order. */
export const allValues = (words: Words, name: string): string[] =>
  (words.options.get(name) ?? []).filter((value): value is string => typeof value === 'string');

/** What every command understands. */
export const commonOptions: readonly Option[] = [{ name: 'help', short: 'h', doc: 'Print this help.' }];

/** Sorts words by a command's options, or says in a sentence which word is wrong. */
export function sortWords(command: Command, argv: readonly string[]): Words | string {
  const known = [...command.options, ...commonOptions];
  const positionals: string[] = [];
  const found = new Map<string, (string | true)[]>();
  for (const token of tokensOf(argv, known)) {
    if (token.rawName === undefined) {
      positionals.push(token.value);
      continue;
    }
    if (!token.option) return unknownOption(token.rawName, command, known);
    const problem = badValue(token.option, token.rawName, token.value, token.isInline);
    if (problem) return problem;
    addTo(found, token.option.name, token.value ?? true);
  }
  return { positionals, options: found };
}

type Token =
  | { readonly rawName: undefined; readonly value: string }
  | { readonly rawName: string; readonly option: Option | undefined; readonly value: string | undefined; readonly isInline: boolean };

/**
 * Words as the GNU conventions read them: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-abc` for flags; all behind
 * `--` and a lone `-` are no options. `parseArgs` of node:util does the same and takes 2 ms to load, a fortieth of a short run.
 */
function tokensOf(argv: readonly string[], known: readonly Option[]): Token[] {
  const tokens: Token[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') return [...tokens, ...rest.map((value) => ({ rawName: undefined, value }))];
    if (word.startsWith('--')) tokens.push(longToken(word, rest, known));
    else if (word.startsWith('-') && word.length > 1) tokens.push(...shortTokens(word, rest, known));
    else tokens.push({ rawName: undefined, value: word });
  }
  return tokens;
}

function longToken(word: string, rest: string[], known: readonly Option[]): Token {
  const equals = word.indexOf('=');
  const rawName = equals < 0 ? word : word.slice(0, equals);
  const option = known.find((o) => `--${o.name}` === rawName);
  if (equals >= 0) return { rawName, option, value: word.slice(equals + 1), isInline: true };
  return { rawName, option, value: option?.value && !option.isBare ? rest.shift() : undefined, isInline: false };
}

/** Flags may stand together; the first that takes a value takes what is left of the word, or the next word. */
function shortTokens(word: string, rest: string[], known: readonly Option[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 1; at < word.length; at++) {
    const rawName = `-${word[at]}`;
    const option = known.find((o) => o.short === word[at]);
    if (!option?.value) {
      tokens.push({ rawName, option, value: undefined, isInline: false });
      continue;
    }
    const inline = word.slice(at + 1);
    return [...tokens, { rawName, option, value: inline === '' ? rest.shift() : inline, isInline: inline !== '' }];
  }
  return tokens;
}

function unknownOption(rawName: string, command: Command, known: readonly Option[]): string {
  const near = closest(
    rawName.replace(/^-+/, ''),
    known.map((o) => o.name),
  );
  return `\`${rawName}\` is not an option of \`cumetal ${command.name}\`${near ? `, did you mean \`--${near}\`?` : ''}`;
}

function badValue(option: Option, rawName: string, value: string | undefined, isInline: boolean): string | undefined {
  if (!option.value) return value === undefined ? undefined : `\`${rawName}\` takes no value, and \`${value}\` was given`;
  if (option.isBare && value === undefined) return undefined;
  // `--out --print` means a forgotten value; a value that starts with two dashes can be given as `--out=--print`.
  if (value === undefined || (!isInline && value.startsWith('--'))) return `\`${rawName}\` needs a value: \`${rawName} ${option.value}\``;
  if (!option.choices || option.choices.includes(value)) return undefined;
  const near = closest(value, option.choices);
  return `\`${rawName} ${value}\`: the choices are ${option.choices.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
}

/** Whether there are as many positional words as the command takes; a sentence where not. */
export function badCount(command: Command, { positionals }: Words): string | undefined {
  const [least, most] = command.positionals;
  if (positionals.length < least)
    return `\`cumetal ${command.name}\` needs ${least === 1 ? 'a file' : `${least} words`}: \`cumetal ${command.name} ${command.usage[0]}\``;
  if (positionals.length > most) return `\`${positionals[most]}\` is one word too many for \`cumetal ${command.name}\``;
  return undefined;
}
