/** Reductions, scans, sorts, histograms and selections against JavaScript, over ragged sizes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f16, f32, f64, s32, u8, u32, u64 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import {
  argmax,
  argmin,
  compact,
  compactBackward,
  exclusiveScan,
  gatherBackward,
  histogram,
  inclusiveScan,
  masked,
  radixSort,
  radixSortPairs,
  reduce,
} from '../../src/kernels/index.ts';
import { close, numbers, procedureFindings } from '../support/library.ts';
import { prove } from '../support/prove.ts';

const test = suite('kernels/arrays');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

/** Of one block, of more than one round of it, and of several blocks. */
const sizes = [1, 1027, 17001];
const integers = (n: number, seed: number): Int32Array => Int32Array.from(numbers(n, seed), (x) => x * 2 ** 31);
const indexOf = (values: ArrayLike<number>, isBetter: (a: number, b: number) => boolean): number => {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (isBetter(values[i]!, values[best]!)) best = i;
  return best;
};

test('the sum of integers, and where the largest number is, by several blocks', async () => {
  const n = 17001;
  const [whole, values] = [integers(n, 1), numbers(n, 2)];
  const [total, place] = [device.allocate('i32', 1), device.allocate('u32', 1)];
  reduce('sum', { type: s32 }).launch(device, { x: device.bufferOf('i32', whole), y: total, n });
  assert.is(
    (await total.read())[0],
    whole.reduce((a, b) => (a + b) | 0, 0),
  );
  argmax().launch(device, { x: device.bufferOf('f32', values), y: place, n });
  assert.is(
    (await place.read())[0],
    indexOf(values, (a, b) => a > b),
  );
});

prove(test, 'sums and extremes of f32, of integers exactly, and where extremes are', async () => {
  for (const n of sizes) {
    const values = numbers(n, n);
    const [x, y, place] = [device.bufferOf('f32', values), device.allocate('f32', 1), device.allocate('u32', 1)];
    reduce('sum').launch(device, { x, y, n });
    close(
      await y.read(),
      [values.reduce((a, b) => a + b, 0)],
      1e-6,
      `sum of ${n}`,
      values.reduce((a, b) => a + Math.abs(b), 0),
    );
    reduce('max').launch(device, { x, y, n });
    assert.is((await y.read())[0], Math.max(...values));
    argmax().launch(device, { x, y: place, n });
    assert.is(
      (await place.read())[0],
      indexOf(values, (a, b) => a > b),
    );
    const whole = integers(n, n + 1);
    const [i, total] = [device.bufferOf('i32', whole), device.allocate('i32', 1)];
    reduce('sum', { type: s32 }).launch(device, { x: i, y: total, n });
    assert.is(
      (await total.read())[0],
      whole.reduce((a, b) => (a + b) | 0, 0),
    );
    reduce('min', { type: s32 }).launch(device, { x: i, y: total, n });
    assert.is((await total.read())[0], Math.min(...whole));
  }
});

prove(test, 'other types, rows, equal elements, NaN and no elements', async () => {
  const n = 17001;
  const halves = numbers(n, 3);
  const x = device.bufferOf('f16', halves);
  const y = device.allocate('f16', 1);
  reduce('sum', { type: f16 }).launch(device, { x, y, n });
  const exact = (await x.read()).reduce((a, b) => a + b, 0);
  close(await y.read(), [exact], 2 ** -11, 'f16', 1);
  const wide = Float64Array.from(halves, (v) => v * 1e200);
  const sum = device.allocate('f64', 1);
  reduce('sum', { type: f64 }).launch(device, { x: device.bufferOf('f64', wide), y: sum, n });
  close(
    await sum.read(),
    [wide.reduce((a, b) => a + b, 0)],
    1e-14,
    'f64',
    wide.reduce((a, b) => a + Math.abs(b), 0),
  );
  const rows = device.bufferOf('f32', [7, 2, 9, 9, -1, 3, 3, 5, 3, 4, 4, 4]);
  const [largest, place] = [device.allocate('f32', 3), device.allocate('u32', 3)];
  reduce('max').launch(device, { x: rows, y: largest, n: 4, rows: 3 });
  assert.equal([...(await largest.read())], [9, 5, 4]);
  argmax().launch(device, { x: rows, y: place, n: 4, rows: 3 });
  assert.equal([...(await place.read())], [2, 3, 1]);
  const odd = device.bufferOf('f32', [1, Number.NaN, 5, Number.NaN, -0]);
  const [most, at] = [device.allocate('f32', 1), device.allocate('u32', 1)];
  reduce('max').launch(device, { x: odd, y: most, n: 5 });
  assert.ok(Number.isNaN((await most.read())[0]));
  argmin().launch(device, { x: odd, y: at, n: 5 });
  assert.is((await at.read())[0], 1);
  reduce('sum').launch(device, { x: odd, y: most, n: 0 });
  assert.is((await most.read())[0], 0);
  assert.throws(() => argmin().launch(device, { x: odd, y: at, n: 0 }), /1 to/);
});

