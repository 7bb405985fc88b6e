/**
 * The arguments of clang's compiler for both halves of a program. They are those of `clang -cc1`, since the driver knows neither this
 * sysroot nor these headers.
 */
import { hexOf } from '../base/bytes.ts';
import { sha256 } from '../base/sha256.ts';
import { withAsmNames } from './asm-names.ts';
import { headers } from './headers.ts';
import type { SourceFiles } from './includes.ts';
import type { Sysroot } from './sysroot.ts';
import { putFile, putFolder, type Tree } from './tree.ts';

/** What is compiled, and how. */
export interface SourceOptions {
  /** The absolute path of the source; it is one of `files`. */
  readonly path: string;
  readonly files: SourceFiles;
  /** Absolute folders of `#include <…>`, in front of the CUDA headers. */
  readonly folders: readonly string[];
  /** Definitions of macros, `NAME` or `NAME=VALUE`. */
  readonly defines?: readonly string[];
  /** Macros that are not defined, also where the compiler defines them. */
  readonly undefines?: readonly string[];
  /** Absolute paths of headers in front of the source. */
  readonly preIncludes?: readonly string[];
  /** Whether multiplications and additions become `fma`; true by default, as in nvcc. */
  readonly isContracted?: boolean;
  /** Whether its device code is linked with that of other files; false by default. */
  readonly isRelocatable?: boolean;
  /** Whether warnings are left out; false by default. */
  readonly isQuiet?: boolean;
  /** The language standard; that of nvcc by default. */
  readonly standard?: string;
  /** The libraries of host code, which a whole program is compiled with. Without them, only device code can be compiled. */
  readonly sysroot?: Sysroot;
}

/** A language of source files. */
export type Language = 'cuda' | 'c++' | 'c';

/** Folders of the files in memory: files of the machine, CUDA headers, and the libraries of host code. */
export const memoryRoots = { machine: 'host', headers: 'cumetal', sysroot: 'sysroot' } as const;
const { machine: hostRoot, headers: headersRoot, sysroot: sysrootName } = memoryRoots;

export const deviceTriple = 'nvptx64-nvidia-cuda';
export const hostTriple = 'wasm64-unknown-wasip1';

/** Where the compiler finds a file of the machine. */
export const insideOf = (path: string): string => `/${hostRoot}${path}`;

/** Messages with paths of the machine. */
export const withOwnPaths = (messages: string): string => messages.replaceAll(`/${hostRoot}/`, '/');

/** Functions of POSIX that the libraries have in a simple form. Source: wasi-libc, `libc-bottom-half`. */
const emulated = ['SIGNAL', 'MMAN', 'GETPID', 'PROCESS_CLOCKS'].map((name) => `-D_WASI_EMULATED_${name}`);

/** A program finds Linux, for which CUDA programs are written. Source: GCC's `linux.h`; the words without underscores are of GNU's standards. */
const systems = ['linux', 'unix'].flatMap((name) => [`__${name}__`, `__${name}`]).concat('__gnu_linux__');
const systemDefines = (standard: string): string[] =>
  [...systems, ...(standard.startsWith('gnu') ? ['linux', 'unix'] : [])].map((name) => `-D${name}=1`);

/** What C++17 took from the library, and the library of GCC has still: programs for Linux use it in every standard. */
const kept = ['AUTO_PTR', 'BINDERS', 'RANDOM_SHUFFLE', 'UNARY_BINARY_FUNCTION'].map((name) => `-D_LIBCPP_ENABLE_CXX17_REMOVED_${name}`);

/** Folders of headers: those of the machine, which a whole program needs, or those that clang has. */
const systemFolders = (sysroot: Sysroot | undefined, language: Language): string[] => {
  const cxx = [...(sysroot ? [] : ['/usr/include/wasm32-wasip1/c++/v1']), '/usr/include/c++/v1'];
  const c = sysroot ? ['/usr/include', `/${sysrootName}/include`] : ['/usr/include', '/usr/include/wasm32-wasip1'];
  return [...(language === 'c' ? [] : [`/${headersRoot}`, ...cxx]), ...c].flatMap((folder) => ['-internal-isystem', folder]);
};

const defaultStandards: Readonly<Record<Language, string>> = { cuda: 'gnu++17', 'c++': 'gnu++17', c: 'gnu17' };

/** Whether a standard is one of the language: build scripts give all of them the same words, and compilers ignore those of another one. */
const isOf = (standard: string, language: Language): boolean => standard.includes('++') === (language !== 'c');

/**
 * What the names of static variables and kernels of a file end with, which both halves of its compilation name. Without it they end with the number of the
 * file, which is that of another file in another compilation. Source: Clang, `CodeGenModule::printPostfixForExternalizedDecl`.
 */
const compilationUnitId = (path: string): string => hexOf(sha256(new TextEncoder().encode(path))).slice(0, 16);

/** Arguments of the front end, which are the same in both halves: declarations must not differ between them. */
export function frontEndArguments(language: Language, options: SourceOptions): string[] {
  const {
    path,
    folders,
    defines = [],
    undefines = [],
    preIncludes = [],
    isContracted = true,
    isRelocatable = false,
    isQuiet = false,
    standard,
    sysroot,
  } = options;
  const chosen = standard !== undefined && isOf(standard, language) ? standard : defaultStandards[language];
  return [
    ...systemDefines(chosen),
    ...['-fgnuc-version=4.2.1', '-D_GNU_SOURCE', ...emulated, '-Wno-register', '-disable-free', '-fmessage-length=0'],
    ...['-resource-dir', '/usr', '-isysroot', '/usr', `-fdebug-prefix-map=/${hostRoot}=`, `-fmacro-prefix-map=/${hostRoot}=`],
    ...(language === 'c' ? [] : ['-fcxx-exceptions', '-fexceptions', ...kept]),
    ...systemFolders(sysroot, language),
    ...(language === 'cuda' ? ['-target-sdk-version=12.0', '-include', 'cuda_runtime.h'] : []),
    `-std=${chosen}`,
    ...folders.flatMap((folder) => ['-I', insideOf(folder)]),
    ...defines.flatMap((define) => ['-D', define]),
    ...undefines.flatMap((name) => ['-U', name]),
    ...preIncludes.flatMap((path) => ['-include', insideOf(path)]),
    ...(isContracted ? [] : ['-ffp-contract=off']),
    ...(isRelocatable && language === 'cuda' ? ['-fgpu-rdc', `-cuid=${compilationUnitId(path)}`] : []),
    ...(isQuiet ? ['-w'] : []),
  ];
}

/** The last arguments: what is compiled. */
export const sourceArguments = (language: Language, path: string): string[] => ['-x', language, insideOf(path)];

/** The files of a compilation. */
export function filesOf({ files, folders, sysroot }: Pick<SourceOptions, 'files' | 'folders' | 'sysroot'>): Tree {
  const root: Tree = sysroot ? { [sysrootName]: sysroot.tree() } : {};
  for (const [path, bytes] of files) putFile(root, insideOf(path), withAsmNames(bytes));
  for (const folder of folders) putFolder(root, insideOf(folder));
  for (const [path, text] of Object.entries(headers)) putFile(root, `${headersRoot}/${path}`, new TextEncoder().encode(text));
  return root;
}
