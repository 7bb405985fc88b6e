/**
 * `.cu` files: compiled to PTX by nvcc, by a clang with the NVPTX target, or by clang as WebAssembly with our own headers, which needs
 * no installation but an npm package. Nothing else needs these compilers.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import type { SourceFile } from '../../base/source.ts';
import { findPackage, packageName, packageSize, type ToolchainPackage } from '../../toolchain/locate.ts';
import { ownFolder } from '../command/own-place.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { exists, type Terminal } from '../terminal/index.ts';
import { type CudaOptions, ptxSource } from './cuda-file.ts';

interface InstalledCompiler {
  readonly name: 'nvcc' | 'clang';
  /** The command-line arguments that compile a file to PTX, with the lines of the file. */
  args(from: string, to: string): string[];
}

const installed: readonly InstalledCompiler[] = [
  { name: 'nvcc', args: (from, to) => ['-ptx', '-lineinfo', '-arch=sm_80', '-o', to, from] },
  {
    name: 'clang',
    args: (from, to) => ['-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_80', '-O2', '-gline-tables-only', '-S', '-o', to, from],
  },
];

/** An installed compiler, or the package of clang as WebAssembly. */
export type CudaCompiler = InstalledCompiler | { readonly name: 'wasm'; readonly found: ToolchainPackage };

/** The compiler of a name, or the first that is there; undefined if there is none. */
export function findCudaCompiler({ env }: Pick<Terminal, 'env'>, name?: string): CudaCompiler | undefined {
  return (
    installed.find((each) => (name ?? each.name) === each.name && isInstalled(each)) ??
    (name && name !== 'wasm' ? undefined : packageFor(env))
  );
}

function isInstalled({ name }: InstalledCompiler): boolean {
  const { status, stdout } = spawnSync(name, name === 'nvcc' ? ['--version'] : ['--print-targets'], { encoding: 'utf8' });
  return status === 0 && (name === 'nvcc' || stdout.includes('nvptx64'));
}

/** The package, in the project of the current folder or beside this program. */
function packageFor(env: Terminal['env']): CudaCompiler | undefined {
  const found = findPackage([process.cwd(), ownFolder()], env.CUMETAL_CLANG);
  return found && { name: 'wasm', found };
}

/** The PTX of a `.cu` file, with that as its origin, or the exit code after the compiler's own messages. */
export async function compileCuda(
  path: string,
  options: CudaOptions,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<SourceFile | ExitCode> {
  if (!exists(path)) {
    terminal.err(`error: cannot read \`${printable(path)}\`: no such file\n`);
    return exit.usage;
  }
  const compiler = findCudaCompiler(terminal, options.compiler);
  if (!compiler) return noCompiler(path, options.compiler, terminal);
  if (compiler.name === 'wasm') {
    const { compileInWasm } = await import('./cuda-wasm.ts');
    return compileInWasm(path, compiler.found, options, terminal, diagnostics);
  }
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  try {
    const to = join(folder, 'kernel.ptx');
    const { status, stdout, stderr } = spawnSync(compiler.name, [...compiler.args(path, to), ...preprocessing(options)], {
      encoding: 'utf8',
    });
    terminal.err(`${stdout ?? ''}${stderr ?? ''}`);
    if (status === 0) return ptxSource(path, readFileSync(to, 'utf8'));
    terminal.err(`error: ${compiler.name} could not compile \`${printable(path)}\`\n`);
    return exit.doesNotCompile;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The words of both installed compilers. */
const preprocessing = ({ folders, defines, standard }: CudaOptions): string[] => [
  ...folders.map((folder) => `-I${folder}`),
  ...defines.map((define) => `-D${define}`),
  ...(standard === undefined ? [] : [`-std=${standard}`]),
];

function noCompiler(path: string, wanted: string | undefined, terminal: Terminal): ExitCode {
  const why =
    wanted === undefined || wanted === 'wasm'
      ? `there is no compiler for it: ${wanted === undefined ? 'neither nvcc nor a clang with the NVPTX target is on the PATH, and ' : ''}the package \`${packageName}\` is not installed`
      : `${wanted === 'clang' ? 'no clang with the NVPTX target' : 'no nvcc'} is on the PATH`;
  terminal.err(`error: \`${printable(path)}\` is CUDA C++, and ${why}\n`);
  terminal.err(`  = help: \`npm install ${packageName}\` in this folder (${packageSize}) compiles it without any other installation\n`);
  return exit.usage;
}
