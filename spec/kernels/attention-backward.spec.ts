/** The gradients of attention against the formulas with f64: grouped heads, masks, more and fewer keys than queries, halves. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f16 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { attention, attentionBackward } from '../../src/kernels/index.ts';
import type { CausalHeads } from '../support/attention.ts';
import { close, numbers } from '../support/library.ts';

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

test('CM5093: heads that do not divide, and sizes that are none', () => {
  const fails = (run: () => unknown, why: RegExp): void => {
    assert.throws(run, (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && why.test(error.message));
  };
  fails(() => attentionBackward({ size: 20 }), /20 elements/);
  const pointers = { q: 0n, k: 0n, v: 0n, y: 0n, dy: 0n, logSum: 0n, dq: 0n, dk: 0n, dv: 0n };
  fails(() => attentionBackward({ size: 32 }).launch(device, { ...pointers, queries: 1, keys: 1, heads: 3, keyHeads: 2 }), /3 heads/);
});

test.run();
