/** The shape of a command, and the parser of its options and arguments. */
import { closest } from '../../base/closest.ts';
import { addTo } from '../../base/group.ts';
import type { Terminal } from '../terminal/index.ts';

export interface Option {
  readonly name: string;
  /** A one-letter spelling. */
  readonly short?: string;
  /** The placeholder of the value in help; a flag has none. */
  readonly value?: string;
  /** The value is optional, and only `--name=value` gives one. */
  readonly isBare?: boolean;
  /** May be given more than once. */
  readonly many?: boolean;
  /** The accepted values; any value where this is absent. */
  readonly choices?: readonly string[];
  /** May have one dash, as compilers spell it: `-std=c++20`. */
  readonly isCompilerWord?: boolean;
  /** May be in the launch lines of a file. Such an option describes the launch and changes nothing else: it writes no file, for example. */
  readonly inLaunchLines?: boolean;
  readonly doc: string;
}

export interface Example {
  readonly line: string;
  readonly does: string;
}

export interface Command {
  readonly name: string;
  /** A short description for the list of commands. */
  readonly summary: string;
  /** The usage lines, without the command's name. */
  readonly usage: readonly string[];
  /** The minimum and maximum number of positional arguments. */
  readonly positionals: readonly [min: number, max: number];
  /** Words after `--` are the arguments of a program that the command runs. */
  readonly isRunner?: boolean;
  /** The command reads its words itself: all of them are positional. */
  readonly isRaw?: boolean;
  readonly options: readonly Option[];
  /** Whether everything behind the first positional argument is one too: the command line of another program. */
  readonly endsAtFirst?: boolean;
  readonly examples: readonly Example[];
  /** A paragraph or a list below the options. */
  readonly details?: string;
  /** Returns the exit code: one of `exit`, or that of a program that the command has run. */
  run(context: Context): Promise<number>;
}

export interface Context {
  readonly command: Command;
  readonly parsed: ParsedArguments;
  readonly terminal: Terminal;
}

/** The arguments of a command line, split into options and positional arguments. */
export interface ParsedArguments {
  readonly positionals: readonly string[];
  /** What follows `--`, for a command that runs programs. */
  readonly rest?: readonly string[];
  readonly options: ReadonlyMap<string, readonly (string | true)[]>;
}

/** Whether a flag was given. */
export const has = (parsed: ParsedArguments, name: string): boolean => parsed.options.has(name);

/** The last value of an option. */
export const lastValue = (parsed: ParsedArguments, name: string): string | undefined => allValues(parsed, name).at(-1);

/** Every value of an option, in order. */
export const allValues = (parsed: ParsedArguments, name: string): string[] =>
  (parsed.options.get(name) ?? []).filter((value): value is string => typeof value === 'string');

/** The options of every command. */
export const commonOptions: readonly Option[] = [
  { name: 'quiet', short: 'q', doc: 'Print only errors, warnings and what is asked for: no notes, no progress, no summary.' },
  { name: 'help', short: 'h', doc: 'Print this help.' },
];

/** The options that launch lines can have, as text: `--kernel, --grid, …`. */
export const launchLineOptions = (options: readonly Option[]): string =>
  options.flatMap(({ name, inLaunchLines }) => (inLaunchLines ? [`--${name}`] : [])).join(', ');

const isHelp = (word: string): boolean => word === '--help' || word === '-h';

/** Parses a command line by the command's options. Returns the usage error as a sentence where it is invalid. */
export function parseArguments(command: Command, argv: readonly string[]): ParsedArguments | string {
  if (command.isRaw) return { positionals: argv, options: new Map(argv.some(isHelp) ? [['help', [true]]] : []) };
  const known = [...command.options, ...commonOptions];
  const positionals: string[] = [];
  const found = new Map<string, (string | true)[]>();
  // Without a file before it, `--` only ends the options.
  const end = command.isRunner ? argv.indexOf('--') : -1;
  const isSplit = end >= 0 && tokensOf(argv.slice(0, end), known).some(({ rawName }) => rawName === undefined);
  for (const token of tokensOf(isSplit ? argv.slice(0, end) : argv, known, command.endsAtFirst)) {
    if (token.rawName === undefined) {
      positionals.push(token.value);
      continue;
    }
    const problem = tokenProblem(token, command);
    if (problem) return problem;
    addTo(found, token.option!.name, token.value ?? true);
  }
  return { positionals, ...(isSplit ? { rest: argv.slice(end + 1) } : {}), options: found };
}

/** A positional argument or an option. `at` is its index in the command line. */
export type Token = { readonly at: number; readonly rawName: undefined; readonly value: string } | OptionToken;

