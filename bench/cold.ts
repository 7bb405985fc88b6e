/** Whole processes, cold, taken in turns on the same file: `cumetal` against `ptxas -arch=sm_80`. */
import { mkdtempSync, rmSync } from 'node:fs';
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

/** Milliseconds of a process, which has no compile cache unless its environment says so. */
export function timeOf(command: readonly string[], more: Readonly<Record<string, string>> = {}): number {
  const start = performance.now();
  // What was compiled before would be written again.
  const env = { ...process.env, CUMETAL_CACHE_DISABLE: '1', ...more };
  const { exitCode, stderr } = Bun.spawnSync([...command], { cwd: root, stdout: 'ignore', stderr: 'pipe', env });
  const time = performance.now() - start;
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
  return time;
}
