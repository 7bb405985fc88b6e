/** Programs of the machine: where they are, what is loaded before them, and their end. */
import { accessSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Diagnostics } from '../../base/diagnostic.ts';
import { removeAbandoned, type Shim, type ShimFailure, type Supervision, superviseProgram } from '../../exec/index.ts';
import type { Context } from '../command/command.ts';
import { storeOf } from '../command/compile-cache.ts';
import { writeDiagnostics } from '../terminal/render.ts';

/** Exit codes of programs that cannot be run. Source: POSIX, Shell Command Language, 2.8.2. */
const [cannotRun, notFound] = [126, 127];

/** What makes the library for a program: the folder that it is kept in, and the C compiler. */
export interface Making {
  readonly path: string;
  readonly folder: string;
  readonly compiler: string;
}

/** How a program is run. */
export interface Way {
  /** The library that is loaded before the program; undefined after reporting. */
  shim(making: Making, diagnostics: Diagnostics): Shim | ShimFailure | undefined;
  /** What the library needs beside the program. */
  readonly more?: Partial<Pick<Supervision, 'env' | 'server'>>;
}

/** Runs the program of a command line; its exit code. */
export async function runProgram({ parsed, terminal, command }: Context, { shim, more }: Way): Promise<number> {
  const diagnostics = new Diagnostics();
  const [name = '', ...args] = parsed.positionals;
  const say = (why: string): void => terminal.err(`cumetal ${command.name}: ${name}: ${why}\n`);
  const path = findProgram(name, terminal.env.PATH ?? '');
  if (typeof path === 'number') {
    say(path === notFound ? 'not found' : 'permission denied');
    return path;
  }
  let place: ReturnType<typeof shimPlace> | undefined;
  try {
    place = shimPlace(terminal.env);
    const made = shim({ path, folder: place.folder, compiler: terminal.env.CC || 'cc' }, diagnostics);
    if (!made || 'why' in made) {
      if (made) diagnostics.report('CM4094', made);
      writeDiagnostics(diagnostics.list, terminal);
      return cannotRun;
    }
    const temporary = shortFolder();
    removeAbandoned(temporary);
    const result = await superviseProgram({ path, args: [name, ...args], env: terminal.env, shim: made, temporary, ...more });
    if (typeof result === 'number') return result;
    say(result.message);
    return cannotRun;
  } catch (error) {
    // A folder that cannot be written, most often.
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error;
    say((error as Error).message);
    return cannotRun;
  } finally {
    place?.remove();
  }
}

/** The longest name of the folder for temporary files: names of sockets have 107 characters. */
const maxFolderLength = 48;

const shortFolder = (): string => (tmpdir().length <= maxFolderLength ? tmpdir() : '/tmp');

/** The path of a program as `execvp` finds it; the exit code if there is none. */
export function findProgram(name: string, path: string): string | number {
  const places = name.includes('/') ? [name] : path.split(delimiter).map((folder) => join(folder || '.', name));
  let result = notFound;
  for (const place of places) {
    if (!statSync(place, { throwIfNoEntry: false })?.isFile()) continue;
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      result = cannotRun;
    }
  }
  return result;
}

/** The cache; a folder for this run alone if there is none, because what lies in a folder of others would run with the rights of the user. */
function shimPlace(env: Context['terminal']['env']): { readonly folder: string; remove(): void } {
  const found = storeOf({ env });
  if ('folder' in found) return { folder: found.folder, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-shim-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
