/**
 * Compilations in processes of their own: the compiler starts faster where the engine does not optimize its code, which is a setting of a whole
 * process, and both halves of a source are compiled at the same time.
 */
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isSingleFile, ownFolder } from '../command/own-place.ts';
import { exists, type Terminal } from '../terminal/index.ts';

/** What starts this program: its launcher, which chooses the settings of each command, or the single-file program. */
export function ownCommand(): string {
  if (isSingleFile()) return process.execPath;
  for (let folder = ownFolder(); folder !== dirname(folder); folder = dirname(folder)) {
    const launcher = join(folder, 'bin/cumetal');
    if (exists(launcher)) return launcher;
  }
  return process.execPath;
}

/** The settings of the launcher for a process that compiles, for the program that has no launcher. */
const settings = { BUN_JSC_useOMGJIT: '0' };

const environment = ({ env }: Pick<Terminal, 'env'>): NodeJS.ProcessEnv => ({ ...process.env, ...env, ...settings });

/** Whether a second process makes a compilation faster. */
export const hasSecondCore = (): boolean => availableParallelism() > 1;

/** What a process made, and its messages. */
export interface ChildResult {
  readonly bytes: Uint8Array | undefined;
  readonly messages: string;
}

/** Runs `cumetal cc` with these words while the caller continues. What it makes comes through a pipe, so that no file is left where both are ended. */
export async function compileAside(words: readonly string[], terminal: Terminal): Promise<ChildResult> {
  const child = spawn(ownCommand(), ['cc', ...words, '-o', '-'], { env: environment(terminal), stdio: ['ignore', 'pipe', 'pipe'] });
  let messages = '';
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => void parts.push(part));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve).on('error', () => resolve(null)));
  return { bytes: code === 0 ? new Uint8Array(Buffer.concat(parts)) : undefined, messages };
}

/** Most bytes of a linked program. */
const maxProgramBytes = 2 ** 30;

/** Runs `cumetal cc` with these words, on the standard input and error of this process. What it makes, or its exit code. */
export function compileInstead(words: readonly string[], terminal: Pick<Terminal, 'env'>, isCached: boolean): Uint8Array | number {
  const env = { ...environment(terminal), ...(isCached ? {} : { CUMETAL_CACHE_DISABLE: '1' }) };
  const { status, stdout } = spawnSync(ownCommand(), ['cc', ...words, '-o', '-'], {
    env,
    stdio: ['inherit', 'pipe', 'inherit'],
    maxBuffer: maxProgramBytes,
  });
  return status === 0 ? new Uint8Array(stdout) : (status ?? 1);
}

/** Runs `cumetal cc` with these words, and waits. What it prints, and its messages. */
export function compileText(
  words: readonly string[],
  terminal: Pick<Terminal, 'env'>,
): { readonly code: number; readonly out: string; readonly messages: string } {
  const { status, stdout, stderr } = spawnSync(ownCommand(), ['cc', ...words, '-o', '-'], {
    env: environment(terminal),
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: maxProgramBytes,
  });
  return { code: status ?? 1, out: stdout ?? '', messages: stderr ?? '' };
}
