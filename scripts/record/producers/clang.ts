/**
 * Compiles fixtures/producers/cuda_kernels.cu to LLVM IR with clang, for `cuda_kernels.py`, whose machine has LLVM's back end.
 *
 * `bun scripts/record/producers/clang.ts CLANG OUT_FOLDER`, where CLANG is the folder of the npm package `@yowasp/clang`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { includeFolder } from '../../../spec/support/headers.ts';

type Tree = { [name: string]: Tree | Uint8Array };

const treeOf = (folder: string): Tree =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name);
      return [entry.name, entry.isDirectory() ? treeOf(path) : new Uint8Array(readFileSync(path))];
    }),
  );

/** Names of files, and what they are compiled with: optimised, with lines, and for a debugger. */
const kinds = {
  'clang-O2': '-O2',
  'clang-O2-lines': '-O2 -debug-info-kind=line-directives-only -dwarf-version=2',
  'clang-O0-debug': '-O0 -disable-O0-optnone -debug-info-kind=standalone -dwarf-version=2 -debugger-tuning=gdb',
};

const options =
  '-cc1 -triple nvptx64-nvidia-cuda -aux-triple wasm64-unknown-wasip1 -fcuda-is-device -fno-threadsafe-statics -target-cpu sm_80 ' +
  '-target-feature +ptx80 -ffp-contract=fast -target-sdk-version=12.0 -disable-free -fgnuc-version=4.2.1 -resource-dir /usr -isysroot /usr ' +
  '-internal-isystem inc -internal-isystem /usr/include/wasm32-wasip1/c++/v1 -internal-isystem /usr/include/c++/v1 -internal-isystem /usr/include ' +
  '-internal-isystem /usr/include/wasm32-wasip1 -std=c++17 -w -include cuda_runtime.h -emit-llvm';

const [clang, out] = process.argv.slice(2);
const { runLLVM } = await import(join(clang!, 'gen/bundle.js'));
const inc = treeOf(includeFolder);
const source = new Uint8Array(readFileSync(join(import.meta.dirname, '../../../fixtures/producers/cuda_kernels.cu')));
for (const [name, more] of Object.entries(kinds)) {
  const words = ['clang++', ...`${options} ${more}`.split(' '), '-o', 'out.ll', '-x', 'cuda', 'cuda_kernels.cu'];
  const files = await runLLVM(words, { 'cuda_kernels.cu': source, inc });
  writeFileSync(join(out!, `${name}.ll`), files['out.ll']);
}
