/**
 * WGSL in Chromium, where it is installed, on the driver for Vulkan that comes with it, which takes subnormal numbers for zeros and does not
 * fuse: its compiler takes the texts of every example, and the helper functions of floats give what IEEE 754 demands.
 */

import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { textOf } from '../../src/cli/build-text.ts';
import { visitChromium } from '../support/browser/visit.ts';
import type { DeviceAnswer } from '../support/browser/webgpu-worker.ts';
import { exampleNames, exampleText } from '../support/examples.ts';
import { has } from '../support/need.ts';

const test = suite('browser/wgsl');

const print = (name: string, ptx: string): string => {
  const source = new SourceFile(name, ptx);
  return textOf(source, 'wgsl', {}, new Diagnostics(source)) ?? '';
};

// ── floats ──

/** Pairs of floats: subnormal ones, zeros, infinities and NaN, and numbers of small and usual size. */
function samples(): Float32Array {
  // The last row makes ties: halves of odd numbers, and products next to 1.
  const special = [
    ...[0, 0x80000000, 1, 0x807fffff, 0x400000, 0x800000, 0x80ffffff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000],
    ...[0x3f000000, 0x3fc00000, 0x39800000, 0x3a400000, 0xba400000, 0x00800003, 0x3f800001],
  ];
  const words: number[] = special.flatMap((a) => special.flatMap((b) => [a, b]));
  for (let state = 1; words.length < 4096; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const exponent = words.length % 4 < 2 ? (state >>> 9) % 150 : 100 + ((state >>> 9) % 50);
    words.push(((state & 0x80000000) | (exponent << 23) | (Math.imul(state, 2654435761) >>> 9)) >>> 0);
  }
  return new Float32Array(Uint32Array.from(words).buffer);
}

const operations: readonly (readonly [line: string, of: (a: number, b: number) => number])[] = [
  ['add.rn.f32 r, a, b;', (a, b) => Math.fround(a + b)],
  ['sub.rn.f32 r, a, b;', (a, b) => Math.fround(a - b)],
  ['mul.rn.f32 r, a, b;', (a, b) => Math.fround(a * b)],
  ['div.rn.f32 r, a, b;', (a, b) => Math.fround(a / b)],
  ['sqrt.rn.f32 r, a;', (a) => Math.fround(Math.sqrt(a))],
  // A double has every product, and its sum with a number that is far smaller or larger.
  ['fma.rn.f32 r, a, b, 0f3f800000;', (a, b) => fusedWithOne(a, b)],
  ['neg.f32 c, a; fma.rn.f32 r, a, b, c;', (a, b) => fusedWithLess(a, b)],
  ['cvt.rmi.f32.f32 r, a;', (a) => Math.floor(a)],
];

/** a * b + c by exact integers, of finite numbers. */
function exactly(a: number, b: number, c: number): number {
  if (![a, b, c].every(Number.isFinite)) return Math.fround(a * b + c);
  const scaled = (x: number): bigint => {
    const bits = new Uint32Array(Float32Array.of(x).buffer)[0]!;
    const exponent = (bits >>> 23) & 255;
    const number = BigInt(exponent === 0 ? bits & 0x7fffff : (bits & 0x7fffff) | 0x800000) << BigInt(Math.max(1, exponent) - 1);
    return bits >>> 31 === 1 ? -number : number;
  };
  // In units of 2^-298.
  const total = scaled(a) * scaled(b) + scaled(c) * 2n ** 149n;
  if (total === 0n) return a * b + c;
  const size = total < 0n ? -total : total;
  const drop = Math.max(149, size.toString(2).length - 24);
  const kept = size >> BigInt(drop);
  const rest = size - (kept << BigInt(drop));
  const half = 1n << BigInt(drop - 1);
  const rounded = kept + (rest > half || (rest === half && (kept & 1n) === 1n) ? 1n : 0n);
  const exponent = drop - 298;
  return Math.sign(Number(total)) * Math.fround(Number(rounded) * 2 ** Math.max(exponent, -1000));
}
const fusedWithOne = (a: number, b: number): number => exactly(a, b, 1);
const fusedWithLess = (a: number, b: number): number => exactly(a, b, -a);

const floatKernel = `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry floats(.param .u64 from, .param .u64 to)
{
  .reg .b32 t, u; .reg .f32 a, b, c, r; .reg .b64 p, o, w;
  ld.param.u64 p, [from]; ld.param.u64 o, [to]; mov.u32 t, %ctaid.x; mov.u32 u, %tid.x; mad.lo.u32 t, t, 64, u;
  mul.wide.u32 w, t, 8; add.u64 p, p, w; mul.wide.u32 w, t, ${4 * operations.length}; add.u64 o, o, w;
  ld.global.f32 a, [p]; ld.global.f32 b, [p+4];
${operations.map(([line], i) => `  ${line} st.global.f32 [o+${4 * i}], r;`).join('\n')}
  ret;
}`;