test('scans: sums exactly by wrapping, and running maxima of f32', async () => {
  for (const n of [1, 2048, 2049, 6001]) {
    const values = integers(n, n);
    const [x, y] = [device.bufferOf('i32', values), device.allocate('i32', n)];
    let total = 0;
    const inclusive = values.map((value) => (total = (total + value) | 0));
    inclusiveScan({ type: s32 }).launch(device, { x, y, n });
    assert.equal(await y.read(), inclusive);
    exclusiveScan({ type: s32 }).launch(device, { x, y, n });
    assert.equal(await y.read(), Int32Array.of(0, ...inclusive.subarray(0, n - 1)));
  }
  const n = 9001;
  const values = numbers(n, 5);
  const x = device.bufferOf('f32', values);
  let most = Number.NEGATIVE_INFINITY;
  exclusiveScan({ operation: 'max' }).launch(device, { x, y: x, n });
  assert.equal(
    [...(await x.read())],
    Array.from(values, (value) => {
      const before = most;
      most = Math.max(most, value);
      return before;
    }),
  );
});

/** Whether -0 and 0 are apart, and NaN as its bits say. */
const bitsOrder = (a: number, b: number): number => {
  const key = (x: number): bigint => {
    const bits = new BigUint64Array(Float64Array.of(x).buffer)[0]!;
    return bits >> 63n ? ~bits & 0xffffffffffffffffn : bits | (1n << 63n);
  };
  return key(a) < key(b) ? -1 : Number(key(a) > key(b));
};

const algorithms = ['serial', 'parallel'] as const;

/** Sorts of each kind of key by one of the algorithms, where equal keys stay in order. */
async function sortsAll(algorithm: (typeof algorithms)[number], lengths: readonly number[]): Promise<void> {
  for (const n of lengths) {
    // Few different keys show whether equal ones stay in order.
    const few = numbers(n, n + 1).map((x) => Math.round(x * 4) / 2);
    const [floats, places] = [device.bufferOf('f32', few), device.bufferOf('u32', Uint32Array.from(few.keys()))];
    radixSortPairs({ key: f32, descending: true, algorithm }).launch(device, { keys: floats, values: places, n });
    const expected = [...few.keys()].sort((a, b) => bitsOrder(few[b]!, few[a]!) || a - b);
    assert.equal([...(await places.read())], expected);
    assert.equal(
      [...(await floats.read())],
      expected.map((i) => few[i]!),
    );
  }
  const signed = integers(9000, 8);
  const small = device.bufferOf('i32', signed);
  radixSort({ key: s32, algorithm }).launch(device, { keys: small, n: 9000 });
  assert.equal(await small.read(), Int32Array.from(signed).sort());
  const long = BigUint64Array.from(integers(3000, 9), (x, i) => BigInt.asUintN(64, BigInt(x) * BigInt(i * 7919 - 9999999)));
  const [wide, with64] = [device.bufferOf('u64', long), device.bufferOf('f64', Float64Array.from(long, Number))];
  radixSortPairs({ key: u64, value: f64, algorithm }).launch(device, { keys: wide, values: with64, n: 3000 });
  const sorted = BigUint64Array.from(long).sort();
  assert.equal(await wide.read(), sorted);
  assert.equal(await with64.read(), Float64Array.from(sorted, Number));
}

test('sorts of each kind of key by processors, of several tiles, and pairs in their order', async () => {
  await sortsAll('serial', [2, 8192, 8193, 20001]);
  // Keys that are not of the array stay as they are.
  const keys = device.bufferOf('u32', [9, 8, 7, 6, 5]);
  for (const n of [0, 1]) radixSort().launch(device, { keys: keys.part(1), n });
  assert.equal([...(await keys.read())], [9, 8, 7, 6, 5]);
  radixSort().launch(device, { keys: keys.part(1), n: 3 });
  assert.equal([...(await keys.read())], [9, 6, 7, 8, 5]);
});

prove(test, 'sorts of each kind of key by blocks of threads, and pairs in their order', () => sortsAll('parallel', [2, 4097]));

