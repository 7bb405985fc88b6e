/**
 * Kernels that Triton compiled for sm_90, with products by warp groups (`wgmma`) and tiles of 64 by 64, against their functions in doubles
 * (`fixtures/producers/triton_kernels.py`), and one whose tiles are those of its recording for sm_80 against what an H200 made of that. One of them runs
 * by default; `CUMETAL_PRODUCERS=all` runs every one.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { bytesOf, contentsBefore, outputsOf, readFamily, readTexts, relativeError } from '../support/producers.ts';
import { type Element, numberOf, randomBytes } from '../support/wgmma.ts';
import { metallibOf } from '../support/wgmma-trials.ts';

const test = suite('h200/triton-groups');

const isWhole = process.env.CUMETAL_PRODUCERS === 'all';
const testWhole: typeof test | (() => void) = isWhole ? test : () => {};

const texts = readTexts('sm_90');
const sharedBytes = 96 * 1024;

/** A matrix of random elements, and its numbers. */
function random(element: Element, count: number, seed: number): { readonly bytes: Uint8Array; readonly numbers: Float64Array } {
  const step = element === 's8' || element === 'e5m2' ? 1 : 2;
  const bytes = randomBytes(element, count * step, seed);
  const view = new DataView(bytes.buffer);
  return {
    bytes,
    numbers: Float64Array.from({ length: count }, (_, i) => numberOf(element, step === 1 ? bytes[i]! : view.getUint16(2 * i, true))),
  };
}

const halves = (element: 'f16' | 'bf16', bytes: Uint8Array): Float64Array => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) => numberOf(element, view.getUint16(2 * i, true)));
};

/** Checks c[i, j] against the sum of a[i, l] b[l, j]; `at` is the index in b. */
function checkProduct(
  got: ArrayLike<number>,
  a: Float64Array,
  b: Float64Array,
  [m, n, k]: readonly [number, number, number],
  { isTransposed = false, tolerance = 0 },
): void {
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let [sum, size] = [0, 0];
      for (let l = 0; l < k; l++) {
        const term = a[i * k + l]! * b[isTransposed ? j * k + l : l * n + j]!;
        sum += term;
        size += Math.abs(term);
      }
      const allowed = size * (k + 1) * 2 ** -23 + Math.abs(sum) * tolerance;
      assert.ok(Math.abs(got[i * n + j]! - sum) <= allowed, `row ${i}, column ${j}: ${got[i * n + j]}, not ${sum}`);
    }
}

const launchOf = (name: string, kernel: string, blocks: number, args: Parameters<typeof launchMetallib>[1]['args']): Uint8Array[] =>
  launchMetallib(metallibOf(texts[name]!), {
    kernel,
    blocks,
    threads: 128,
    shared: sharedBytes,
    args: [...args, new Uint8Array(4096), new Uint8Array(4096)],
  });

testWhole('matmul_persistent: one block for all tiles', () => {
  const [a, b] = [random('f16', 128 * 64, 1), random('f16', 64 * 128, 2)];
  const out = launchOf('matmul_persistent.wide', 'matmul_persistent', 3, [a.bytes, b.bytes, new Uint8Array(128 * 128 * 2), 128, 128, 64]);
  checkProduct(halves('f16', out[2]!), a.numbers, b.numbers, [128, 128, 64], { isTransposed: true, tolerance: 2 ** -11 });
});

testWhole('matmul_batched: bfloats', () => {
  const [a, b] = [random('bf16', 64 * 64, 3), random('bf16', 64 * 64, 4)];
  const out = launchOf('matmul_batched.wide', 'matmul_batched', 1, [a.bytes, b.bytes, new Uint8Array(64 * 64 * 2), 64, 64, 64]);
  checkProduct(halves('bf16', out[2]!), a.numbers, b.numbers, [64, 64, 64], { tolerance: 2 ** -8 });
});

