/** `.cu` files: compiled to PTX by nvcc, or by a clang with the NVPTX target. Nothing else needs these compilers. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printable } from '../../base/printable.ts';
import { SourceFile } from '../../base/source.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { exists, type Terminal } from '../terminal/index.ts';

export interface CudaCompiler {
  readonly name: 'nvcc' | 'clang';
  /** The command-line arguments that compile a file to PTX, with the lines of the file. */
  args(from: string, to: string): string[];
}

const compilers: readonly CudaCompiler[] = [
  { name: 'nvcc', args: (from, to) => ['-ptx', '-lineinfo', '-arch=sm_80', '-o', to, from] },
  {
    name: 'clang',
    args: (from, to) => ['-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_80', '-O2', '-gline-tables-only', '-S', '-o', to, from],
  },
];

/** The first compiler on the PATH that emits PTX. */
export function findCudaCompiler(): CudaCompiler | undefined {
  return compilers.find(({ name }) => {
    const args = name === 'nvcc' ? ['--version'] : ['--print-targets'];
    const { status, stdout } = spawnSync(name, args, { encoding: 'utf8' });
    return status === 0 && (name === 'nvcc' || stdout.includes('nvptx64'));
  });
}

/** The PTX of a `.cu` file, with that as its origin, or the exit code after the compiler's own messages. */
export function compileCuda(path: string, terminal: Terminal): SourceFile | ExitCode {
  if (!exists(path)) {
    terminal.err(`error: cannot read \`${printable(path)}\`: no such file\n`);
    return exit.usage;
  }
  const compiler = findCudaCompiler();
  if (!compiler) {
    terminal.err(`error: \`${printable(path)}\` is CUDA C++, but neither nvcc nor a clang with the NVPTX target is on the PATH\n`);
    terminal.err('  = help: compile it to PTX on a machine with CUDA: `nvcc -ptx -arch=sm_80 -o kernel.ptx kernel.cu`\n');
    return exit.usage;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  try {
    const to = join(folder, 'kernel.ptx');
    const { status, stdout, stderr } = spawnSync(compiler.name, compiler.args(path, to), { encoding: 'utf8' });
    terminal.err(`${stdout ?? ''}${stderr ?? ''}`);
    if (status === 0) return new SourceFile(`${path} (PTX)`, readFileSync(to, 'utf8'), new SourceFile(path, readFileSync(path, 'utf8')));
    terminal.err(`error: ${compiler.name} could not compile \`${printable(path)}\`\n`);
    return exit.doesNotCompile;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
