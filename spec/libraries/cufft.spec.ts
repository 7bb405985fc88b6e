/** cuFFT's transforms against the sums that define them, in f64. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as cufft from '../../src/cufft/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { close, numbers } from '../support/library.ts';
import { prove } from '../support/prove.ts';

const test = suite('libraries/cufft');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

/** The transform along each dimension, by its definition: pairs in, pairs out. */
function transform(values: ArrayLike<number>, n: readonly number[], direction: 1 | -1): Float64Array {
  let current = Float64Array.from(values);
  let inner = 1;
  for (const length of [...n].reverse()) {
    const next = new Float64Array(current.length);
    const outer = current.length / 2 / (inner * length);
    for (let o = 0; o < outer; o++)
      for (let k = 0; k < length; k++)
        for (let j = 0; j < length; j++) {
          const angle = (direction * 2 * Math.PI * ((j * k) % length)) / length;
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          for (let i = 0; i < inner; i++) {
            const [from, to] = [2 * ((o * length + j) * inner + i), 2 * ((o * length + k) * inner + i)];
            next[to] = next[to]! + current[from]! * c - current[from + 1]! * s;
            next[to + 1] = next[to + 1]! + current[from]! * s + current[from + 1]! * c;
          }
        }
    current = next;
    inner *= length;
  }
  return current;
}

async function single(length: number, direction: 1 | -1, batch = 1): Promise<void> {
  const values = numbers(2 * length * batch, length);
  const [x, y] = [device.bufferOf('f32', values), device.allocate('f32', 2 * length * batch)];
  const plan = cufft.cufftPlan1d(device, length, 'C2C', batch);
  cufft.cufftExecC2C(plan, x, y, direction);
  const expected = Array.from({ length: batch }, (_, b) => [
    ...transform(values.subarray(2 * length * b, 2 * length * (b + 1)), [length], direction),
  ]).flat();
  close(await y.read(), expected, 1e-6 * Math.sqrt(length), `${length}`, 1);
  cufft.cufftExecC2C(plan, x, x, direction);
  close(await x.read(), expected, 1e-6 * Math.sqrt(length), `${length} in place`, 1);
  cufft.cufftDestroy(plan);
}

test('complex numbers of one dimension: powers of two, other primes, and a large prime', async () => {
  await single(512, -1, 3);
  await single(60, 1);
  await single(17, -1, 2);
});
prove(test, 'complex numbers of many lengths', async () => {
  for (const length of [1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 32, 64, 105, 143, 256, 1000, 1024, 4096, 97, 289, 1009])
    for (const direction of [1, -1] as const) await single(length, direction);
});

test('three dimensions of f64, there and back', async () => {
  const n = [6, 4, 10];
  const values = Float64Array.from(numbers(480, 5));
  const [x, y] = [device.bufferOf('f64', values), device.allocate('f64', 480)];
  const plan = cufft.cufftPlan3d(device, 6, 4, 10, cufft.CUFFT_Z2Z);
  cufft.cufftExecZ2Z(plan, x, y, cufft.CUFFT_FORWARD);
  close(await y.read(), transform(values, n, -1), 1e-13, 'forward', 10);
  cufft.cufftExecZ2Z(plan, y, y, cufft.CUFFT_INVERSE);
  close(
    await y.read(),
    values.map((value) => value * 240),
    1e-13,
    'inverse',
    240,
  );
});

/** The first half of the transform of real numbers along the last dimension. */
function halfOf(values: Float32Array | Float64Array, n: readonly number[]): number[] {
  const pairs = Float64Array.from({ length: 2 * values.length }, (_, i) => (i % 2 === 0 ? values[i / 2]! : 0));
  const whole = transform(pairs, n, -1);
  const last = n.at(-1)!;
  const row = Math.floor(last / 2) + 1;
  return Array.from({ length: (values.length / last) * row }, (_, i) => 2 * (Math.floor(i / row) * last + (i % row))).flatMap((at) => [
    whole[at]!,
    whole[at + 1]!,
  ]);
}