testWhole('matmul_fp8: e5m2', () => {
  const [a, b] = [random('e5m2', 64 * 64, 5), random('e5m2', 64 * 64, 6)];
  const small = ({ bytes }: { readonly bytes: Uint8Array }): Float64Array =>
    Float64Array.from(bytes, (byte) => numberOf('e5m2', byte & 0xbf));
  const out = launchOf('matmul_fp8.wide', 'matmul_fp8', 1, [a.bytes, b.bytes, new Float32Array(64 * 64), 64, 64]);
  checkProduct(new Float32Array(out[2]!.buffer, out[2]!.byteOffset, 64 * 64), small(a), small(b), [64, 64, 64], {});
});

test('matmul_split_k: bytes, exactly', () => {
  const [a, b] = [random('s8', 64 * 64, 7), random('s8', 64 * 64, 8)];
  const out = launchOf('matmul_split_k.wide', 'matmul_split_k', 1, [a.bytes, b.bytes, new Int32Array(64 * 64), 64, 64]);
  const got = new Int32Array(out[2]!.buffer, out[2]!.byteOffset, 64 * 64);
  // The first of two blocks along k: those with l / 32 even.
  const first = Float64Array.from(a.numbers, (each, i) => ((i % 64) >> 5 ? 0 : each));
  for (let i = 0; i < 64; i++)
    for (let j = 0; j < 64; j++) {
      let sum = 0;
      for (let l = 0; l < 64; l++) sum += first[i * 64 + l]! * b.numbers[l * 64 + j]!;
      assert.is(got[i * 64 + j], sum, `row ${i}, column ${j}`);
    }
});

testWhole('attention_forward: causal attention of bfloats', () => {
  const [length, depth, scale] = [64, 64, 0.125];
  const [q, k, v] = [9, 10, 11].map((seed) => random('bf16', length * depth, seed));
  const scaleBits = new Uint32Array(Float32Array.of(scale).buffer)[0]!;
  const out = launchOf('attention_forward.wide', 'attention_forward', 1, [
    q!.bytes,
    k!.bytes,
    v!.bytes,
    new Uint8Array(length * depth * 2),
    new Float32Array(length),
    length,
    scaleBits,
  ]);
  const got = halves('bf16', out[3]!);
  for (let i = 0; i < length; i++) {
    const scores = Array.from({ length: i + 1 }, (_, j) => {
      let sum = 0;
      for (let l = 0; l < depth; l++) sum += q!.numbers[i * depth + l]! * k!.numbers[j * depth + l]!;
      return sum * scale;
    });
    const top = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - top));
    const norm = powers.reduce((sum, each) => sum + each, 0);
    for (let l = 0; l < depth; l++) {
      const sum = powers.reduce((all, each, j) => all + each * v!.numbers[j * depth + l]!, 0);
      const size = powers.reduce((all, each, j) => all + Math.abs(each * v!.numbers[j * depth + l]!), 0);
      // Weights are rounded to bfloats, and so is the result.
      assert.ok(
        Math.abs(got[i * depth + l]! - sum / norm) <= (size / norm) * 2 ** -7,
        `row ${i}, column ${l}: ${got[i * depth + l]}, not ${sum / norm}`,
      );
    }
  }
});

testWhole('flex_attention backward: as an H200 with the code for sm_80', () => {
  const name = 'flexible_attention.triton_tem_fused_flex_attention_backward_1';
  const recorded = readFamily('inductor').kernels.find((kernel) => kernel.name === name)!;
  const source = new SourceFile(`${name}.ptx`, texts[name]!);
  const compiled = compile(source, { target: 'cpu' }, new Diagnostics(source))!;
  const outputs = outputsOf(compiled, { ...recorded, sharedBytes }, 'auto');
  for (const [i, argument] of recorded.args!.entries()) {
    if (!argument.buffer) continue;
    const want = argument.after === undefined ? contentsBefore(argument) : bytesOf(argument.after);
    const error = relativeError(argument.buffer, outputs.get(i)!.subarray(0, want.length), want);
    assert.ok(error <= 2 ** -10, `${argument.name} differs by 2^${Math.log2(error).toFixed(1)}`);
  }
});

test.run();
