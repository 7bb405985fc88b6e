/**
 * Compiles the fixtures of the headers and records what nvcc's code of the same sources gives on the CPU device.
 *
 * `bun scripts/record/headers.ts CLANG`, where CLANG is the folder of the npm package `@yowasp/clang`; needs nvcc.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { headerDigests, headerFixtures, headersHash, includeFolder, wordsPerThread } from '../../spec/support/headers.ts';

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

/** Writes the bitcode of each fixture and `recorded.json`. */
async function main(clang: string): Promise<void> {
  const { runLLVM } = await import(join(clang, 'gen/bundle.js'));
  const inc = treeOf(includeFolder);
  for (const name of [...Object.keys(wordsPerThread), 'math', 'random']) {
    const source = { [`${name}.cu`]: new Uint8Array(readFileSync(join(headerFixtures, `${name}.cu`))) };
    const args = ['clang++', ...options.split(' '), '-o', 'out.bc', '-x', 'cuda', `${name}.cu`];
    const files = await runLLVM(args, { ...source, inc });
    writeFileSync(join(headerFixtures, `${name}.bc.gz`), gzipSync(files['out.bc'], { level: 9 }));
  }
  const folder = mkdtempSync(join(tmpdir(), 'headers-'));
  const digests: Record<string, Record<string, string[]>> = {};
  for (const [name, words] of Object.entries(wordsPerThread)) {
    const ptx = join(folder, `${name}.ptx`);
    const { status, stderr } = spawnSync('nvcc', [
      '-ptx',
      '-arch=sm_80',
      '-std=c++17',
      '-w',
      join(headerFixtures, `${name}.cu`),
      '-o',
      ptx,
    ]);
    if (status !== 0) throw new Error(String(stderr));
    digests[name] = await headerDigests(readFileSync(ptx, 'utf8'), words);
  }
  writeFileSync(join(headerFixtures, 'recorded.json'), `${JSON.stringify({ headers: headersHash(), digests }, undefined, 1)}\n`);
}

await main(process.argv[2]!);
