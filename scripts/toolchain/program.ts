/** Compiles and links the files of one program with the sysroot of `sysroot.ts`: both halves of a `.cu` file, C and C++. */
import { basename } from 'node:path';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';
import { programWindow } from '../../src/program/memory.ts';
import { fileIn, type Toolchain, type Tree } from './clang.ts';

const hostTriple = 'wasm64-unknown-wasip1';
const deviceTriple = 'nvptx64-nvidia-cuda';
const emulation = ['SIGNAL', 'MMAN', 'GETPID', 'PROCESS_CLOCKS'].map((name) => `-D_WASI_EMULATED_${name}`);

const cxxIncludes = ['-internal-isystem', '/usr/include/c++/v1'];
const includes = ['-internal-isystem', '/usr/include', '-internal-isystem', '/sysroot/include'];
const common = [
  ...[
    '-D_GNU_SOURCE',
    '-disable-free',
    '-fgnuc-version=4.2.1',
    '-resource-dir',
    '/usr',
    '-O2',
    '-w',
    '-Wno-register',
    '-ferror-limit',
    '8',
  ],
  ...emulation,
];
const exceptions = [
  ...['-fcxx-exceptions', '-fexceptions', '-exception-model=wasm', '-mllvm', '-wasm-enable-eh', '-target-feature', '+exception-handling'],
];
const hostFlags = [
  ...['-triple', hostTriple, '-emit-obj', '-mrelocation-model', 'static', '-fvisibility=hidden', '-ffp-contract=on'],
  ...['-target-feature', '+bulk-memory', '-target-feature', '+sign-ext', '-target-feature', '+nontrapping-fptoint'],
];
const deviceFlags = [
  ...['-triple', deviceTriple, '-aux-triple', hostTriple, '-fcuda-is-device', '-fno-threadsafe-statics', '-target-cpu', 'sm_80'],
  ...['-target-feature', '+ptx80', '-ffp-contract=fast', '-fcxx-exceptions', '-fexceptions', '-emit-llvm-bc'],
  ...['-debug-info-kind=line-tables-only', '-dwarf-version=2'],
];

/** One file: its absolute path among the files given, what it is, and flags for it alone (`-I`, `-D`, `-std`, `-include`). */
export interface Unit {
  readonly path: string;
  readonly language: 'cuda' | 'c++' | 'c';
  readonly flags: readonly string[];
}

export type Stage = 'device compile' | 'translation' | 'host compile' | 'link';

export type Built =
  | { readonly wasm: Uint8Array; readonly ptx: ReadonlyMap<string, string> }
  | { readonly stage: Stage; readonly messages: string };

/** What every program is compiled with: clang, the tree of the sysroot, and CUDA's headers. */
export interface Setup {
  readonly toolchain: Toolchain;
  readonly sysroot: Tree;
  readonly cuda: Tree;
}

class Failed extends Error {
  readonly stage: Stage;
  constructor(stage: Stage, messages: string) {
    super(messages);
    this.stage = stage;
  }
}

/** What a file is by its name; undefined for no source file. */
export function languageOf(path: string): Unit['language'] | undefined {
  if (path.endsWith('.cu')) return 'cuda';
  if (path.endsWith('.c')) return 'c';
  return /\.(cpp|cc|cxx|C|c\+\+)$/.test(path) ? 'c++' : undefined;
}

class Builder {
  readonly #setup: Setup;
  readonly #files: Tree;
  readonly ptx = new Map<string, string>();

  constructor(setup: Setup, files: Tree) {
    this.#setup = setup;
    this.#files = { ...files, sysroot: setup.sysroot, cuda: setup.cuda };
  }

  async run(stage: Stage, args: readonly string[], more: Tree, output: string): Promise<Uint8Array> {
    let said = '';
    const result = await this.#setup.toolchain.run(args, { ...this.#files, ...more }, (text) => {
      said += text;
    });
    if (!result) throw new Failed(stage, said);
    return fileIn(result, output);
  }

  object(unit: Unit): Promise<Uint8Array> {
    if (unit.language === 'cuda') return this.#cuda(unit);
    const { flags, path, language } = unit;
    const standard = flags.some((flag) => flag.startsWith('-std=')) ? [] : [language === 'c' ? '-std=gnu17' : '-std=gnu++17'];
    const own = language === 'c' ? includes : [...exceptions, '-internal-isystem', '/cuda', ...cxxIncludes, ...includes];
    const tool = language === 'c' ? 'clang' : 'clang++';
    const args = [tool, '-cc1', ...hostFlags, ...common, ...own, ...standard, ...flags, '-o', 'out.o', '-x', language, path];
    return this.run('host compile', args, {}, 'out.o');
  }

  async #cuda({ path, flags }: Unit): Promise<Uint8Array> {
    const standard = flags.some((flag) => flag.startsWith('-std=')) ? [] : ['-std=c++17'];
    const language = [...standard, '-target-sdk-version=12.0', '-internal-isystem', '/cuda', ...cxxIncludes, ...includes];
    const all = [...language, '-include', 'cuda_runtime.h', ...flags];
    const device = ['clang++', '-cc1', ...deviceFlags, ...common, ...all, '-o', 'd.bc', '-x', 'cuda', path];
    const bitcode = await this.run('device compile', device, {}, 'd.bc');
    const diagnostics = new Diagnostics();
    const ptx = ptxOfBitcode(bitcode, diagnostics);
    if (ptx === undefined) throw new Failed('translation', diagnostics.list.map(({ code, message }) => `${code}: ${message}`).join('\n'));
    this.ptx.set(path, ptx);
    const gpu = { 'code.ptx': new TextEncoder().encode(`${ptx}\0`) };
    const gpuFlags = ['-aux-triple', deviceTriple, '-fcuda-include-gpubinary', 'code.ptx'];
    const host = ['clang++', '-cc1', ...hostFlags, ...common, ...exceptions, ...gpuFlags, ...all, '-o', 'out.o', '-x', 'cuda', path];
    return this.run('host compile', host, gpu, 'out.o');
  }
}

const base = programWindow * 2 ** 32 + 65_536;
const linkFlags = [
  ...['-m', 'wasm64', `--global-base=${base}`, '--no-stack-first', '-z', 'stack-size=8388608', '/sysroot/lib/crt1-command.o'],
  ...['-L/sysroot/lib', '--allow-undefined', '--export=malloc', '--export=free', '--export-table', '--strip-debug', '-o', 'out.wasm'],
  ...['--export-if-defined=__cxa_begin_catch', '--export-if-defined=_ZSt9terminatev'],
];

/** Compiles and links a program. `files` is what its sources and their headers are in, from the root. */
export async function buildProgram(setup: Setup, units: readonly Unit[], files: Tree): Promise<Built> {
  const builder = new Builder(setup, files);
  const objects: Tree = {};
  try {
    for (const [i, unit] of units.entries()) objects[`${i}_${basename(unit.path).replace(/\W/g, '_')}.o`] = await builder.object(unit);
    const link = ['wasm-ld', ...linkFlags, ...Object.keys(objects), '-lc++', '-lc++abi', '-lc'];
    return { wasm: await builder.run('link', link, objects, 'out.wasm'), ptx: builder.ptx };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return { stage: error.stage, messages: error.message };
  }
}
