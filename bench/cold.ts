/** Whole processes, cold, taken in turns on the same file: `cumetal` against `ptxas -arch=sm_80`. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { median, type Row } from './report.ts';

export const root = join(import.meta.dirname, '..');

/** Runs a comparison with a folder for what is written, after making the bundle of the sources as they are; nothing where ptxas is not installed. */
export function againstPtxas(compare: (folder: string) => Row[]): readonly Row[] | undefined {
  if (!Bun.which('ptxas')) {
    console.error('ptxas is not on the PATH; it comes with the CUDA toolkit');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  try {
    timeOf([process.execPath, join(root, 'scripts/bundle.ts')]);
    return compare(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `words` are those of `cumetal`, without the file. */
export function compareCold(path: string, words: readonly [string, ...string[]], folder: string, rounds: number): Row {
  const [command, ...rest] = words;
  const ours: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < rounds; round++) {
    other.push(timeOf(['ptxas', '-arch=sm_80', path, '-o', join(folder, 'out.cubin')]));
    ours.push(timeOf([join(root, 'bin/cumetal'), command, path, ...rest]));
  }
  const [mine, theirs] = [median(ours), median(other)];
  return { name: basename(path), ours: mine, other: theirs, unit: 'ms', ratio: theirs / mine };
}

/**
 * The program as users have it, in a folder: the built files as a package, without the sources that a checkout compares them with, which takes 4 ms
 * of every start.
 */
export function installedProgram(folder: string): string {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'cumetal');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(own);
  cpSync(join(root, 'bin'), join(own, 'bin'), { recursive: true });
  timeOf([process.execPath, join(root, 'scripts/bundle.ts'), join(own, 'dist')]);
  symlinkSync(process.execPath, join(modules, '.bin/bun'));
  return join(own, 'bin/cumetal');
}

export interface Usage {
  /** Milliseconds of processor time, and on a clock. */
  readonly cpuMs: number;
  readonly ms: number;
  readonly maxBytes: number;
}

/** What a process takes; undefined where it fails. */
export function usageOf(command: readonly string[], more: Readonly<Record<string, string>> = {}): Usage | undefined {
  const env = { ...process.env, ...more };
  const start = performance.now();
  const { exitCode, resourceUsage } = Bun.spawnSync([...command], { cwd: root, stdout: 'ignore', stderr: 'ignore', env });
  const ms = performance.now() - start;
  return exitCode === 0 ? { cpuMs: Number(resourceUsage.cpuTime.total) / 1000, ms, maxBytes: resourceUsage.maxRSS } : undefined;
}

/** Milliseconds of a process, which has no compile cache unless its environment says so. */
export function timeOf(command: readonly string[], more: Readonly<Record<string, string>> = {}): number {
  const start = performance.now();
  // What was compiled before would be written again.
  const env = { ...process.env, CUMETAL_CACHE_DISABLE: '1', CUMETAL_HELPER: '0', ...more };
  const { exitCode, stderr } = Bun.spawnSync([...command], { cwd: root, stdout: 'ignore', stderr: 'pipe', env });
  const time = performance.now() - start;
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
  return time;
}