// ── the page ──

const page = `<!doctype html><script type="module">
const tell = (what) => fetch('/told', { method: 'POST', body: JSON.stringify(what) });
try {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) await tell({});
  else {
    const device = await adapter.requestDevice();
    const { texts, floats, from } = await (await fetch('/work')).json();
    const taken = [];
    for (const [name, code] of texts) {
      const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
      taken.push([name, messages.filter(({ type }) => type === 'error').map(({ lineNum, message }) => lineNum + ': ' + message)]);
    }
    const module = device.createShaderModule({ code: floats });
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module, constants: { block_x: 64, block_y: 1, block_z: 1 } } });
    const count = from.length / 2, start = 256, end = start + 4 * from.length, size = end + 4 * count * ${operations.length};
    const arena = device.createBuffer({ size, usage: 0x8c }), launch = device.createBuffer({ size: 64, usage: 0x88 }), copy = device.createBuffer({ size, usage: 9 });
    device.queue.writeBuffer(arena, start, Uint32Array.from(from));
    device.queue.writeBuffer(launch, 0, Uint32Array.of(count / 64, 1, 1, 0, 0, 0, 0, 0, start, 0, end, 0));
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [arena, launch].map((buffer, binding) => ({ binding, resource: { buffer } })) });
    const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
    pass.setPipeline(pipeline); pass.setBindGroup(0, group); pass.dispatchWorkgroups(count / 64); pass.end();
    encoder.copyBufferToBuffer(arena, 0, copy, 0, size);
    device.queue.submit([encoder.finish()]);
    await copy.mapAsync(1);
    const results = [...new Uint32Array(copy.getMappedRange(), end)];
    const worker = new Worker('/worker.js', { type: 'module' });
    const answered = await new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => resolve({ error: message });
    });
    await tell({ taken, results, device: answered });
  }
} catch (error) { await tell({ error: String(error) }); }
</script>`;

interface Told {
  readonly taken?: readonly (readonly [string, readonly string[]])[];
  readonly results?: readonly number[];
  readonly device?: DeviceAnswer;
  readonly error?: string;
}

const visit = (): Promise<Told> =>
  visitChromium({
    page,
    work: {
      texts: exampleNames.map((name) => [name, print(name, exampleText(name))]),
      floats: print('floats', floatKernel),
      from: [...new Uint32Array(samples().buffer)],
    },
    // It runs a kernel on the WebGPU device of the package.
    worker: join(import.meta.dirname, '../support/browser/webgpu-worker.ts'),
    limitMs: 120_000,
    state: 'says nothing of WGSL',
  });

const found = has('chromium') ? await visit() : undefined;
if (found?.error) throw new Error(found.error);

if (found?.taken) {
  test('the compiler takes the text of every example', () => {
    assert.equal(
      found.taken,
      exampleNames.map((name) => [name, []]),
    );
  });

  test('floats are those of IEEE 754', () => {
    const given = new Float32Array(Uint32Array.from(found.results!).buffer);
    const from = samples();
    const wrong: string[] = [];
    for (let i = 0; i < from.length / 2; i++)
      operations.forEach(([line, of], k) => {
        const [a, b] = [from[2 * i]!, from[2 * i + 1]!];
        const result = given[operations.length * i + k]!;
        if (!Object.is(result, of(a, b))) wrong.push(`${line} ${a}, ${b}: ${result} instead of ${of(a, b)}`);
      });
    assert.equal(wrong.slice(0, 5), []);
  });

  test('the device runs a kernel in a worker of the page', () => {
    // Blocks of 300 threads, which two threads of an invocation run: the sum of 0 to 299, at an address that the kernel finds in memory.
    const { product, ...sums } = found.device!;
    assert.equal(sums, { kind: 'webgpu', said: [], words: [44_850, 0, 44_850, 0] });
    // The mean square is 15; the root is approximate.
    const expected = [24, 10].map((value) => value / Math.sqrt(15));
    assert.ok(
      product!.every((value, i) => Math.abs(value - expected[i]!) < 1e-6 * expected[i]!),
      `${product} instead of ${expected}`,
    );
  });
} else test.skip(`the texts in Chromium: ${found ? 'it has no WebGPU here' : 'it is not installed'}`);

test.run();
