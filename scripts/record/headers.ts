/**
 * Compiles the fixtures of the headers and records what nvcc's code of the same sources gives on the CPU device, and which numbers nvcc's
 * headers have for the names of ours; it stops where ours differ.
 *
 * `bun scripts/record/headers.ts CLANG [NAME…]`, where CLANG is the folder of the npm package `@yowasp/clang`; needs nvcc, and cuRAND's headers
 * in the folder that CURAND_INCLUDE names if they are not nvcc's own. With names only those fixtures are compiled, which is enough where no
 * other one includes the headers that have changed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { headerDigests, headerFixtures, headersHash, includeFolder, wordsPerThread } from '../../spec/support/headers.ts';
import { headerExpressions } from './header-names.ts';

type Tree = { [name: string]: Tree | Uint8Array };

const treeOf = (folder: string): Tree =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name);
      return [entry.name, entry.isDirectory() ? treeOf(path) : new Uint8Array(readFileSync(path))];
    }),
  );

const options =
  '-cc1 -triple nvptx64-nvidia-cuda -aux-triple wasm64-unknown-wasip1 -fcuda-is-device -fno-threadsafe-statics -target-cpu sm_80 ' +
  '-target-feature +ptx80 -ffp-contract=fast -target-sdk-version=12.0 -O2 -disable-free -fgnuc-version=4.2.1 -resource-dir /usr -isysroot /usr ' +
  '-internal-isystem inc -internal-isystem /usr/include/wasm32-wasip1/c++/v1 -internal-isystem /usr/include/c++/v1 -internal-isystem /usr/include ' +
  '-internal-isystem /usr/include/wasm32-wasip1 -std=c++17 -w -include cuda_runtime.h -emit-llvm-bc';

const prelude = ['cuda_runtime.h', 'cuda.h', 'device_types.h', 'nvtx3/nvToolsExt.h'].map((name) => `#include <${name}>`);

/** What nvcc's headers say of the numbers of ours, by name. Needs no GPU: the program has no device code. */
function numbersOfNvcc(folder: string): Readonly<Record<string, number>> {
  const lines = [...headerExpressions()].map(([name, value]) => `  printf("%s\\n  \\"${name}\\": %lld", comma, ${value}), comma = ",";`);
  const text = [...prelude, '#include <cstdio>', 'int main() {', '  const char *comma = "{";', ...lines, '  printf("\\n}\\n");', '}', ''];
  const [source, program] = [join(folder, 'numbers.cu'), join(folder, 'numbers')];
  writeFileSync(source, text.join('\n'));
  const { status, stderr } = spawnSync('nvcc', ['-w', '-o', program, source]);
  if (status !== 0) throw new Error(String(stderr));
  return JSON.parse(String(spawnSync(program).stdout)) as Record<string, number>;
}

/** Writes the bitcode of each fixture, `numbers.json` and `recorded.json`. */
async function main(clang: string, only: readonly string[]): Promise<void> {
  const isChosen = (name: string): boolean => only.length === 0 || only.includes(name);
  const { runLLVM } = await import(join(clang, 'gen/bundle.js'));
  const inc = treeOf(includeFolder);
  const folder = mkdtempSync(join(tmpdir(), 'headers-'));
  const numbers = numbersOfNvcc(folder);
  const claims = [...headerExpressions()].map(([name, value]) => `static_assert(${value} == ${numbers[name]}, "${name}");`);
  const asserts = { 'numbers.cu': new TextEncoder().encode([...prelude, ...claims, ''].join('\n')) };
  await runLLVM(['clang++', ...options.split(' '), '-o', 'out.bc', '-x', 'cuda', 'numbers.cu'], { ...asserts, inc });
  writeFileSync(join(headerFixtures, 'numbers.json'), `${JSON.stringify(numbers, undefined, 1)}\n`);
  for (const name of [...Object.keys(wordsPerThread), 'math', 'random', 'clusters'].filter(isChosen)) {
    const source = { [`${name}.cu`]: new Uint8Array(readFileSync(join(headerFixtures, `${name}.cu`))) };
    const args = ['clang++', ...options.split(' '), '-o', 'out.bc', '-x', 'cuda', `${name}.cu`];
    const files = await runLLVM(args, { ...source, inc });
    writeFileSync(join(headerFixtures, `${name}.bc.gz`), gzipSync(files['out.bc'], { level: 9 }));
  }
  const path = join(headerFixtures, 'recorded.json');
  const { digests } = JSON.parse(readFileSync(path, 'utf8')) as { digests: Record<string, Record<string, string[]>> };
  for (const [name, words] of Object.entries(wordsPerThread).filter(([each]) => isChosen(each))) {
    const ptx = join(folder, `${name}.ptx`);
    const { status, stderr } = spawnSync('nvcc', [
      '-ptx',
      // From sm_80 on the objects of libcu++ are made of barriers in memory, which this compiler refuses.
      name === 'objects' ? '-arch=sm_75' : '-arch=sm_80',
      '-std=c++17',
      '-w',
      ...(process.env.CURAND_INCLUDE ? [`-I${process.env.CURAND_INCLUDE}`] : []),
      join(headerFixtures, `${name}.cu`),
      '-o',
      ptx,
    ]);
    if (status !== 0) throw new Error(String(stderr));
    digests[name] = await headerDigests(readFileSync(ptx, 'utf8'), words);
  }
  writeFileSync(path, `${JSON.stringify({ headers: headersHash(), digests }, undefined, 1)}\n`);
}

await main(process.argv[2]!, process.argv.slice(3));
