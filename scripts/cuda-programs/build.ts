/** What nvcc and g++ make of a random CUDA C++ program: the PTX of its device code, and the output that its host code computes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CudaProgram } from '../../spec/support/cuda-programs/program.ts';
import { outputDigest, type ProgramKind, programData, programKinds } from '../../spec/support/cuda-programs/run.ts';

const headers = join(import.meta.dirname, '../../spec/support/cuda-programs');

export interface BuiltProgram {
  readonly program: CudaProgram;
  readonly ptx: string;
  /** What the device code has to leave. */
  readonly digest: string;
}

/** Runs a command for some seconds at most; the start of what it says is the error of one that fails. */
function run(words: readonly string[], cwd: string): void {
  const { success, stderr } = Bun.spawnSync(['timeout', '120', ...words], { cwd, stdout: 'ignore', stderr: 'pipe' });
  if (!success) throw new Error(`${words[0]}: ${stderr.toString().slice(0, 1000)}`);
}

/** Builds the program of a number. Neither compiler contracts products and sums, and signed sums that overflow wrap. */
export function buildProgram(kind: ProgramKind, number: number): BuiltProgram {
  const { program: make, architectures } = programKinds[kind];
  const program = make(number);
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-programs-'));
  try {
    writeFileSync(join(folder, 'program.cu'), program.source);
    writeFileSync(join(folder, 'input'), programData(program));
    run(['g++', '-x', 'c++', '-O1', '-ffp-contract=off', '-fwrapv', '-w', `-I${headers}`, 'program.cu', '-o', 'host'], folder);
    run(['./host', 'input', 'output'], folder);
    const architecture = architectures[number % architectures.length]!;
    run(['nvcc', '-w', '-ptx', `-arch=${architecture}`, '-fmad=false', `-I${headers}`, 'program.cu', '-o', 'program.ptx'], folder);
    const digest = outputDigest(readFileSync(join(folder, 'output')));
    return { program, ptx: readFileSync(join(folder, 'program.ptx'), 'utf8'), digest };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
