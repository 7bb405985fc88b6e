/** `mma.sp` against an NVIDIA H200: integers and halves bit for bit, singles to the last bits (`scripts/record/wgmma`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { launchMetallib } from '../support/launch.ts';
import { metallibOf } from '../support/wgmma-trials.ts';

const test = suite('h200/mma-sparse');

interface Product {
  readonly instruction: string;
  readonly type: string;
  readonly ptx: string;
  readonly words: string;
  readonly after: string;
}
const path = join(import.meta.dirname, '../../fixtures/h200/wgmma/sparse.json.gz');
const { products } = JSON.parse(gunzipSync(readFileSync(path)).toString()) as { products: Product[] };
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));

for (const { instruction, type, ptx, words, after } of products)
  test(instruction, () => {
    const wanted = bytesOf(after);
    const args = [bytesOf(words), new Uint8Array(wanted.length)];
    const found = launchMetallib(metallibOf(ptx), { kernel: 'k', blocks: 1, threads: 32, args })[1]!.slice();
    // Each thread has four words, of which halves fill two.
    const used = (_: number, i: number): boolean => type !== 'f16' || i % 4 < 2;
    if (type !== 'f32') {
      const list = (bytes: Uint8Array): number[] => [...new Uint32Array(bytes.buffer)].filter(used);
      return assert.equal(list(found), list(wanted));
    }
    const [a, b] = [found, wanted].map((bytes) => new Float32Array(bytes.buffer)) as [Float32Array, Float32Array];
    for (const [i, value] of b.entries()) assert.ok(Math.abs(a[i]! - value) <= Math.abs(value) * 2 ** -18, `${i}: ${a[i]}, not ${value}`);
  });

test.run();