test('real numbers, in place and not, and back', async () => {
  const [rows, columns] = [5, 12];
  const values = numbers(60, 7);
  const [x, y, back] = [device.bufferOf('f32', values), device.allocate('f32', 5 * 14), device.allocate('f32', 60)];
  const plan = cufft.cufftPlan2d(device, rows, columns, 'R2C');
  cufft.cufftExecR2C(plan, x, y);
  const expected = halfOf(values, [rows, columns]);
  close(await y.read(), expected, 1e-6, 'R2C', 8);
  const padded = new Float32Array(70);
  for (let r = 0; r < rows; r++) padded.set(values.subarray(12 * r, 12 * (r + 1)), 14 * r);
  const own = device.bufferOf('f32', padded);
  cufft.cufftExecR2C(plan, own, own);
  close(await own.read(), expected, 1e-6, 'R2C in place', 8);
  cufft.cufftExecC2R(cufft.cufftPlan2d(device, rows, columns, 'C2R'), y, back);
  close(
    await back.read(),
    values.map((value) => value * 60),
    1e-6,
    'C2R',
    60,
  );
});

/** Real numbers of one to three dimensions, of f32 and of f64. */
async function real(n: readonly number[], batch = 1): Promise<void> {
  const count = n.reduce((product, each) => product * each, 1);
  const single = numbers(count * batch, count);
  for (const type of ['R2C', 'D2Z'] as const) {
    const values = type === 'R2C' ? single : Float64Array.from(single);
    const precision = type === 'R2C' ? 'f32' : 'f64';
    const x = device.bufferOf(precision, values as never);
    const y = device.allocate(precision, ((2 * count) / n.at(-1)!) * (Math.floor(n.at(-1)! / 2) + 1) * batch);
    const plan = cufft.cufftPlanMany(device, n.length, n, null, 1, 0, null, 1, 0, type, batch);
    if (type === 'R2C') cufft.cufftExecR2C(plan, x as never, y as never);
    else cufft.cufftExecD2Z(plan, x as never, y as never);
    const expected = Array.from({ length: batch }, (_, b) => halfOf(values.subarray(count * b, count * (b + 1)), n)).flat();
    const error = (type === 'R2C' ? 1e-6 : 1e-13) * Math.sqrt(count);
    close(await y.read(), expected, error, `${type} ${batch} of ${n.join(' x ')}`, 1);
    assert.equal(await x.read(), values, 'the input is not changed');
    cufft.cufftDestroy(plan);
  }
}

test('real numbers of even, odd and prime lengths, in several dimensions', async () => {
  for (const length of [1, 2, 4, 6, 34, 37, 64]) await real([length], 3);
  await real([512], 2);
  await real([8, 64]);
  await real([3, 4, 40], 2);
});
prove(test, 'real numbers of many lengths', async () => {
  for (const length of [16, 20, 32, 96, 128, 250, 1000, 1024, 2048, 4096]) await real([length], 2);
  for (const n of [
    [16, 256],
    [32, 94],
    [7, 66],
    [64, 6],
    [256, 8],
    [2, 3, 128],
  ])
    await real(n);
});

test('layouts with strides, distances and rows that are longer', async () => {
  const [n, batch, stride] = [8, 3, 2];
  const values = numbers(2 * 64, 9);
  const x = device.bufferOf('f32', values);
  const y = device.allocate('f32', 2 * batch * n);
  // Transforms beside each other: every third number from one of 20 on.
  const plan = cufft.cufftPlanMany(device, 1, [n], [n], 3 * stride, stride, [n], 1, n, 'C2C', batch);
  cufft.cufftExecC2C(plan, x, y, -1);
  const expected = Array.from({ length: batch }, (_, b) => {
    const pairs = Array.from({ length: n }, (_, i) => [0, 1].map((part) => values[2 * (b * stride + i * 3 * stride) + part]!)).flat();
    return [...transform(pairs, [n], -1)];
  }).flat();
  close(await y.read(), expected, 1e-6, 'strided', 4);
});

test('what is refused', () => {
  const is = (error: unknown): boolean => error instanceof CumetalError && error.code === 'CM5093';
  const x = device.allocate('f32', 15);
  const plan = cufft.cufftPlan1d(device, 8, 'C2C');
  assert.throws(() => cufft.cufftExecC2C(plan, x, x, -1), is);
  assert.throws(() => cufft.cufftExecR2C(plan, x, x), is);
  assert.throws(() => cufft.cufftPlan1d(device, 0, 'C2C'), is);
  cufft.cufftDestroy(plan);
  assert.throws(() => cufft.cufftExecC2C(plan, device.allocate('f32', 16), device.allocate('f32', 16), -1), is);
});

test('the page names every function', () => {
  const page = readFileSync(new URL('../../docs/cufft.md', import.meta.url), 'utf8');
  const missing = Object.keys(cufft).filter((name) => /^cufft/.test(name) && !page.includes(`\`${name}\``));
  assert.equal(missing, []);
});

test.run();
