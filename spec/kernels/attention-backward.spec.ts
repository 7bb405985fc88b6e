/** The gradients of attention against the formulas with f64: grouped heads, masks, more and fewer keys than queries, halves. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f16 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { attention, attentionBackward } from '../../src/kernels/index.ts';
import type { CausalHeads } from '../support/attention.ts';
import { close, numbers, procedureFindings } from '../support/library.ts';

const test = suite('kernels/attention-backward');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

type Tensor = ArrayLike<number>;

/** The gradients as they are defined, one query and head after the other. */
function reference(
  shape: CausalHeads,
  size: number,
  { q, k, v, dy }: Record<'q' | 'k' | 'v' | 'dy', Tensor>,
): Record<'dq' | 'dk' | 'dv', number[]> {
  const { batch, queries, keys, heads, keyHeads, causal } = shape;
  const zeros = (like: Tensor): number[] => Array.from({ length: like.length }, () => 0);
  const [dq, dk, dv] = [zeros(q), zeros(k), zeros(v)];
  const dot = (a: Tensor, i: number, b: Tensor, j: number): number => {
    let sum = 0;
    for (let e = 0; e < size; e++) sum += a[i + e]! * b[j + e]!;
    return sum;
  };
  const scale = 1 / Math.sqrt(size);
  for (let at = 0; at < batch * queries * heads; at++) {
    const [b, i, h] = [Math.floor(at / (queries * heads)), Math.floor(at / heads) % queries, at % heads];
    const query = at * size;
    const key = (j: number): number => ((b * keys + j) * keyHeads + Math.floor(h / (heads / keyHeads))) * size;
    const count = causal ? Math.max(0, Math.min(keys, i + 1 + keys - queries)) : keys;
    const powers = Array.from({ length: count }, (_, j) => Math.exp(scale * dot(q, query, k, key(j))));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const slopes = powers.map((_, j) => dot(dy, query, v, key(j)));
    const mean = powers.reduce((sum, power, j) => sum + (power / total) * slopes[j]!, 0);
    for (const [j, power] of powers.entries())
      for (let e = 0; e < size; e++) {
        const change = (power / total) * (slopes[j]! - mean) * scale;
        dq[query + e]! += change * k[key(j) + e]!;
        dk[key(j) + e]! += change * q[query + e]!;
        dv[key(j) + e]! += (power / total) * dy[query + e]!;
      }
  }
  return { dq, dk, dv };
}

const shapes: readonly CausalHeads[] = [
  { batch: 2, queries: 5, keys: 21, heads: 4, keyHeads: 2, causal: false },
  { batch: 1, queries: 37, keys: 20, heads: 1, keyHeads: 1, causal: true },
  { batch: 1, queries: 3, keys: 40, heads: 3, keyHeads: 1, causal: true },
];

for (const type of ['f32', 'f16'] as const)
  test(`gradients of queries, keys and values: ${type}`, async () => {
    const size = 32;
    for (const shape of type === 'f32' ? shapes : shapes.slice(0, 1)) {
      const { batch, queries, keys, heads, keyHeads, causal } = shape;
      const [many, few] = [batch * queries * heads * size, batch * keys * keyHeads * size];
      const made = (count: number, seed: number) => device.bufferOf(type, numbers(count, seed));
      const given = { q: made(many, 1), k: made(few, 2), v: made(few, 3) };
      const [dy, y, logSum] = [made(many, 4), device.allocate(type, many), device.allocate('f32', many / size)];
      const options = { size, ...(type === 'f16' ? { type: f16 } : {}) };
      const counts = { batch, queries, keys, heads, keyHeads, causal };
      attention(options as { size: number }).launch(device, { ...given, y, logSum, ...counts } as never);
      const results = { dq: device.allocate(type, many), dk: device.allocate(type, few), dv: device.allocate(type, few) };
      attentionBackward(options as { size: number }).launch(device, { ...given, y, dy, logSum, ...results, ...counts } as never);
      const read = { q: await given.q.read(), k: await given.k.read(), v: await given.v.read(), dy: await dy.read() };
      const expected = reference(shape, size, read);
      // The result of halves was rounded before, which changes the product with its gradient.
      for (const name of ['dq', 'dk', 'dv'] as const)
        close(await results[name].read(), expected[name], type === 'f32' ? 4e-6 : 2 ** -9, `${name} ${JSON.stringify(shape)}`);
    }
  });