export interface OptionToken {
  readonly at: number;
  /** The name as written, with its dashes. */
  readonly rawName: string;
  readonly option: Option | undefined;
  readonly value: string | undefined;
  readonly isInline: boolean;
}

/** What is wrong with an option, as a sentence. */
export function tokenProblem({ rawName, option, value, isInline }: OptionToken, command: Command): string | undefined {
  return option ? badValue(option, rawName, value, isInline) : unknownOption(rawName, command, [...command.options, ...commonOptions]);
}

/**
 * Tokens by the GNU conventions: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-abc` for flags; `-` and everything after
 * `--` are positional; with `endsAtFirst`, everything from the first positional argument on. `parseArgs` of node:util does the same and takes 2 ms to load, a fortieth of a short run.
 */
export function tokensOf(argv: readonly string[], known: readonly Option[], endsAtFirst = false): Token[] {
  const tokens: Token[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const at = argv.length - rest.length - 1;
    if (word === '--') return [...tokens, ...plain(rest, at + 1)];
    if (endsAtFirst && !(word.startsWith('-') && word.length > 1)) return [...tokens, ...plain([word, ...rest], at)];
    if (word.startsWith('--')) tokens.push(longToken(word, at, rest, known));
    else if (isCompilerWord(word, known)) tokens.push(longToken(`-${word}`, at, rest, known));
    else if (word.startsWith('-') && word.length > 1) tokens.push(...shortTokens(word, at, rest, known));
    else tokens.push({ at, rawName: undefined, value: word });
  }
  return tokens;
}

const plain = (words: readonly string[], at: number): Token[] => words.map((value, i) => ({ at: at + i, rawName: undefined, value }));

const isCompilerWord = (word: string, known: readonly Option[]): boolean =>
  known.some((option) => option.isCompilerWord && (word === `-${option.name}` || word.startsWith(`-${option.name}=`)));

function longToken(word: string, at: number, rest: string[], known: readonly Option[]): Token {
  const equals = word.indexOf('=');
  const rawName = equals < 0 ? word : word.slice(0, equals);
  const option = known.find((o) => `--${o.name}` === rawName);
  if (equals >= 0) return { at, rawName, option, value: word.slice(equals + 1), isInline: true };
  return { at, rawName, option, value: option?.value && !option.isBare ? rest.shift() : undefined, isInline: false };
}

/** Flags can be combined; the first option with a value takes the rest of the argument, or the next argument. */
function shortTokens(word: string, at: number, rest: string[], known: readonly Option[]): Token[] {
  const tokens: Token[] = [];
  for (let i = 1; i < word.length; i++) {
    const rawName = `-${word[i]}`;
    const option = known.find((o) => o.short === word[i]);
    if (!option?.value) {
      tokens.push({ at, rawName, option, value: undefined, isInline: false });
      continue;
    }
    const inline = word.slice(i + 1);
    return [...tokens, { at, rawName, option, value: inline === '' ? rest.shift() : inline, isInline: inline !== '' }];
  }
  return tokens;
}

function unknownOption(rawName: string, command: Command, known: readonly Option[]): string {
  const near = closest(
    rawName.replace(/^-+/, ''),
    known.map((o) => o.name),
  );
  return `unexpected option \`${rawName}\` for \`cumetal ${command.name}\`${near ? `; did you mean \`--${near}\`?` : ''}`;
}

function badValue(option: Option, rawName: string, value: string | undefined, isInline: boolean): string | undefined {
  if (!option.value) return value === undefined ? undefined : `unexpected value \`${value}\` for \`${rawName}\`, which takes none`;
  if (option.isBare && value === undefined) return undefined;
  // `--out --print` is a missing value; `--out=--print` passes a value that starts with two dashes.
  if (value === undefined || (!isInline && value.startsWith('--')))
    return `\`${rawName}\` requires a value: \`${rawName} ${option.value}\``;
  if (!option.choices || option.choices.includes(value)) return undefined;
  const near = closest(value, option.choices);
  return `invalid value \`${value}\` for \`${rawName}\`: expected one of ${option.choices.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
}

/** The usage error for too few or too many positional arguments. */
export function positionalCountProblem(command: Command, { positionals }: ParsedArguments): string | undefined {
  const [min, max] = command.positionals;
  if (positionals.length < min) {
    const what = command.usage[0]!.startsWith('FILE') ? 'a file' : 'an argument';
    return `\`cumetal ${command.name}\` requires ${what}: \`cumetal ${command.name} ${command.usage[0]}\``;
  }
  if (positionals.length > max) return `unexpected argument \`${positionals[max]}\` for \`cumetal ${command.name}\``;
  return undefined;
}