test('histograms: in shared memory, in global memory, and at the edges', async () => {
  const n = 30000;
  const values = Uint32Array.from(numbers(n, 2), (x) => (x + 1) * 5000);
  const x = device.bufferOf('u32', values);
  for (const bins of [7, 5000]) {
    const counts = device.bufferOf('u32', new Uint32Array(bins).fill(9));
    histogram({ type: u32 }).launch(device, { x, counts, n, bins, lower: 100, upper: 9000 });
    const expected = new Uint32Array(bins);
    for (const value of values) if (value >= 100 && value < 9000) expected[Math.floor(((value - 100) * bins) / 8900)]!++;
    assert.equal(await counts.read(), expected);
  }
  const edges = [-1, -0.0001, 0, 0.5, 0.99999994, 1, Number.NaN, Number.POSITIVE_INFINITY];
  const counts = device.allocate('u32', 3);
  histogram().launch(device, { x: device.bufferOf('f32', edges), counts, n: 8, bins: 3, lower: -1, upper: 1 });
  assert.equal([...(await counts.read())], [1, 2, 2]);
  const signed = device.bufferOf('i32', [-128, -1, 0, 127, 128]);
  histogram({ type: s32 }).launch(device, { x: signed, counts, n: 5, bins: 2, lower: -128, upper: 128 });
  assert.equal([...(await counts.read())].slice(0, 2), [2, 2]);
  const bytes = device.bufferOf('u8', [0, 1, 255, 255]);
  histogram({ type: u8 }).launch(device, { x: bytes, counts, n: 4, bins: 2, lower: 0, upper: 256 });
  assert.equal([...(await counts.read())].slice(0, 2), [2, 2]);
  assert.throws(
    () => histogram().launch(device, { x, counts, n: 1, bins: 3, lower: 1, upper: 1 } as never),
    (error: unknown) => error instanceof CumetalError,
  );
});

test('masks: elements and those that are kept, and back', async () => {
  for (const n of [1, 2500]) {
    const values = numbers(n, n + 4);
    const mask = Uint8Array.from(values, (x) => Math.max(0, Math.floor(x * 3)));
    const [x, y, m] = [device.bufferOf('f32', values), device.allocate('f32', n), device.bufferOf('u8', mask)];
    masked().launch(device, { x, mask: m, y, n, value: -7 });
    assert.equal(
      [...(await y.read())],
      Array.from(values, (value, i) => (mask[i] ? value : -7)),
    );
    const count = device.allocate('u32', 1);
    compact().launch(device, { x, mask: m, y, count, n });
    const kept = values.filter((_, i) => mask[i]);
    assert.equal([...(await count.read())], [kept.length]);
    assert.equal((await y.read()).subarray(0, kept.length), kept);
    const dx = device.bufferOf('f32', new Float32Array(n).fill(5));
    compactBackward().launch(device, { dy: y, mask: m, dx, n });
    assert.equal(
      [...(await dx.read())],
      Array.from(values, (value, i) => (mask[i] ? value : 0)),
    );
  }
});

test('the backward kernel of gather: rows that are used often, once and never', async () => {
  const [rows, tableRows, columns] = [700, 50, 37];
  const slopes = numbers(rows * columns, 6);
  const indices = Int32Array.from(numbers(rows, 7), (x) => Math.floor((x + 1) * 30) - 5);
  const dy = device.bufferOf('f32', slopes);
  const dtable = device.bufferOf('f32', new Float32Array(tableRows * columns).fill(3));
  gatherBackward().launch(device, { dy, indices: device.bufferOf('i32', indices), dtable, rows, tableRows, columns });
  const expected = new Float32Array(tableRows * columns);
  // In the order of the rows, each sum rounded to f32: the same bits.
  for (const [r, t] of indices.entries())
    if (t >= 0 && t < tableRows)
      for (let c = 0; c < columns; c++) expected[t * columns + c] = Math.fround(expected[t * columns + c]! + slopes[r * columns + c]!);
  assert.equal(await dtable.read(), expected);
});

prove(test, 'the sanitizer finds nothing', async () => {
  const of = (device: Device, n: number) => device.bufferOf('u32', Uint32Array.from(integers(n, 1)));
  const sorts = await Promise.all(
    algorithms.map((algorithm) =>
      procedureFindings(radixSortPairs({ algorithm }), (d) => ({ keys: of(d, 2100), values: of(d, 2100), n: 2100 })),
    ),
  );
  const place = await procedureFindings(argmax({ type: u32 }), (d) => ({ x: of(d, 17000), y: d.allocate('u32', 1), n: 17000 }));
  const counts = await procedureFindings(histogram({ type: u32 }), (d) => ({
    ...{ x: of(d, 3000), counts: d.allocate('u32', 9), n: 3000, bins: 9, lower: 0, upper: 4294967295 },
  }));
  assert.equal([...sorts.flat(), ...place, ...counts], []);
});

test.run();
