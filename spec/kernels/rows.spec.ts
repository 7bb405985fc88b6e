/** Elementwise kernels and kernels of rows against JavaScript with f64, over ragged sizes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bf16, f16 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import {
  type Activation,
  activation,
  activationBackward,
  biasAdd,
  binary,
  crossEntropy,
  crossEntropyBackward,
  layerNorm,
  layerNormBackward,
  normWeightsBackward,
  rmsNorm,
  rmsNormBackward,
  rope,
  ropeTables,
  softmax,
  softmaxBackward,
} from '../../src/kernels/index.ts';
import { close, findings, numbers } from '../support/library.ts';

const test = suite('kernels/rows');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

/** The error function by its series, or by the continued fraction of its complement. */
function erf(x: number): number {
  const z = Math.abs(x);
  let value = z;
  if (z < 3) {
    let term = z;
    for (let n = 1; n < 200; n++) {
      term *= (-z * z) / n;
      value += term / (2 * n + 1);
    }
    value *= 2 / Math.sqrt(Math.PI);
  } else {
    let fraction = 0;
    for (let k = 200; k >= 1; k--) fraction = k / 2 / (z + fraction);
    value = 1 - Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction);
  }
  return Math.sign(x) * value;
}

const references: Record<Activation, (x: number) => number> = {
  identity: (x) => x,
  relu: (x) => Math.max(x, 0),
  silu: (x) => x / (1 + Math.exp(-x)),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  geluTanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};
const each = Object.entries(references).filter(([name]) => name !== 'identity' && name !== 'sigmoid') as [
  Activation,
  (x: number) => number,
][];

test('activations of f32, and their derivatives against difference quotients', async () => {
  for (const [name, of] of each)
    for (const n of [1, 2500]) {
      const values = numbers(n, n).map((x) => x * 12);
      const slopes = numbers(n, n + 1);
      const x = device.bufferOf('f32', values);
      const dy = device.bufferOf('f32', slopes);
      const [y, dx] = [device.allocate('f32', n), device.allocate('f32', n)];
      activation(name).launch(device, { x, y, n });
      close(await y.read(), values.map(of), 6e-7, `${name} of ${n}`);
      activationBackward(name).launch(device, { x, dy, dx, n });
      const h = 1e-5;
      const derivative = (at: number): number => (name === 'relu' ? Number(at > 0) : (of(at + h) - of(at - h)) / (2 * h));
      close(
        await dx.read(),
        Array.from(values, (at, i) => derivative(at) * slopes[i]!),
        2e-6,
        `${name} backward of ${n}`,
      );
    }
});

test('activations at the ends: large, infinite and NaN', async () => {
  const values = [-1e30, -200, 200, 1e30, Number.POSITIVE_INFINITY, Number.NaN, -0];
  const expected: Record<string, number[]> = {
    relu: [0, 0, 200, 1e30, Number.POSITIVE_INFINITY, Number.NaN, 0],
    silu: [0, 0, 200, 1e30, Number.POSITIVE_INFINITY, Number.NaN, 0],
    gelu: [0, 0, 200, 1e30, Number.POSITIVE_INFINITY, Number.NaN, 0],
    geluTanh: [0, 0, 200, 1e30, Number.POSITIVE_INFINITY, Number.NaN, 0],
  };
  for (const name of ['relu', 'silu', 'gelu', 'geluTanh'] as const) {
    const y = device.allocate('f32', values.length);
    activation(name).launch(device, { x: device.bufferOf('f32', values), y, n: values.length });
    close(await y.read(), expected[name]!.map(Math.fround), 1e-6, name);
  }
});

test('halves and bfloats: rounded once from f32', async () => {
  const values = numbers(700, 3).map((x) => x * 5);
  const [half, short] = [device.bufferOf('f16', values), device.bufferOf('bf16', values)];
  const [a, b] = [device.allocate('f16', 700), device.allocate('bf16', 700)];
  activation('silu', { type: f16 }).launch(device, { x: half, y: a, n: 700 });
  activation('silu', { type: bf16 }).launch(device, { x: short, y: b, n: 700 });
  close(await a.read(), (await half.read()).map(references.silu), 2 ** -11 + 1e-6, 'f16', 1e-4);
  close(await b.read(), (await short.read()).map(references.silu), 2 ** -8, 'bf16', 1e-6);
});

