/**
 * Compiles C, C++ and CUDA files with the sysroot of `sysroot.ts`, both halves of a `.cu` file, and links them to one program.
 *
 *     bun scripts/toolchain/build-program.ts OUT.wasm [-IFOLDER] [-DNAME=VALUE] FILE…
 *
 * Headers of CUDA are those of `cuda/include`, or of CUMETAL_INCLUDE.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';
import { programWindow } from '../../src/program/memory.ts';
import { fileIn, openToolchain, type Tree, treeOf } from './clang.ts';

const root = join(import.meta.dirname, '../..');
const hostTriple = 'wasm64-unknown-wasip1';
const deviceTriple = 'nvptx64-nvidia-cuda';
const emulation = ['SIGNAL', 'MMAN', 'GETPID', 'PROCESS_CLOCKS'].map((name) => `-D_WASI_EMULATED_${name}`);

const cxxIncludes = ['-internal-isystem', '/usr/include/c++/v1'];
const includes = ['-internal-isystem', '/usr/include', '-internal-isystem', '/sysroot/include'];
const common = [
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
  ...emulation,
];
const exceptions = [
  '-fcxx-exceptions',
  '-fexceptions',
  '-exception-model=wasm',
  '-mllvm',
  '-wasm-enable-eh',
  '-target-feature',
  '+exception-handling',
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

const [out = 'a.wasm', ...rest] = process.argv.slice(2);
const flags = rest.filter((word) => word.startsWith('-'));
const sourcesGiven = rest.filter((word) => !word.startsWith('-'));
const toolchain = await openToolchain();
const sysroot = treeOf(process.env.CUMETAL_SYSROOT ?? join(root, '.cache/sysroot'));
const cuda = treeOf(process.env.CUMETAL_INCLUDE ?? join(root, 'cuda/include'));

/** Files of the program by absolute path: the folders of the sources and of `-I`. */
const files: Tree = { sysroot, cuda };
const userFlags: string[] = [];
for (const [i, folder] of [...new Set(sourcesGiven.map((path) => dirname(resolve(path))))].entries()) {
  files[`src${i}`] = treeOf(folder);
  userFlags.push(`-I/src${i}`);
}
for (const [i, flag] of flags.filter((each) => each.startsWith('-I')).entries()) {
  files[`inc${i}`] = treeOf(resolve(flag.slice(2)));
  userFlags.push(`-I/inc${i}`);
}
userFlags.push(...flags.filter((each) => each.startsWith('-D')));
const folders = [...new Set(sourcesGiven.map((path) => dirname(resolve(path))))];
const insideOf = (path: string): string => `/src${folders.indexOf(dirname(resolve(path)))}/${basename(path)}`;

async function run(args: readonly string[], more: Tree, output: string): Promise<Uint8Array> {
  const result = await toolchain.run(args, { ...files, ...more });
  if (!result) process.exit(1);
  return fileIn(result, output);
}

const objects: Tree = {};
for (const [i, path] of sourcesGiven.entries()) {
  const source = insideOf(path);
  const object = `${i}.o`;
  if (/\.c$/.test(path)) {
    const args = ['clang', '-cc1', ...hostFlags, ...common, ...includes, '-std=gnu17', ...userFlags, '-o', object, '-x', 'c', source];
    objects[object] = await run(args, {}, object);
  } else if (/\.cu$/.test(path)) {
    const language = ['-std=c++17', '-target-sdk-version=12.0', '-internal-isystem', '/cuda', ...cxxIncludes, ...includes];
    const cudaFlags = [...language, '-include', 'cuda_runtime.h', ...userFlags];
    const bitcode = await run(['clang++', '-cc1', ...deviceFlags, ...common, ...cudaFlags, '-o', 'd.bc', '-x', 'cuda', source], {}, 'd.bc');
    const diagnostics = new Diagnostics();
    const ptx = ptxOfBitcode(bitcode, diagnostics);
    if (ptx === undefined) {
      for (const { code, message } of diagnostics.list) console.error(`${code}: ${message}`);
      process.exit(2);
    }
    if (process.env.CUMETAL_PTX) writeFileSync(process.env.CUMETAL_PTX, ptx);
    const gpu = { 'code.ptx': new TextEncoder().encode(`${ptx}\0`) };
    const gpuFlags = ['-aux-triple', deviceTriple, '-fcuda-include-gpubinary', 'code.ptx'];
    const args = ['clang++', '-cc1', ...hostFlags, ...common, ...exceptions, ...gpuFlags, ...cudaFlags, '-o', object, '-x', 'cuda', source];
    objects[object] = await run(args, gpu, object);
  } else {
    const language = ['-std=c++17', ...cxxIncludes, ...includes, ...userFlags];
    objects[object] = await run(
      ['clang++', '-cc1', ...hostFlags, ...common, ...exceptions, ...language, '-o', object, '-x', 'c++', source],
      {},
      object,
    );
  }
}
const base = programWindow * 2 ** 32 + 65_536;
const link = [
  ...['wasm-ld', '-m', 'wasm64', `--global-base=${base}`, '--no-stack-first', '-z', 'stack-size=8388608', '/sysroot/lib/crt1-command.o'],
  ...[...Object.keys(objects), '-L/sysroot/lib', '-lc++', '-lc++abi', '-lc', '--allow-undefined', '--export=malloc', '--export=free'],
  ...['--export-table', '--strip-debug', '-o', 'out.wasm'],
];
writeFileSync(out, await run(link, objects, 'out.wasm'));
console.error(`${out}: ${readFileSync(out).length} bytes`);
