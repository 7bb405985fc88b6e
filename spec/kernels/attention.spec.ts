/** Attention, steps of Adam, transposes and rows by index against JavaScript with f64, over ragged sizes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f16, f64 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { adam, attention, gather, transpose } from '../../src/kernels/index.ts';
import type { Heads } from '../support/attention.ts';
import { close, findings, numbers } from '../support/library.ts';

const test = suite('kernels/attention');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

interface Shape extends Heads {
  readonly size: number;
}
interface Tensors {
  readonly q: ArrayLike<number>;
  readonly k: ArrayLike<number>;
  readonly v: ArrayLike<number>;
}

/** Attention as it is defined: all scores of a query, their softmax, and the sum of values. */
function reference(shape: Shape, { q, k, v }: Tensors, causal: boolean): { y: number[]; logSum: number[] } {
  const { batch, queries, keys, heads, keyHeads, size } = shape;
  const [y, logSum]: [number[], number[]] = [[], []];
  for (let b = 0; b < batch; b++)
    for (let i = 0; i < queries; i++)
      for (let h = 0; h < heads; h++) {
        const query = ((b * queries + i) * heads + h) * size;
        const key = (j: number): number => ((b * keys + j) * keyHeads + Math.floor(h / (heads / keyHeads))) * size;
        const count = causal ? Math.max(0, Math.min(keys, i + 1 + keys - queries)) : keys;
        const scores = Array.from({ length: count }, (_, j) => {
          let score = 0;
          for (let e = 0; e < size; e++) score += q[query + e]! * k[key(j) + e]!;
          return score / Math.sqrt(size);
        });
        const most = Math.max(...scores);
        const powers = scores.map((score) => Math.exp(score - most));
        const total = powers.reduce((sum, power) => sum + power, 0);
        logSum.push(count === 0 ? Number.NEGATIVE_INFINITY : most + Math.log(total));
        for (let e = 0; e < size; e++) y.push(powers.reduce((sum, power, j) => sum + (power / total) * v[key(j) + e]!, 0));
      }
  return { y, logSum };
}

const tensorsOf = ({ batch, queries, keys, heads, keyHeads, size }: Shape) => ({
  q: numbers(batch * queries * heads * size, 1).map((x) => 4 * x),
  k: numbers(batch * keys * keyHeads * size, 2).map((x) => 2 * x),
  v: numbers(batch * keys * keyHeads * size, 3),
});

const shapes: (Shape & { readonly causal: boolean })[] = [
  { batch: 1, queries: 1, keys: 1, heads: 1, keyHeads: 1, size: 16, causal: false },
  { batch: 2, queries: 5, keys: 75, heads: 4, keyHeads: 2, size: 16, causal: false },
  { batch: 1, queries: 70, keys: 40, heads: 2, keyHeads: 2, size: 16, causal: true },
  { batch: 1, queries: 3, keys: 50, heads: 3, keyHeads: 1, size: 16, causal: true },
];

test('forward: grouped heads, causal masks with more and fewer keys, ragged tiles', async () => {
  for (const { causal, ...shape } of shapes) {
    const given = tensorsOf(shape);
    const [q, k, v] = [device.bufferOf('f32', given.q), device.bufferOf('f32', given.k), device.bufferOf('f32', given.v)];
    const { size, ...counts } = shape;
    const y = device.allocate('f32', given.q.length);
    const logSum = device.allocate('f32', given.q.length / size);
    attention({ size }).launch(device, { q, k, v, y, logSum, ...counts, causal });
    const expected = reference(shape, given, causal);
    close(await y.read(), expected.y, 4e-6, JSON.stringify(shape));
    close(await logSum.read(), expected.logSum, 2e-6, JSON.stringify(shape));
  }
});

test('pages of keys and values in any order', async () => {
  const shape = { batch: 2, queries: 2, keys: 37, heads: 2, keyHeads: 1, size: 16 };
  const given = tensorsOf(shape);
  const [pageSize, perSequence] = [8, 5];
  const pages = [3, 9, 0, 7, 5, 1, 8, 2, 6, 4];
  const paged = (from: Float32Array): Float32Array => {
    // What no key is in is NaN, which would show.
    const made = new Float32Array(pages.length * pageSize * 16).fill(Number.NaN);
    for (let i = 0; i < 2 * 37; i++) {
      const [sequence, key] = [Math.floor(i / 37), i % 37];
      const page = pages[sequence * perSequence + Math.floor(key / pageSize)]!;
      made.set(from.subarray(i * 16, (i + 1) * 16), (page * pageSize + (key % pageSize)) * 16);
    }
    return made;
  };
  const y = device.allocate('f32', given.q.length);
  const { size, ...counts } = shape;
  attention({ size, paged: true }).launch(device, {
    ...{ q: device.bufferOf('f32', given.q), k: device.bufferOf('f32', paged(given.k)), v: device.bufferOf('f32', paged(given.v)) },
    ...{ y, pages: device.bufferOf('i32', pages), pageSize, ...counts },
  });
  close(await y.read(), reference(shape, given, false).y, 4e-6);
});

test('an index that is no page stops the launch', async () => {
  for (const [index, pageCount] of [
    [2, undefined],
    [-1, undefined],
    [1, 1],
  ] as const) {
    const own = Device.open('cpu', { print: false });
    const tensor = (count: number) => own.bufferOf('f32', new Float32Array(count));
    const [q, k, v, y] = [tensor(16), tensor(2 * 4 * 16), tensor(2 * 4 * 16), tensor(16)];
    const [pages, shape] = [own.bufferOf('i32', [0, index]), { queries: 1, keys: 7, heads: 1, pageSize: 4 }];
    const work = attention({ size: 16, paged: true }).launch(own, { q, k, v, y, pages, ...shape, ...(pageCount ? { pageCount } : {}) });
    const reason = await work!.ended().catch((error: unknown) => error);
    assert.ok(reason instanceof CumetalError && reason.code === 'CM6014', `page ${index}: ${reason}`);
    own.close();
  }
});

