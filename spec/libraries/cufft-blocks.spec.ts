/**
 * Passes over blocks, which GPUs run, on the CPU device: against the transform of a few impulses, which has a closed form for every length.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type BlockForm, blockPassKernel, sequencesOf, threadsOf } from '../../src/cufft/block-pass.ts';
import * as cufft from '../../src/cufft/index.ts';
import type { TransformType } from '../../src/cufft/layout.ts';
import { CufftPlan } from '../../src/cufft/plan.ts';
import { blocksOf, rootsOfUnity } from '../../src/cufft/tables.ts';
import { Device } from '../../src/index.ts';
import { impulsesOf, indexOf, product, sumAt } from '../support/impulses.ts';
import { close, numbers } from '../support/library.ts';
import { prove } from '../support/prove.ts';

const test = suite('libraries/cufft-blocks');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

const planOf = (n: readonly number[], type: TransformType, batch: number): CufftPlan => {
  const usual =
    n.length === 1
      ? cufft.cufftPlan1d(device, n[0]!, type, batch)
      : n.length === 2
        ? cufft.cufftPlan2d(device, n[0]!, n[1]!, type)
        : cufft.cufftPlan3d(device, n[0]!, n[1]!, n[2]!, type);
  const { sizes } = usual;
  usual.destroy();
  return new CufftPlan(device, sizes, true);
};

async function complex(n: readonly number[], batch: number, type: 'C2C' | 'Z2Z', direction: 1 | -1): Promise<void> {
  const [total, element] = [product(n), type === 'C2C' ? 'f32' : 'f64'] as const;
  const all = Array.from({ length: batch }, (_, b) => impulsesOf(n, total + b));
  const given = new Float64Array(2 * total * batch);
  for (const [b, impulses] of all.entries())
    for (const { at, weight } of impulses) for (const part of [0, 1]) given[2 * (b * total + indexOf(n, at)) + part]! += weight[part]!;
  const expected = all.flatMap((impulses) => Array.from({ length: total }, (_, k) => sumAt(n, impulses, k, direction)).flat());
  const x = device.bufferOf(element, (element === 'f32' ? Float32Array.from(given) : given) as never);
  const y = device.allocate(element, given.length);
  const plan = planOf(n, type, batch);
  const run = type === 'C2C' ? cufft.cufftExecC2C : cufft.cufftExecZ2Z;
  const what = `${batch} of ${n.join(' x ')}, ${type}`;
  const bound = type === 'C2C' ? 2e-6 : 1e-14;
  run(plan, x as never, y as never, direction);
  close((await y.read()) as never, expected, bound, what, 1);
  run(plan, x as never, x as never, direction);
  close((await x.read()) as never, expected, bound, `${what}, in place`, 1);
  plan.destroy();
}

test('whole transforms in a block, several passes, odd factors, and columns', async () => {
  await complex([64], 37, 'C2C', -1);
  await complex([2048], 3, 'C2C', 1);
  await complex([16384], 2, 'C2C', -1);
  await complex([32 * 9], 5, 'C2C', 1);
  await complex([3, 128], 1, 'C2C', -1);
  await complex([64, 4, 96], 1, 'C2C', 1);
  await complex([8192], 1, 'Z2Z', -1);
});
prove(test, 'passes over blocks of many lengths and dimensions', async () => {
  for (const bits of [5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 17, 20])
    for (const [type, direction] of [
      ['C2C', -1],
      ['Z2Z', 1],
    ] as const)
      await complex([2 ** bits], bits > 12 ? 1 : 3, type, direction);
  for (const n of [[96], [160, 32], [2048, 3], [5, 4096], [32, 32, 32], [1, 64, 7], [128, 1, 64]]) await complex(n, 1, 'C2C', -1);
  await complex([2 ** 21], 1, 'C2C', -1);
});

async function real(n: number, batch: number, isDouble: boolean, isInPlace: boolean): Promise<void> {
  const element = isDouble ? 'f64' : 'f32';
  const row = isInPlace ? n + 2 : n;
  const all = Array.from({ length: batch }, (_, b) =>
    impulsesOf([n], n + b).map(({ at, weight }) => ({ at, weight: [weight[0], 0] as const })),
  );
  const given = new Float64Array(row * batch);
  for (const [b, impulses] of all.entries()) for (const { at, weight } of impulses) given[b * row + at[0]!]! += weight[0];
  const expected = all.flatMap((impulses) => Array.from({ length: n / 2 + 1 }, (_, k) => sumAt([n], impulses, k, -1)).flat());
  const x = device.bufferOf(element, (isDouble ? given : Float32Array.from(given)) as never);
  const y = isInPlace ? x : device.allocate(element, (n + 2) * batch);
  const back = isInPlace ? x : device.allocate(element, n * batch);
  const [there, home] = [planOf([n], isDouble ? 'D2Z' : 'R2C', batch), planOf([n], isDouble ? 'Z2D' : 'C2R', batch)];
  const bound = isDouble ? 1e-14 : 2e-6;
  const what = `${batch} of ${n} reals of ${element}${isInPlace ? ' in place' : ''}`;
  (isDouble ? cufft.cufftExecD2Z : cufft.cufftExecR2C)(there, x as never, y as never);
  close((await y.read()) as never, expected, bound, what, 1);
  (isDouble ? cufft.cufftExecZ2D : cufft.cufftExecC2R)(home, y as never, back as never);
  const got = Array.from((await back.read()) as never as ArrayLike<number>, (value) => value / n);
  const rows = (values: ArrayLike<number>): number[] =>
    Array.from({ length: n * batch }, (_, i) => values[Math.floor(i / n) * row + (i % n)]!);
  close(rows(got), rows(given), bound, `${what}, back`, 1);
  for (const plan of [there, home]) plan.destroy();
}

test('real numbers, which the passes read and write themselves', async () => {
  for (const isDouble of [false, true])
    for (const isInPlace of [false, true])
      for (const [n, batch] of [
        [64, 5],
        [4096, 2],
        [8192, 3],
      ] as const)
        await real(n, batch, isDouble, isInPlace);
});

test('real numbers of several dimensions, whose rows are pairs', async () => {
  for (const n of [
    [64, 128],
    [5, 4096],
    [32, 3, 64],
  ]) {
    const impulses = impulsesOf(n, product(n)).map(({ at, weight }) => ({ at, weight: [weight[0], 0] as const }));
    const given = new Float32Array(product(n));
    for (const { at, weight } of impulses) given[indexOf(n, at)]! += weight[0];
    const [last, row] = [n.at(-1)!, n.at(-1)! / 2 + 1];
    const places = Array.from({ length: (given.length / last) * row }, (_, i) => Math.floor(i / row) * last + (i % row));
    const [x, y] = [device.bufferOf('f32', given), device.allocate('f32', 2 * places.length)];
    const plan = planOf(n, 'R2C', 1);
    cufft.cufftExecR2C(plan, x, y);
    close(
      await y.read(),
      places.flatMap((k) => sumAt(n, impulses, k, -1)),
      2e-6,
      n.join(' x '),
      1,
    );
    plan.destroy();
  }
});

test('a transform from an odd element on, where no vector may start', async () => {
  const n = 64;
  const impulses = impulsesOf([n], 3);
  const given = new Float32Array(2 * n + 1);
  for (const { at, weight } of impulses) for (const part of [0, 1]) given[1 + 2 * at[0]! + part]! += weight[part]!;
  const [x, y] = [device.bufferOf('f32', given), device.allocate('f32', 2 * n)];
  cufft.cufftExecC2C(planOf([n], 'C2C', 1), x.part(1) as never, y, -1);
  const expected = Array.from({ length: n }, (_, k) => sumAt([n], impulses, k, -1)).flat();
  close(await y.read(), expected, 2e-6, 'odd start', 1);
});

test('passes have the whole length, and what a block has fits the device', () => {
  for (let bits = 5; bits <= 30; bits++) {
    const radices = blocksOf(2 ** bits, 1)!;
    assert.is(product(radices), 2 ** bits);
    assert.ok(radices.length === 1 ? bits <= 12 : radices.every((radix) => radix >= 32 && radix <= 1024), `${bits}`);
  }
  assert.is(blocksOf(16, 1), undefined);
  assert.is(blocksOf(64 * 17, 1), undefined);
  // WebGPU's defaults, an Apple GPU, an H200.
  for (const [maxThreadsPerThreadgroup, maxThreadgroupBytes] of [
    [256, 16384],
    [1024, 32768],
    [1024, 232448],
  ] as const)
    for (let bits = 5; bits <= 12; bits++)
      for (const isWhole of bits <= 10 ? [true, false] : [true])
        for (const precision of ['f32', 'f64'] as const) {
          const sequences = sequencesOf(2 ** bits, isWhole, precision, { maxThreadsPerThreadgroup, maxThreadgroupBytes });
          if (sequences === undefined) {
            assert.ok(maxThreadgroupBytes < 40000 && bits >= 11, `${bits} bits of ${precision} in ${maxThreadgroupBytes}`);
            continue;
          }
          assert.ok((sequences * 2 ** bits) / 16 <= maxThreadsPerThreadgroup);
          assert.ok(sequences * 2 ** bits * (precision === 'f32' ? 4 : 8) <= Math.min(maxThreadgroupBytes, 49152));
        }
});

test('no races and no missing barriers', async () => {
  const forms: readonly [
    Pick<BlockForm, 'length' | 'sequences' | 'isWhole' | 'isFirst' | 'isLast'>,
    count: number,
    step: number,
    rootStep: number,
  ][] = [
    [{ length: 128, sequences: 8, isWhole: true, isFirst: true, isLast: true }, 1, 1, 1],
    [{ length: 32, sequences: 8, isWhole: false, isFirst: true, isLast: false }, 32, 1, 1],
    [{ length: 32, sequences: 8, isWhole: false, isFirst: false, isLast: true }, 32, 32, 32],
  ];
  for (const [form, count, step, rootStep] of forms) {
    const kernel = blockPassKernel({ precision: 'f32', from: 'parts', to: 'parts', ...form });
    const [total, sequences] = [form.length * count * 2, 2 * count];
    const array = (values: ArrayLike<number>) => device.bufferOf('f32', Float32Array.from(values));
    const [roots, inner] = [rootsOfUnity(form.length * count), rootsOfUnity(form.length)];
    kernel.module(device, { compile: { target: 'cpu', sanitize: true, marks: true } });
    const args = {
      ...{ fromRe: array(numbers(total, 1)), fromIm: array(numbers(total, 2)) },
      ...{ toRe: device.allocate('f32', total), toIm: device.allocate('f32', total) },
      ...{ rootsRe: array(roots.re), rootsIm: array(roots.im), innerRe: array(inner.re), innerIm: array(inner.im) },
      ...{ count, step, rootStep, sequences, fromPitch: 0, toPitch: 0 },
    };
    const sanitize = { kinds: new Set(['memory', 'race', 'init', 'sync'] as const), source: kernel.source };
    const grid = Math.ceil(sequences / form.sequences);
    const launched = kernel.launch(device, { grid, block: threadsOf(form), args: args as never, watch: { sanitize } });
    assert.equal(
      (await launched.ended()).warnings.map(({ code, message }) => `${code} ${message}`),
      [],
      JSON.stringify(form),
    );
  }
});

test.run();
