/** `cumetal build` against `ptxas -arch=sm_80`: whole processes, cold, taken in turns on the same file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Bench, median, type Row } from './report.ts';

const root = join(import.meta.dirname, '..');
/** A kernel of usual size (28 KB), and small ones. */
const files = ['bench/kernels/blur17.ptx', 'examples/median.ptx', 'examples/matmul_tiled.ptx', 'examples/vector_add.ptx'];
const rounds = 15;

/** Nothing where ptxas is not installed. */
export function compile(): Bench | undefined {
  if (!Bun.which('ptxas')) {
    console.error('ptxas is not on the PATH; it comes with the CUDA toolkit');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  try {
    // The bundle that installation makes, from the sources as they are now.
    run([process.execPath, join(root, 'scripts/bundle.ts')]);
    const rows = files.map((file) => compare(file, folder));
    return { bench: 'compile', about: `cumetal build against ptxas -arch=sm_80, whole process, median of ${rounds} rounds`, rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compare(file: string, folder: string): Row {
  const path = join(root, file);
  const ours: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < rounds; round++) {
    other.push(run(['ptxas', '-arch=sm_80', path, '-o', join(folder, 'out.cubin')]));
    ours.push(run([join(root, 'bin/cumetal'), 'build', path, '-o', join(folder, 'out.metallib')]));
  }
  const [mine, theirs] = [median(ours), median(other)];
  return { name: basename(file), ours: mine, other: theirs, unit: 'ms', ratio: theirs / mine };
}

/** Milliseconds of a process. */
function run(command: readonly string[]): number {
  const start = performance.now();
  const { exitCode, stderr } = Bun.spawnSync([...command], { cwd: root, stdout: 'ignore', stderr: 'pipe' });
  const time = performance.now() - start;
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
  return time;
}
