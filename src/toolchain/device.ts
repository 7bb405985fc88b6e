/** The device half of a `.cu` file: clang's front end to bitcode, and this compiler's back end to PTX. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { ptxOfBitcode } from '../nvvm/index.ts';
import type { Clang, Tree } from './clang.ts';
import { headers } from './headers.ts';
import type { SourceFiles } from './includes.ts';

export interface DeviceOptions {
  /** The absolute path of the source; it is one of `files`. */
  readonly path: string;
  readonly files: SourceFiles;
  /** Absolute folders of `#include <…>`, in front of the CUDA headers. */
  readonly folders: readonly string[];
  /** Definitions of macros, `NAME` or `NAME=VALUE`. */
  readonly defines?: readonly string[];
  /** The language standard, `c++17` by default. */
  readonly standard?: string;
}

/** PTX, or nothing where the compiler or the translation refused; the compiler's messages; diagnostics are reported. */
export interface DeviceCode {
  readonly ptx: string | undefined;
  readonly messages: string;
}

/** Where the files of the host are for the compiler, and our headers. */
const hostRoot = 'host';
const headersRoot = 'cumetal';
const output = 'device.bc';

/** Arguments of the device compiler beside the files. The second part chooses contraction and line tables as nvcc does. */
const fixedArguments = [
  ...['-triple', 'nvptx64-nvidia-cuda', '-aux-triple', 'wasm64-unknown-wasip1', '-fcuda-is-device', '-target-cpu', 'sm_80'],
  ...['-target-feature', '+ptx80', '-ffp-contract=fast', '-debug-info-kind=line-tables-only', '-dwarf-version=4', '-O2'],
  ...['-fno-threadsafe-statics', '-target-sdk-version=12.0', '-fcxx-exceptions', '-fexceptions', '-fgnuc-version=4.2.1'],
  ...['-resource-dir', '/usr', '-isysroot', '/usr', '-internal-isystem', `/${headersRoot}`],
  ...['-internal-isystem', '/usr/include/wasm32-wasip1/c++/v1', '-internal-isystem', '/usr/include/c++/v1'],
  ...['-internal-isystem', '/usr/include', '-internal-isystem', '/usr/include/wasm32-wasip1'],
  ...['-include', 'cuda_runtime.h', `-fdebug-prefix-map=/${hostRoot}=`],
];

/** Everything that determines the output beside the sources and the version of the compiler. */
export const deviceKey = ({ folders, defines = [], standard }: DeviceOptions): string =>
  JSON.stringify([fixedArguments, folders, defines, standard ?? '', Object.entries(headers)]);

/** Compiles the device half. */
export async function compileDevice(clang: Clang, options: DeviceOptions, diagnostics: Diagnostics): Promise<DeviceCode> {
  const { path, files, folders, defines = [], standard = 'c++17' } = options;
  const args = [
    ...['clang++', '-cc1', ...fixedArguments, `-std=${standard}`],
    ...folders.flatMap((folder) => ['-I', `/${hostRoot}${folder}`]),
    ...defines.flatMap((define) => ['-D', define]),
    ...['-emit-llvm-bc', '-o', output, '-x', 'cuda', `/${hostRoot}${path}`],
  ];
  const { code, files: made, messages } = await clang(args, treeOf(files));
  const said = messages.replaceAll(`/${hostRoot}/`, '/');
  const bitcode = code === 0 ? made[output] : undefined;
  return { ptx: bitcode instanceof Uint8Array ? ptxOfBitcode(bitcode, diagnostics) : undefined, messages: said };
}

/** The files as the compiler sees them. */
function treeOf(files: SourceFiles): Tree {
  const root: Tree = {};
  for (const [path, bytes] of files) put(root, `${hostRoot}${path}`, bytes);
  for (const [path, text] of Object.entries(headers)) put(root, `${headersRoot}/${path}`, new TextEncoder().encode(text));
  return root;
}

function put(root: Tree, path: string, bytes: Uint8Array): void {
  const words = path.split('/').filter((word) => word !== '');
  const name = words.pop()!;
  let folder = root;
  for (const word of words) {
    const next = folder[word] ?? {};
    if (next instanceof Uint8Array) return;
    folder[word] = next;
    folder = next;
  }
  folder[name] = bytes;
}
