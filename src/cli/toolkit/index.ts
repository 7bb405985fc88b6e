/**
 * `cumetal toolkit`: a folder with the files by which build scripts know a CUDA toolkit: `bin/nvcc`, headers, archives that stand for libraries,
 * and a toolchain file for CMake.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import { writeBytes } from '../../runtime/index.ts';
import { cudaLibraryNames, headers } from '../../toolchain/index.ts';
import type { Context } from '../command/command.ts';
import { ownCommand } from '../cuda/children.ts';
import { locateProgramToolchain } from '../cuda/find.ts';
import { stubOf } from '../cuda/library-stub.ts';
import { exit } from '../terminal/exit.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { cudaRelease, toolchainFile } from './steps.ts';

/** Libraries that are part of what runs a program, or of the C library. */
const builtIn = [
  'cuda',
  'cudart',
  'cudart_static',
  'cudadevrt',
  'culibos',
  'nvToolsExt',
  'nvrtc',
  'nvrtc_static',
  'nvrtc-builtins_static',
  'rt',
];

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** A program of the folder: starts this one, or the one on the PATH where it is not there. */
const script = (root: string, words: string): string =>
  `#!/bin/sh\nCUMETAL_TOOLKIT=${quoted(root)}; export CUMETAL_TOOLKIT\nc=${quoted(ownCommand())}; [ -x "$c" ] || c=cumetal\nexec "$c" cc ${words}"$@"\n`;

/** The words of CMake. */
const cmakeText = (root: string): string => {
  const path = (name: string): string => `"${`${root}/${name}`.replace(/[\\"$]/g, '\\$&')}"`;
  const archive = (language: string): string =>
    `set(CMAKE_${language}_CREATE_STATIC_LIBRARY "<CMAKE_COMMAND> -E rm -f <TARGET>" "\\"${root}/bin/nvcc\\" -lib -o <TARGET> <OBJECTS>")\n`;
  return `# A toolchain file of CMake: both halves of CUDA programs are compiled by cumetal. \`cumetal toolkit\` wrote it.
set(CMAKE_C_COMPILER ${path('bin/cumetal-cc')})
set(CMAKE_CXX_COMPILER ${path('bin/cumetal-c++')})
set(CMAKE_CUDA_COMPILER ${path('bin/nvcc')})
set(CMAKE_CUDA_HOST_COMPILER ${path('bin/cumetal-c++')})
set(CUDAToolkit_ROOT ${path('')})
list(APPEND CMAKE_PREFIX_PATH ${path('')})
list(APPEND CMAKE_LIBRARY_PATH ${path('lib64')})

# Archives of WebAssembly need the archiver that knows it.
${['C', 'CXX', 'CUDA'].map(archive).join('')}
# Words for the linker of another machine.
set(CMAKE_CUDA_ARCHITECTURES 80 CACHE STRING "ignored: device code is compiled for sm_80")
set(THREADS_PREFER_PTHREAD_FLAG OFF)
`;
};

/** The files by their paths in the folder; those in \`bin\` are programs. */
function filesOf(root: string, libraries: readonly string[]): Map<string, string | Uint8Array> {
  const files = new Map<string, string | Uint8Array>([
    ['bin/nvcc', script(root, '')],
    ['bin/cumetal-cc', script(root, '--host-compiler ')],
    ['bin/cumetal-c++', script(root, '--host-compiler ')],
    [toolchainFile, cmakeText(root)],
    ['version.txt', `CUDA Version ${cudaRelease}.0\n`],
    ['nvvm/libdevice/README', 'Device code needs no library here.\n'],
  ]);
  for (const [path, text] of Object.entries(headers)) files.set(`include/${path}`, text);
  for (const library of libraries) files.set(`lib64/lib${library}.a`, stubOf(library));
  return files;
}

/** Runs the command. */
export async function toolkit({ terminal, parsed }: Context): Promise<number> {
  const root = resolve(parsed.positionals[0]!);
  const isOther = existsSync(root) && !existsSync(join(root, toolchainFile)) && !isEmptyFolder(root);
  if (isOther) {
    terminal.err(
      `error: \`${printable(root)}\` is there, and \`cumetal toolkit\` did not write it\n  = help: name a folder that is new or empty\n`,
    );
    return exit.usage;
  }
  const diagnostics = new Diagnostics();
  const sysroot = locateProgramToolchain(terminal)?.sysroot;
  const own = sysroot ? cudaLibraryNames(sysroot).flatMap((name) => [name, `${name}_static`]) : [];
  for (const [path, contents] of filesOf(root, [...builtIn, ...own])) {
    const to = join(root, path);
    const bytes = typeof contents === 'string' ? new TextEncoder().encode(contents) : contents;
    mkdirSync(dirname(to), { recursive: true });
    if (!writeBytes(terminal, to, bytes, diagnostics)) break;
    const failure = path.startsWith('bin/') ? terminal.makeExecutable?.(to) : undefined;
    if (failure) diagnostics.report('CM5031', { path: to, why: failure.why });
  }
  writeDiagnostics(diagnostics.list, terminal);
  if (diagnostics.hasErrors) return exit.failed;
  terminal.out(`${root} has nvcc, headers and libraries of CUDA ${cudaRelease} by cumetal
  in a shell:  export PATH=${quoted(`${root}/bin`)}:"$PATH" CUDA_HOME=${quoted(root)} CUDA_PATH=${quoted(root)}
  with CMake:  cmake -B build -DCMAKE_TOOLCHAIN_FILE=${quoted(join(root, toolchainFile))}
`);
  return exit.ok;
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}
