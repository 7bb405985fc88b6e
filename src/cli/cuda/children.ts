/**
 * Compilations in processes of their own: the compiler starts faster where the engine does not optimize its code, which is a setting of a whole
 * process, and both halves of a source are compiled at the same time.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exists, type Terminal } from '../terminal/index.ts';

/** What starts this program: its launcher, which chooses the settings of each command, or the single-file program. */
export function ownCommand(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
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

/** Runs `cumetal cc` with these words while the caller continues; its output is one file. */
export async function compileAside(words: readonly string[], terminal: Terminal): Promise<ChildResult> {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  const output = join(folder, 'output');
  try {
    const child = spawn(ownCommand(), ['cc', ...words, '-o', output], { env: environment(terminal), stdio: ['ignore', 'ignore', 'pipe'] });
    let messages = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      messages += text;
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve).on('error', () => resolve(null)));
    return { bytes: code === 0 ? new Uint8Array(readFileSync(output)) : undefined, messages };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs `cumetal cc` with these words, on the streams of this process. The file that it makes, or its exit code. */
export function compileInstead(words: readonly string[], terminal: Pick<Terminal, 'env'>, isCached: boolean): Uint8Array | number {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  const output = join(folder, 'output');
  try {
    const env = { ...environment(terminal), ...(isCached ? {} : { CUMETAL_CACHE_DISABLE: '1' }) };
    const { status } = spawnSync(ownCommand(), ['cc', ...words, '-o', output], { env, stdio: 'inherit' });
    return status === 0 ? new Uint8Array(readFileSync(output)) : (status ?? 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
