/** What a Makefile would do: `make -n` prints the commands, which are read here and not run. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { languageOf } from '../../src/cli/cuda/compile.ts';

/** One source: its absolute path, and the words of nvcc for it alone (`-I`, `-D`, `-std`, `-include`). */
export interface Unit {
  readonly path: string;
  readonly flags: readonly string[];
}

/** Device code in a file of its own: what nvcc is asked for, and absolute paths. */
export interface Image {
  readonly kind: string;
  readonly source: string;
  readonly output: string;
}

/** A program as its Makefile builds and runs it; paths are absolute. */
export interface Recipe {
  readonly units: readonly Unit[];
  readonly includes: readonly string[];
  /** Names behind `-l`. */
  readonly libraries: readonly string[];
  readonly images?: readonly Image[];
  /** Arguments of the first command that runs the program. */
  readonly args: readonly string[];
  /** Where it runs the program. */
  readonly cwd: string;
}

const compilers = /^(?:\S*\/)?(?:nvcc|g\+\+|gcc|cc|c\+\+|clang|clang\+\+|mpicxx|mpicc|icpx|icpc|nvc|nvc\+\+)$/;
/** Options of nvcc and gcc whose next word is their value. */
const withValue = new Set([
  '-o',
  '-x',
  '-arch',
  '-gencode',
  '-Xcompiler',
  '-Xptxas',
  '-Xlinker',
  '-ccbin',
  '-maxrregcount',
  '-code',
  '-MF',
  '-t',
]);
const taken = new Set(['-I', '-D', '-U', '-include', '-isystem', '-l', '-L', '-std']);

/** Words of a shell command. */
function words(line: string): string[] {
  const found = line.match(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g) ?? [];
  return found.map((word) => word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, a, b, c) => a?.replace(/\\(.)/g, '$1') ?? b ?? c));
}

interface Command {
  readonly sources: string[];
  /** Objects that it reads, and the file that it writes. */
  readonly objects: string[];
  output: string | undefined;
  readonly flags: string[];
  readonly includes: string[];
  readonly libraries: string[];
}

/** Takes an option with its value: `-I x`, `-Ix`, `-std=x`. */
function takeOption(command: Command, head: string, value: string, folder: string): void {
  if (head === '-I' || head === '-isystem') command.includes.push(resolve(folder, value));
  else if (head === '-l') command.libraries.push(value);
  else if (head === '-std') command.flags.push(`-std=${value.replace(/^=/, '')}`);
  else if (head === '-include') command.flags.push('-include', value);
  else if (head !== '-L') command.flags.push(`${head}${value}`);
}

function compilation(list: readonly string[], folder: string): Command {
  const command: Command = { sources: [], objects: [], output: undefined, flags: [], includes: [], libraries: [] };
  for (let i = 0; i < list.length; i++) {
    const word = list[i]!;
    const head = [...taken].find((each) => word.startsWith(each) && !word.startsWith('-lineinfo'));
    if (/^(-dc|--device-c|-rdc=true|--relocatable-device-code=true)$/.test(word)) command.flags.push('-rdc=true');
    else if (head !== undefined) takeOption(command, head, word === head ? (list[++i] ?? '') : word.slice(head.length), folder);
    else if (/^--?x$/.test(word) && list[i + 1] === 'cu') command.flags.push('-x', list[++i]!);
    else if (word === '-o') command.output = resolve(folder, list[++i] ?? '');
    else if (withValue.has(word)) i++;
    else if (/\.o$/.test(word)) command.objects.push(resolve(folder, word));
    else if (!word.startsWith('-') && languageOf(word)) command.sources.push(resolve(folder, word));
  }
  return command;
}

/** The commands of a line, which may go to a folder. */
function* partsOf(line: string, folder: string): Generator<readonly [words: string[], folder: string]> {
  let at = folder;
  for (const part of line.split(/&&|;/)) {
    const list = words(part);
    if (list[0] === 'cd') at = resolve(at, list[1] ?? '');
    else yield [list, at];
  }
}

/** What make says when it enters a folder and leaves it. */
const folderLine = /^make(?:\[\d+\])?: (Entering|Leaving) directory '(.*)'$/;

/** What `make -n` prints of goals. */
const dryRun = (folder: string, goals: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync('make', ['-n', '-B', '-C', folder, ...goals], { encoding: 'utf8', timeout: 20_000 });

/** Where the lines of a run of make are run: it says when it enters a folder. */
function* commandsOf(text: string, folder: string): Generator<readonly [words: string[], folder: string]> {
  const folders = [folder];
  const lines = text.replace(/\\\n/g, ' ').split('\n');
  for (const [i, line] of lines.entries()) {
    const [, verb, name] = folderLine.exec(line) ?? [];
    if (verb === 'Entering') folders.push(name!);
    else if (verb === 'Leaving') folders.pop();
    else
      for (const [list, at] of partsOf(line, folders.at(-1) ?? folder)) {
        // A make that is not named by its variable prints nothing of its own.
        const isSilent = list[0] === 'make' && !folderLine.test(lines[i + 1] ?? '') && !list.some((word) => /^-|clean/.test(word));
        if (isSilent) yield* commandsOf(dryRun(at, list.slice(1)).stdout, at);
        else yield [list, at];
      }
  }
}

/** The commands that make one program of several; all of them where no command says that it links it. */
function commandsFor(path: string | undefined, all: readonly Command[]): readonly Command[] {
  const link = path === undefined ? undefined : all.filter(({ output }) => output === path).at(-1);
  if (!link || all.filter(({ output = '' }) => output !== '' && !output.endsWith('.o')).length < 2) return all;
  const objects = new Set(link.objects);
  return all.filter((command) => command === link || (command.output !== undefined && objects.has(command.output)));
}

const unique = (list: readonly string[]): string[] => [...new Set(list)];

/** The recipe of a folder with a Makefile; a text if make has none. */
export function recipeOf(folder: string, goals: readonly string[] = ['run']): Recipe | string {
  const { stdout, stderr, status } = dryRun(folder, goals);
  const made: Command[] = [];
  const runs: { readonly path: string; readonly args: string[]; readonly cwd: string }[] = [];
  for (const [list, place] of commandsOf(stdout, folder)) {
    const at = list.findIndex((word) => !/^\w+=/.test(word));
    const name = list[at] ?? '';
    if (compilers.test(name)) made.push(compilation(list.slice(at + 1), place));
    else if (/^\.{1,2}\/\S+$/.test(name) && made.length > 0)
      runs.push({ cwd: place, path: resolve(place, name), args: list.slice(at + 1).filter((word) => !/^(\d?>|<|\|)/.test(word)) });
  }
  // What runs before may have made its input, or be another version of it.
  const path = runs.at(-1)?.path;
  const commands = commandsFor(path, made);
  const isMade = commands.some(({ sources }) => sources.length > 0);
  if (!isMade) return status === 0 ? 'make compiles nothing' : (stderr.trim().split('\n').at(-1) ?? 'make failed');
  const all = commands.flatMap(({ includes }) => includes);
  const first = runs.find((run) => run.path === path);
  return {
    units: commands.flatMap(({ sources, flags, includes }) =>
      sources.map((path) => ({ path, flags: [...includes.map((each) => `-I${each}`), ...flags] })),
    ),
    includes: unique(all),
    libraries: unique(commands.flatMap(({ libraries }) => libraries)),
    args: first?.args ?? [],
    cwd: first?.cwd ?? folder,
  };
}