test('two arrays, and a bias of each column', async () => {
  const n = 7 * 173;
  const [left, right, bias] = [numbers(n, 5), numbers(n, 6), numbers(173, 7)];
  const [a, b] = [device.bufferOf('f32', left), device.bufferOf('f32', right)];
  const y = device.allocate('f32', n);
  const exact = { add: (p: number, q: number) => p + q, sub: (p: number, q: number) => p - q, mul: (p: number, q: number) => p * q };
  for (const [name, of] of Object.entries(exact)) {
    binary(name as 'add').launch(device, { a, b, y, n });
    assert.equal(
      [...(await y.read())],
      Array.from(left, (p, i) => Math.fround(of(p, right[i]!))),
      name,
    );
  }
  binary('swiglu').launch(device, { a, b, y, n });
  close(
    await y.read(),
    Array.from(left, (p, i) => references.silu(p) * right[i]!),
    1e-6,
    'swiglu',
  );
  biasAdd({ activation: 'relu' }).launch(device, { x: a, bias: device.bufferOf('f32', bias), y, n, columns: 173 });
  assert.equal(
    [...(await y.read())],
    Array.from(left, (p, i) => Math.fround(Math.max(p + bias[i % 173]!, 0))),
  );
});

/** Calls a function for each row of a matrix and joins the results. */
const byRow = (x: Float32Array, columns: number, of: (row: number[], r: number) => number[]): number[] =>
  Array.from({ length: x.length / columns }, (_, r) => of([...x.subarray(r * columns, (r + 1) * columns)], r)).flat();
const sum = (list: readonly number[]): number => list.reduce((total, value) => total + value, 0);
const softmaxOf = (row: readonly number[]): number[] => {
  const most = Math.max(...row);
  const powers = row.map((value) => Math.exp(value - most));
  const total = sum(powers);
  return powers.map((power) => power / total);
};

const shapes = [
  [1, 1],
  [3, 31],
  [2, 257],
  [5, 1024],
  [2, 1531],
] as const;

test('softmax and its backward kernel, over ragged rows and numbers of threads', async () => {
  for (const [rows, columns] of shapes)
    for (const threads of [columns < 257 ? 32 : 256] as const) {
      const values = numbers(rows * columns, columns).map((x) => x * 30);
      const slopes = numbers(rows * columns, columns + 1);
      const [x, dy] = [device.bufferOf('f32', values), device.bufferOf('f32', slopes)];
      const [y, dx] = [device.allocate('f32', rows * columns), device.allocate('f32', rows * columns)];
      const expected = byRow(values, columns, softmaxOf);
      softmax({ threads }).launch(device, { x, y, rows, columns });
      close(await y.read(), expected, 2e-6, `${rows} x ${columns} by ${threads}`, 1e-3);
      softmaxBackward({ threads }).launch(device, { y, dy, dx, rows, columns });
      const backward = byRow(values, columns, (row, r) => {
        const [p, g] = [softmaxOf(row), slopes.subarray(r * columns)];
        const inner = sum(p.map((value, i) => value * g[i]!));
        return p.map((value, i) => value * (g[i]! - inner));
      });
      close(await dx.read(), backward, 4e-6, `${rows} x ${columns} backward`, 0.1);
    }
});

test('softmax: rows that start with -Infinity, are large, or have NaN', async () => {
  const values = [Number.NEGATIVE_INFINITY, 1, Number.NEGATIVE_INFINITY, 1, 3e38, -3e38, 3e38, 0, Number.NaN, 1, 2, 3];
  const y = device.allocate('f32', 12);
  softmax({ threads: 32 }).launch(device, { x: device.bufferOf('f32', values), y, rows: 3, columns: 4 });
  assert.equal([...(await y.read())].slice(0, 8), [0, 0.5, 0, 0.5, 0.5, 0, 0.5, 0]);
  assert.ok([...(await y.read())].slice(8).every(Number.isNaN));
});