test('halves in memory, and heads of 40 elements', async () => {
  const shape = { batch: 1, queries: 9, keys: 11, heads: 1, keyHeads: 1, size: 40 };
  const given = tensorsOf(shape);
  const [q, k, v] = [device.bufferOf('f16', given.q), device.bufferOf('f16', given.k), device.bufferOf('f16', given.v)];
  const y = device.allocate('f16', given.q.length);
  attention({ size: 40, type: f16 }).launch(device, { q, k, v, y, queries: 9, keys: 11, heads: 1 });
  const exact = { q: await q.read(), k: await k.read(), v: await v.read() };
  close(await y.read(), reference(shape, exact, false).y, 2 ** -11 + 4e-6);
});

test('Adam and AdamW: three steps', async () => {
  const n = 300;
  for (const decoupled of [false, true]) {
    const start = numbers(n, 4);
    const weights = device.bufferOf('f32', start);
    const [first, second] = [device.bufferOf('f32', new Float32Array(n)), device.bufferOf('f32', new Float32Array(n))];
    const [w, m, v] = [Float64Array.from(start), new Float64Array(n), new Float64Array(n)];
    for (let step = 1; step <= 3; step++) {
      const gradients = numbers(n, 10 + step);
      const buffers = { weights, gradients: device.bufferOf('f32', gradients), first, second };
      adam({ decoupled }).launch(device, { ...buffers, n, rate: 0.01, step, decay: 0.1 });
      for (let i = 0; i < n; i++) {
        const g = gradients[i]! + (decoupled ? 0 : 0.1 * w[i]!);
        m[i] = 0.9 * m[i]! + 0.1 * g;
        v[i] = 0.999 * v[i]! + 0.001 * g * g;
        const change = (0.01 * (m[i]! / (1 - 0.9 ** step))) / (Math.sqrt(v[i]! / (1 - 0.999 ** step)) + 1e-8);
        w[i] = w[i]! * (decoupled ? 1 - 0.01 * 0.1 : 1) - change;
      }
    }
    close(await weights.read(), w, 1e-6, `decoupled: ${decoupled}`);
  }
});

test('transposes of several types, and rows by their indices', async () => {
  for (const [rows, columns] of [
    [1, 70],
    [45, 33],
  ] as const) {
    const values = Array.from({ length: rows * columns }, (_, i) => i);
    const turned = values.map((_, i) => (i % rows) * columns + Math.floor(i / rows));
    const [y32, y64] = [device.allocate('f32', values.length), device.allocate('f64', values.length)];
    transpose().launch(device, { x: device.bufferOf('f32', values), y: y32, rows, columns });
    transpose({ type: f64 }).launch(device, { x: device.bufferOf('f64', values), y: y64, rows, columns });
    assert.equal([...(await y32.read())], turned);
    assert.equal([...(await y64.read())], turned);
  }
  const [table, y] = [numbers(7 * 150, 5), device.allocate('f32', 4 * 150)];
  const indices = [6, 0, 7, -1];
  gather().launch(device, {
    ...{ table: device.bufferOf('f32', table), indices: device.bufferOf('i32', indices), y, tableRows: 7, columns: 150, rows: 4 },
  });
  assert.equal(
    [...(await y.read())],
    indices.flatMap((row) => (row >= 0 && row < 7 ? [...table.subarray(row * 150, row * 150 + 150)] : Array(150).fill(0))),
  );
});

test('CM5093: heads, pages and steps that cannot be right', () => {
  const x = device.allocate('f32', 64);
  const fails = (run: () => void, why: RegExp): void => {
    assert.throws(run, (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && why.test(error.message));
  };
  const given = { q: x, k: x, v: x, y: x, queries: 1, keys: 1 };
  fails(() => attention({ size: 33 }), /a head of 33 elements/);
  fails(() => attention({ size: 16 }).launch(device, { ...given, heads: 3, keyHeads: 2 }), /no multiple of 2/);
  fails(() => attention({ size: 16, paged: true }).launch(device, { ...given, heads: 1 }), /missing/);
  fails(() => attention({ size: 16 }).launch(device, { ...given, keys: 5, heads: 1 }), /`k` has 64 elements, and 80/);
  fails(() => adam().launch(device, { weights: x, gradients: x, first: x, second: x, n: 1, rate: 1, step: 0 }), /`step` is 0/);
});

test('the sanitizer finds nothing', async () => {
  const filled = (on: Device, count: number) => on.bufferOf('f32', new Float32Array(count).fill(0.5));
  const found = [
    ...(await findings(attention({ size: 16 }), (on) => ({
      ...{ q: filled(on, 48), k: filled(on, 560), v: filled(on, 560), y: filled(on, 48), queries: 3, keys: 35, heads: 1, causal: true },
    }))),
    ...(await findings(transpose(), (on) => ({ x: filled(on, 33 * 40), y: filled(on, 33 * 40), rows: 33, columns: 40 }))),
    ...(await findings(adam(), (on) => ({
      ...{ weights: filled(on, 9), gradients: filled(on, 9), first: filled(on, 9), second: filled(on, 9), n: 9, rate: 1, step: 1 },
    }))),
  ];
  assert.equal(found, []);
});

test.run();
