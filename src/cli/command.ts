/** What a command is, and how words become its options. */
import { parseArgs } from 'node:util';
import { closest } from '../base/closest.ts';
import type { ExitCode } from './exit.ts';
import type { Terminal } from './terminal.ts';

export interface Option {
  readonly name: string;
  /** A one-letter spelling. */
  readonly short?: string;
  /** What stands for the value in help; a flag has none. */
  readonly value?: string;
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
  /** For a command of the contract that is not built yet. */
  readonly isPlanned?: boolean;
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
  const options = Object.fromEntries(known.map((o) => [o.name, spelled(o)]));
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const positionals: string[] = [];
  const found = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = known.find((o) => o.name === token.name);
    if (!option) return unknownOption(token.rawName, command, known);
    const problem = badValue(option, token.rawName, token.value, token.inlineValue === true);
    if (problem) return problem;
    found.set(option.name, [...(found.get(option.name) ?? []), token.value ?? true]);
  }
  return { positionals, options: found };
}

const spelled = (option: Option) => ({
  type: option.value ? ('string' as const) : ('boolean' as const),
  multiple: true,
  ...(option.short ? { short: option.short } : {}),
});

function unknownOption(rawName: string, command: Command, known: readonly Option[]): string {
  const near = closest(
    rawName.replace(/^-+/, ''),
    known.map((o) => o.name),
  );
  return `\`${rawName}\` is not an option of \`cumetal ${command.name}\`${near ? `, did you mean \`--${near}\`?` : ''}`;
}

function badValue(option: Option, rawName: string, value: string | undefined, isInline: boolean): string | undefined {
  if (!option.value) return value === undefined ? undefined : `\`${rawName}\` takes no value, and \`${value}\` was given`;
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
