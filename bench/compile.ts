/** `cumetal build` against `ptxas`: kernels of usual size, or with `--large FOLDER` the largest files of a folder. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { againstPtxas, compareCold, root, timeOf } from './cold.ts';
import { type Bench, geomean, median, type Row } from './report.ts';

/** Kernels of usual size, 12 to 28 KB, and small ones. */
const kernels = ['nbody', 'matmul_regs', 'blur17', 'layernorm', 'quantised_dot'].map((name) => `bench/kernels/${name}.ptx`);
const files = [...kernels, 'examples/median.ptx', 'examples/vector_add.ptx'];
const rounds = 15;

/** Nothing where ptxas is not installed. */
export function compile(words: readonly string[]): Bench | undefined {
  const folder = words[words.indexOf('--large') + 1];
  return words.includes('--large') && folder !== undefined ? compileLarge(folder) : compileUsual();
}

function compileUsual(): Bench | undefined {
  let again: number[] = [];
  const rows = againstPtxas((folder) => {
    const cold = files.map((file) => compareCold(join(root, file), ['build', '-o', join(folder, 'out.metallib')], folder, rounds));
    again = files.map((file, i) => cold[i]!.other / timeAgain(join(root, file), folder));
    return cold;
  });
  const about = `cumetal build against ptxas -arch=sm_80, whole process, median of ${rounds} rounds`;
  return (
    rows && {
      bench: 'compile',
      about,
      rows,
      bars: [{ name: 'geometric mean for a text that was built before', value: geomean(again), bar: 1 }],
    }
  );
}

/** Milliseconds for a file that the compile cache has. */
function timeAgain(path: string, folder: string): number {
  const cache = { CUMETAL_CACHE_DISABLE: '0', CUMETAL_CACHE_PATH: join(folder, 'cache') };
  const once = (): number => timeOf([join(root, 'bin/cumetal'), 'build', path, '-o', join(folder, 'out.metallib')], cache);
  once();
  return median(Array.from({ length: rounds }, once));
}

/** Files of a large comparison. */
const largest = 10;

/** Processor time and memory for the largest files that both compile, with one process. */
function compileLarge(from: string): Bench | undefined {
  const rows = againstPtxas((folder) => {
    const paths = readdirSync(from)
      .filter((name) => name.endsWith('.ptx'))
      .map((name) => join(from, name));
    const found: Row[] = [];
    for (const path of paths.sort((a, b) => statSync(b).size - statSync(a).size)) {
      if (found.length === largest) break;
      const arch = /^\.target\s+(sm_[89]\w+|sm_1[0-9]\d\w*)/m.exec(readFileSync(path, 'utf8').slice(0, 65536))?.[1] ?? 'sm_80';
      const other = usage(['ptxas', `-arch=${arch}`, path, '-o', join(folder, 'out.cubin')]);
      const ours = other && usage([join(root, 'bin/cumetal'), 'build', path, '-j', '1', '-o', join(folder, 'out.metallib')]);
      if (!ours) continue;
      const name = `${basename(path)} (memory ${ours.mb.toFixed(0)} and ${other.mb.toFixed(0)} MB)`;
      found.push({ name, ours: ours.ms, other: other.ms, unit: 'ms', ratio: other.ms / ours.ms });
    }
    return found;
  });
  return (
    rows && { bench: 'compile', about: `cumetal build -j 1 against ptxas, processor time and memory of the largest files of ${from}`, rows }
  );
}

/** Processor time and the most memory of a process; undefined where it fails. */
function usage(command: readonly string[]): { readonly ms: number; readonly mb: number } | undefined {
  const env = { ...process.env, CUMETAL_CACHE_DISABLE: '1' };
  const { exitCode, resourceUsage } = Bun.spawnSync([...command], { cwd: root, stdout: 'ignore', stderr: 'ignore', env });
  return exitCode === 0 ? { ms: Number(resourceUsage.cpuTime.total) / 1000, mb: resourceUsage.maxRSS / 1e6 } : undefined;
}