/** Pages in no order. Sequences share the first one, and no sequence has the last two. */
function pool(shape: CausalHeads, size: number, pageSize: number) {
  const { batch, keys, keyHeads } = shape;
  const [perSequence, width] = [Math.ceil(keys / pageSize), keyHeads * size];
  const pageCount = batch * perSequence + 2;
  const pages = Array.from({ length: batch * perSequence }, (_, i) => (i % perSequence === 0 ? 3 : (i * 5 + 4) % (batch * perSequence)));
  const own = new Map<number, number>();
  // Each page but the shared one has one sequence.
  for (const [i, page] of pages.entries()) {
    if (i % perSequence === 0) continue;
    let free = page;
    while (free === 3 || own.has(free)) free = (free + 1) % (pageCount - 2);
    own.set(free, i);
    pages[i] = free;
  }
  const placeOf = (sequence: number, key: number): number =>
    (pages[sequence * perSequence + Math.floor(key / pageSize)]! * pageSize + (key % pageSize)) * width;
  const each = (visit: (flat: number, place: number) => void): void => {
    for (let i = 0; i < batch * keys; i++) visit(i * width, placeOf(Math.floor(i / keys), i % keys));
  };
  return {
    pages,
    pageCount,
    width,
    count: pageCount * pageSize * width,
    /** What the sequences have, of numbers in pages. */
    flat: (from: Tensor): number[] => {
      const made = Array.from({ length: batch * keys * width }, () => 0);
      each((flat, place) => {
        for (let e = 0; e < width; e++) made[flat + e] = from[place + e]!;
      });
      return made;
    },
    /** Sums in pages. */
    sums: (of: readonly number[]): number[] => {
      const made = Array.from({ length: pageCount * pageSize * width }, () => 0);
      each((flat, place) => {
        for (let e = 0; e < width; e++) made[place + e]! += of[flat + e]!;
      });
      return made;
    },
    /** Numbers in pages, and NaN where no key is: it would show. */
    filled: (seed: number): number[] => {
      const values = numbers(pageCount * pageSize * width, seed);
      const made = Array.from(values, () => Number.NaN);
      each((_, place) => {
        for (let e = 0; e < width; e++) made[place + e] = values[place + e]!;
      });
      return made;
    },
  };
}

for (const [type, size, pageSize] of [
  ['f32', 32, 8],
  ['f32', 8, 7],
  ['f16', 16, 4],
] as const)
  test(`gradients of keys and values in pages of ${pageSize}, of which sequences share one: ${type}, heads of ${size}`, async () => {
    for (const shape of type === 'f32' ? shapes : shapes.slice(0, 1)) {
      const { batch, queries, keys, heads, keyHeads, causal } = shape;
      const many = batch * queries * heads * size;
      const all = pool(shape, size, pageSize);
      const made = (values: ArrayLike<number>) => device.bufferOf(type, values as number[]);
      const given = { q: made(numbers(many, 1)), k: made(all.filled(2)), v: made(all.filled(3)) };
      const [dy, y, logSum] = [made(numbers(many, 4)), device.allocate(type, many), device.allocate('f32', many / size)];
      const options = { size, paged: true, ...(type === 'f16' ? { type: f16 } : {}) } as { size: number; paged: true };
      const counts = { batch, queries, keys, heads, keyHeads, causal, pages: device.bufferOf('i32', all.pages), pageSize };
      attention(options).launch(device, { ...given, y, logSum, ...counts } as never);
      const sevens = () => made(Array.from({ length: all.count }, () => 7));
      const results = { dq: device.allocate(type, many), dk: sevens(), dv: sevens() };
      attentionBackward(options).launch(device, { ...given, y, dy, logSum, ...results, ...counts, pageCount: all.pageCount } as never);
      const read = { q: await given.q.read(), k: all.flat(await given.k.read()), v: all.flat(await given.v.read()), dy: await dy.read() };
      const expected = reference(shape, size, read);
      const what = JSON.stringify(shape);
      const relative = type === 'f32' ? 4e-6 : 2 ** -9;
      close(await results.dq.read(), expected.dq, relative, `dq ${what}`);
      close(await results.dk.read(), all.sums(expected.dk), relative, `dk ${what}`);
      close(await results.dv.read(), all.sums(expected.dv), relative, `dv ${what}`);
    }
  });

test('the sanitizer finds nothing, with pages', async () => {
  const [shape, size, pageSize] = [{ batch: 2, queries: 3, keys: 5, heads: 2, keyHeads: 1, causal: true }, 8, 4];
  const all = pool(shape, size, pageSize);
  const found = await procedureFindings(attentionBackward({ size, paged: true }), (on) => {
    const filled = (count: number) => on.bufferOf('f32', new Float32Array(count).fill(0.5));
    const many = 2 * 3 * 2 * size;
    return {
      ...{ q: filled(many), y: filled(many), dy: filled(many), dq: filled(many), logSum: filled(many / size), k: filled(all.count) },
      ...{ v: filled(all.count), dk: filled(all.count), dv: filled(all.count), pages: on.bufferOf('i32', all.pages), pageSize },
      ...{ pageCount: all.pageCount, ...shape },
    };
  });
  assert.equal(found, []);
});

test('CM5093: heads that do not divide, and sizes that are none', () => {
  const fails = (run: () => unknown, why: RegExp): void => {
    assert.throws(run, (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && why.test(error.message));
  };
  fails(() => attentionBackward({ size: 20 }), /20 elements/);
  const pointers = { q: 0n, k: 0n, v: 0n, y: 0n, dy: 0n, logSum: 0n, dq: 0n, dk: 0n, dv: 0n };
  fails(() => attentionBackward({ size: 32 }).launch(device, { ...pointers, queries: 1, keys: 1, heads: 3, keyHeads: 2 }), /3 heads/);
  fails(() => attentionBackward({ size: 32, paged: true }).launch(device, { ...pointers, queries: 1, keys: 1, heads: 1 }), /missing/);
});

test.run();
