/**
 * The quality of emitted AIR: our metallib's bitcode, made PTX again by LLVM, against the PTX that it was compiled from, on an
 * NVIDIA GPU. `--prepare FOLDER` makes what runs there: `python3 FOLDER/ptx_compare.py FOLDER/air-cases.json`.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './cold.ts';
import type { Bench, Row } from './report.ts';

/** What `ptx_compare.py` reads, and the file that a kernel comes from. */
interface Case {
  readonly name: string;
  readonly file: string;
  readonly [key: string]: unknown;
}

const oracle = join(root, 'spec/oracle/air');

/** Makes both forms of every kernel and the list of what to run. */
export function prepare(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const cases = JSON.parse(readFileSync(join(root, 'bench/air-cases.json'), 'utf8')) as Case[];
  const listed = cases.map((each) => {
    const [library, derived, original] = ['metallib', 'air.ptx', 'ptx'].map((ending) => join(folder, `${each.name}.${ending}`)) as [
      string,
      string,
      string,
    ];
    run([join(root, 'bin/cumetal'), 'build', join(root, each.file), '--entry', each.name, '-o', library]);
    run(['python3', join(oracle, 'air_nvptx.py'), library, each.name, '-o', derived]);
    copyFileSync(join(root, each.file), original);
    return { ...each, original: `${each.name}.ptx`, original_kernel: each.name, derived: `${each.name}.air.ptx` };
  });
  writeFileSync(join(folder, 'air-cases.json'), JSON.stringify(listed));
  copyFileSync(join(oracle, 'ptx_compare.py'), join(folder, 'ptx_compare.py'));
}

function run(command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: root });
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`);
  return stdout.toString();
}

/** Nothing where there is no GPU. Throws where results differ. */
export function air(): Bench | undefined {
  if (Bun.spawnSync(['python3', '-c', 'import ctypes; ctypes.CDLL("libcuda.so.1")']).exitCode !== 0) {
    console.error('there is no CUDA driver here; `--prepare FOLDER` makes what can be run where one is');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  try {
    prepare(folder);
    const rows = rowsOf(run(['python3', join(folder, 'ptx_compare.py'), join(folder, 'air-cases.json')]));
    return { bench: 'air', about: 'AIR made PTX by LLVM against the PTX it came from, on the GPU', rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The lines of the comparison's table: name, microseconds of both, and more. */
function rowsOf(table: string): Row[] {
  return [...table.matchAll(/^(\w+) +([\d.]+) +([\d.]+) +[\d.]+ /gm)].map(([, name = '', original, derived]) => {
    const [ours, other] = [Number(derived), Number(original)];
    return { name, ours, other, unit: 'us', ratio: other / ours };
  });
}