test('cross-entropy and its backward kernel; targets that are no column', async () => {
  for (const [rows, columns] of shapes) {
    const values = numbers(rows * columns, columns + 5).map((x) => x * 9);
    const targets = Int32Array.from({ length: rows }, (_, r) => (r === 2 ? -100 : (r * 37) % columns));
    const slopes = numbers(rows, 4);
    const [x, dx] = [device.bufferOf('f32', values), device.allocate('f32', rows * columns)];
    const given = { x, targets: device.bufferOf('i32', targets), logSum: device.allocate('f32', rows), rows, columns };
    const loss = device.allocate('f32', rows);
    crossEntropy().launch(device, { ...given, loss });
    const losses = byRow(values, columns, (row, r) => [targets[r]! < 0 ? 0 : -Math.log(softmaxOf(row)[targets[r]!]!)]);
    close(await loss.read(), losses, 2e-6, `${rows} x ${columns}`);
    crossEntropyBackward().launch(device, { ...given, dloss: device.bufferOf('f32', slopes), dx });
    const backward = byRow(values, columns, (row, r) =>
      softmaxOf(row).map((p, c) => (targets[r]! < 0 ? 0 : (p - Number(c === targets[r])) * slopes[r]!)),
    );
    close(await dx.read(), backward, 4e-6, `${rows} x ${columns} backward`);
  }
});

const epsilon = 1e-5;
/** A row in f64: the mean, the scale and the normalized values. */
function normalOf(row: readonly number[], hasMean: boolean): { mean: number; scale: number; normal: number[] } {
  const mean = hasMean ? sum(row) / row.length : 0;
  const scale = 1 / Math.sqrt(sum(row.map((value) => (value - mean) ** 2)) / row.length + epsilon);
  return { mean, scale, normal: row.map((value) => (value - mean) * scale) };
}

for (const hasMean of [true, false])
  test(`${hasMean ? 'layer' : 'RMS'} norm, and its backward kernels`, async () => {
    for (const [rows, columns] of shapes) {
      if (columns === 1) continue;
      const count = rows * columns;
      const values = numbers(count, columns + 2).map((x) => x * 3 + 100 * Number(hasMean));
      const [weights, biases, slopes] = [numbers(columns, 8), numbers(columns, 9), numbers(count, 10)];
      const buffers = {
        x: device.bufferOf('f32', values),
        weight: device.bufferOf('f32', weights),
        scale: device.allocate('f32', rows),
        y: device.allocate('f32', count),
      };
      const mean = hasMean ? device.allocate('f32', rows) : null;
      const bias = device.bufferOf('f32', biases);
      const shape = { rows, columns };
      const { x, weight, scale, y } = buffers;
      if (hasMean) layerNorm().launch(device, { ...buffers, bias, mean, ...shape, epsilon });
      else rmsNorm({ threads: 32 }).launch(device, { ...buffers, ...shape, epsilon });
      const expected = byRow(values, columns, (row) =>
        normalOf(row, hasMean).normal.map((value, c) => value * weights[c]! + (hasMean ? biases[c]! : 0)),
      );
      close(await y.read(), expected, hasMean ? 2e-5 : 2e-6, `${rows} x ${columns}`);
      const dy = device.bufferOf('f32', slopes);
      const [dx, dweight, dbias] = [device.allocate('f32', count), device.allocate('f32', columns), device.allocate('f32', columns)];
      (hasMean ? layerNormBackward() : rmsNormBackward()).launch(device, { x, weight, dy, mean, scale, dx, ...shape });
      const backward = byRow(values, columns, (row, r) => {
        const { normal, scale: factor } = normalOf(row, hasMean);
        const g = Array.from({ length: columns }, (_, c) => slopes[r * columns + c]! * weights[c]!);
        const [a, b] = [hasMean ? sum(g) / columns : 0, sum(g.map((value, c) => value * normal[c]!)) / columns];
        return g.map((value, c) => factor * (value - a - normal[c]! * b));
      });
      close(await dx.read(), backward, 2e-5, `${rows} x ${columns} backward`);
      normWeightsBackward().launch(device, { x, dy, mean, scale, dweight, dbias, ...shape });
      const normals = byRow(values, columns, (row) => normalOf(row, hasMean).normal);
      const column = (of: (i: number) => number): number[] =>
        Array.from({ length: columns }, (_, c) => sum(Array.from({ length: rows }, (_, r) => of(r * columns + c))));
      close(
        await dweight.read(),
        column((i) => slopes[i]! * normals[i]!),
        2e-5,
        'weights',
      );
      close(
        await dbias.read(),
        column((i) => slopes[i]!),
        2e-6,
        'biases',
      );
    }
  });

