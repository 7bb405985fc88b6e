/** The host half of a program: `.cu`, C++ and C files to objects of WebAssembly with 64-bit pointers, and their link. */
import {
  deviceTriple,
  filesOf,
  frontEndArguments,
  hostTriple,
  type Language,
  type SourceOptions,
  sourceArguments,
  withOwnPaths,
} from './arguments.ts';
import type { Clang, Outcome } from './clang-module.ts';
import { libraryOfSymbol } from './cuda-library-names.ts';
import { putFile, type Tree } from './tree.ts';

/** What the compiler or the linker made, and its messages. */
export interface Made {
  readonly bytes: Uint8Array | undefined;
  readonly messages: string;
}

/** Exceptions are those of WebAssembly, in the form that every engine has; `longjmp` throws one too. */
const jumps = ['-exception-model=wasm', '-mllvm', '-wasm-enable-sjlj', '-target-feature', '+exception-handling'];
const exceptions = ['-mllvm', '-wasm-enable-eh'];
const throwing = (language: Language): string[] => [...jumps, ...(language === 'c' ? [] : exceptions)];
const hostArguments = [
  ...['-triple', hostTriple, '-emit-obj', '-mrelocation-model', 'static', '-fvisibility=hidden', '-ffp-contract=on', '-O2'],
  ...['-target-feature', '+bulk-memory', '-target-feature', '+sign-ext', '-target-feature', '+nontrapping-fptoint'],
  ...['-ffunction-sections', '-fdata-sections', '-mthread-model', 'single'],
  // nvcc has host code compiled without optimization by default, where integers wrap and types alias.
  ...['-fwrapv', '-relaxed-aliasing'],
];
const output = 'out.o';
const imageName = 'image';

/** Everything that determines an object beside the sources and the versions of the compiler and the sysroot. */
export const hostKey = (language: Language, options: SourceOptions): string =>
  JSON.stringify([hostArguments, throwing(language), frontEndArguments(language, options)]);

/** Compiles the host half of a source; that of a `.cu` file contains `image`, which stands for its device code, with a zero byte behind it. */
export async function compileHost(clang: Clang, language: Language, options: SourceOptions, image?: string): Promise<Made> {
  const files = filesOf(options);
  if (image !== undefined) putFile(files, imageName, new TextEncoder().encode(`${image}\0`));
  const args = [
    ...[language === 'c' ? 'clang' : 'clang++', '-cc1', ...hostArguments, ...throwing(language)],
    ...(image === undefined ? [] : ['-aux-triple', deviceTriple, '-fcuda-include-gpubinary', imageName]),
    ...[...frontEndArguments(language, options), '-o', output, ...sourceArguments(language, options.path)],
  ];
  return made(await clang(args, files), output);
}

/** The preprocessed text of the host half. */
export async function preprocess(clang: Clang, language: Language, options: SourceOptions): Promise<Made> {
  const aux = language === 'cuda' ? ['-aux-triple', deviceTriple] : [];
  const args = ['clang', '-cc1', '-triple', hostTriple, ...aux, '-E', ...frontEndArguments(language, options), '-o', output];
  return made(await clang([...args, ...sourceArguments(language, options.path)], filesOf(options)), output);
}

/** An archive of objects, with its symbol table, and without times and owners. */
export async function archive(clang: Clang, objects: LinkOptions['objects']): Promise<Made> {
  const files: Tree = {};
  const names = objects.map(({ name, bytes }, i) => {
    const path = `${i}_${name.replace(/^.*\//, '')}`;
    files[path] = bytes;
    return path;
  });
  return made(await clang(['ar', 'crsD', 'out.a', ...names], files), 'out.a');
}

export interface LinkOptions {
  /** Objects and archives by a name for messages, in the order of the command line. */
  readonly objects: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** The libraries of the sysroot to search, beside those that every program has. */
  readonly libraries: readonly string[];
  readonly sysroot: Tree;
  /** The address at which the data of the program begin; its memory is a window of 4 GiB. */
  readonly base: number;
  /** Functions that whoever runs the program gives to it. */
  readonly imports: readonly string[];
  /** CUDA's libraries that could be linked, and are not: functions of theirs are no functions that are missing everywhere. */
  readonly unnamed?: readonly string[];
}

/** Functions of CUDA's libraries. A call of one that is missing is an error of the run, since many programs never make it. */
const isOfCuda = /^(__cuda|cuda|cu|nvtx|nvml)[A-Z]|^cu(blas|rand|fft|sparse|solver|dnn)/;
/** What C++ and `longjmp` throw, which is the same for everything that runs together. */
const exceptionTags = ['__cpp_exception', '__c_longjmp'];
const undefinedSymbol = /undefined symbol: (\S+)/g;

const hintOf = (library: string): string => `  = help: \`-l${library}\` links the library of CUDA that these functions are of\n`;

/** Links a program: everything that it calls is in it, or is a function of CUDA. */
export async function link(clang: Clang, options: LinkOptions): Promise<Made> {
  const imports = [...exceptionTags, ...options.imports];
  const first = await linkWith(clang, options, imports);
  if (first.bytes) return first;
  const missing = [...first.messages.matchAll(undefinedSymbol)].map(([, name]) => name!);
  const hints = (options.unnamed ?? []).filter((library) => missing.some((name) => libraryOfSymbol(name) === library));
  if (hints.length > 0) return { bytes: undefined, messages: `${first.messages}${hints.map(hintOf).join('')}` };
  if (missing.length === 0 || !missing.every((name) => isOfCuda.test(name))) return first;
  return linkWith(clang, options, [...imports, ...missing]);
}

async function linkWith(clang: Clang, { objects, libraries, sysroot, base }: LinkOptions, imports: readonly string[]): Promise<Made> {
  const files: Tree = { sysroot, 'imports.txt': new TextEncoder().encode(imports.join('\n')) };
  const names = objects.map(({ name, bytes }, i) => {
    const path = `objects/${i}/${name.replace(/^.*\//, '')}`;
    putFile(files, path, bytes);
    return path;
  });
  const args = [
    ...['wasm-ld', '-m', 'wasm64', `--global-base=${base}`, '--no-stack-first', '-z', 'stack-size=8388608', '/sysroot/lib/crt1-command.o'],
    ...[...names, '-L/sysroot/lib', ...libraries.map((name) => `-l${name}`), '-lc++', '-lc++abi', '-lc'],
    ...['--allow-undefined-file=imports.txt', '--error-limit=0', '--export=malloc', '--export=free', '--export-table'],
    // These report an exception that nothing caught.
    ...['--export-if-defined=__cxa_begin_catch', '--export-if-defined=_ZSt9terminatev', '-S', '--gc-sections', '-o', output],
  ];
  const { bytes, messages } = made(await clang(args, files), output);
  return { bytes, messages: messages.replaceAll(/objects\/\d+\//g, '') };
}

function made({ code, files, messages }: Outcome, name: string): Made {
  const bytes = code === 0 ? files[name] : undefined;
  return { bytes: bytes instanceof Uint8Array ? bytes : undefined, messages: withOwnPaths(messages) };
}