test('norms without weights, biases and statistics', async () => {
  const values = numbers(100, 1);
  const y = device.allocate('f32', 100);
  const none = { weight: null, scale: null, x: device.bufferOf('f32', values), y, rows: 2, columns: 50, epsilon };
  rmsNorm({ threads: 32 }).launch(device, none);
  close(
    await y.read(),
    byRow(values, 50, (row) => normalOf(row, false).normal),
    2e-6,
  );
  layerNorm({ threads: 32 }).launch(device, { ...none, bias: null, mean: null });
  close(
    await y.read(),
    byRow(values, 50, (row) => normalOf(row, true).normal),
    2e-6,
  );
});

test('rotary embedding: both pairings, a part of each head, and back', async () => {
  const [tokens, heads, size, pairs] = [3, 5, 22, 9];
  const values = numbers(tokens * heads * size, 2);
  const places = [4, 0, 901];
  const { cosines, sines } = ropeTables(902, pairs);
  const tables = {
    positions: device.bufferOf('i32', places),
    cosines: device.bufferOf('f32', cosines),
    sines: device.bufferOf('f32', sines),
  };
  for (const pairing of ['halves', 'neighbors'] as const) {
    const [x, y] = [device.bufferOf('f32', values), device.allocate('f32', values.length)];
    rope({ pairing }).launch(device, { x, y, ...tables, tokens, heads, size, pairs });
    const expected = byRow(values, size, (row, r) => {
      const turned = [...row];
      for (let i = 0; i < pairs; i++) {
        const [a, b] = pairing === 'halves' ? [i, i + pairs] : [2 * i, 2 * i + 1];
        const angle = places[Math.floor(r / heads)]! * 10_000 ** (-i / pairs);
        turned[a] = row[a]! * Math.cos(angle) - row[b]! * Math.sin(angle);
        turned[b] = row[a]! * Math.sin(angle) + row[b]! * Math.cos(angle);
      }
      return turned;
    });
    close(await y.read(), expected, 3e-7, pairing);
    rope({ pairing, inverse: true }).launch(device, { x: y, y, ...tables, tokens, heads, size, pairs });
    close(await y.read(), values, 3e-7, `${pairing} back`);
  }
});

test('one text for all sizes', async () => {
  const [before, module] = [softmax().kernel.ptx, softmax().kernel.module(device)];
  for (const [rows, columns] of shapes) {
    const x = device.allocate('f32', rows * columns);
    x.fill(1);
    await softmax().launch(device, { x, y: x, rows, columns })!.ended();
    assert.ok(softmax().kernel.ptx === before && softmax({}).kernel.module(device) === module);
  }
  assert.is(softmax({}), softmax());
});

test('CM5093: sizes that the buffers do not hold, and sizes that are none', () => {
  const x = device.allocate('f32', 10);
  const fails = (run: () => void, why: RegExp): void => {
    assert.throws(run, (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && why.test(error.message));
  };
  fails(() => softmax().launch(device, { x, y: x, rows: 3, columns: 4 }), /`x` has 10 elements, and 12 are needed/);
  fails(() => activation('relu').launch(device, { x, y: x, n: 1.5 }), /`n` is 1.5/);
  fails(() => activation('relu').launch(device, { x, y: x, n: -1 }), /`n` is -1/);
  assert.is(activation('relu').launch(device, { x, y: x, n: 0 }), undefined);
});

test('the sanitizer finds nothing', async () => {
  const zeros = (on: Device, count: number) => on.bufferOf('f32', new Float32Array(count).fill(0.5));
  const [rows, columns] = [2, 300];
  const count = rows * columns;
  const found = [
    ...(await findings(activationBackward('relu'), (on) => ({ x: zeros(on, 1100), dy: zeros(on, 1100), dx: zeros(on, 1100), n: 1100 }))),
    ...(await findings(softmax(), (on) => ({ x: zeros(on, count), y: zeros(on, count), rows, columns }))),
    ...(await findings(layerNorm(), (on) => ({
      ...{ x: zeros(on, count), y: zeros(on, count), weight: zeros(on, columns), bias: zeros(on, columns) },
      ...{ mean: zeros(on, rows), scale: zeros(on, rows), rows, columns, epsilon },
    }))),
    ...(await findings(normWeightsBackward(), (on) => ({
      ...{ x: zeros(on, count), dy: zeros(on, count), mean: zeros(on, rows), scale: zeros(on, rows) },
      ...{ dweight: zeros(on, columns), dbias: zeros(on, columns), rows, columns },
    }))),
  ];
  assert.equal(found, []);
});

test.run();
