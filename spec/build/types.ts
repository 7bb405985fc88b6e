/** What TypeScript refuses of kernels: `tsc` fails if one of the marked lines has no error, or an unmarked one has. */

import {
  atomic,
  constant,
  type FloatName,
  f16,
  f32,
  f64,
  globalIndex,
  kernel,
  local,
  loop,
  pred,
  ptr,
  reduceWarp,
  s32,
  shared,
  u8,
  u32,
  u64,
  type Value,
  v4,
  when,
} from '../../src/build/index.ts';
import type { Device } from '../../src/index.ts';

const fused = <T extends FloatName>(a: Value<T>, b: NoInfer<Value<T>>): Value<T> => a.mul(b).add(a).max(0);

export const everything = kernel('everything', { a: f32, d: f64, h: f16, n: u32, x: ptr(f32), v: ptr(v4(f32)), w: ptr(u64) }, (p) => {
  const { a, d, h, n, x, v, w } = p;
  const i = globalIndex();
  x.at(0).set(fused(a, x.at(i).get()) satisfies Value<'f32'>);
  x.at(1).set((fused(d, d) satisfies Value<'f64'>).to(f32));
  // @ts-expect-error: two widths.
  a.add(d);
  // @ts-expect-error: two kinds.
  n.add(a);
  // @ts-expect-error: two signs.
  n.add(constant(s32, 1));
  // @ts-expect-error: a half is no single.
  fused(a, h);
  // @ts-expect-error: predicates have no sum.
  i.lt(n).add(1);
  // @ts-expect-error: bytes have no arithmetic.
  constant(u8, 1).add(1);
  // @ts-expect-error: floats have no bitwise operations.
  a.and(a);
  // @ts-expect-error: integers have no roots.
  n.sqrt();
  // @ts-expect-error: unsigned integers have no sign.
  n.neg();
  // @ts-expect-error: a condition is a predicate.
  when(n, () => {});
  // @ts-expect-error: elements are f32.
  x.at(i).set(n);
  // @ts-expect-error: vectors have four lanes.
  v.at(i).set([a, a]);
  // @ts-expect-error: a float is no index.
  x.at(a);
  // @ts-expect-error: the bits of 32 are not those of 64.
  a.as(u64);
  // @ts-expect-error: the branches have one type.
  i.lt(n).select(a, n);
  // @ts-expect-error: floats have no bitwise atomics.
  atomic('and', x.at(0), a);
  // @ts-expect-error: s64 and u64 have no `inc`.
  atomic('inc', w.at(0), 1);
  // @ts-expect-error: the hardware reduces integers of 32 bits.
  reduceWarp('add', a);
  // @ts-expect-error: variables keep their type.
  local(f32, 0).set(n);
  // @ts-expect-error: a predicate is true or false.
  constant(pred, 1);
  loop(0, n, 1, (k) => {
    x.at(k satisfies Value<'u32'>).set(0);
    const tile = shared(f32, [4, 4]);
    // @ts-expect-error: 32 bits index the tile, a float does not.
    tile.in(k, a);
  });
});

export const small = kernel('small', { x: ptr(f32), n: u32, big: u64 }, () => {});
export function launches(device: Device): void {
  const x = device.allocate('f32', 1);
  const n = 256 as number;
  small.launch(device, { grid: 1, block: 256, args: { x, n: 1, big: 2n ** 40n } });
  small.launch(device, { grid: [1, 2], block: [32, 32], args: { x, n: 1, big: 1 } });
  small.launch(device, { grid: 1, block: 1024, args: { x: null, n: 1, big: 1 } });
  small.launch(device, { grid: 1, block: [8, 8, 16], args: { x, n: 1, big: 1 } });
  small.launch(device, { grid: 1, block: [n, n], args: { x, n: 1, big: 1 } });
  // @ts-expect-error: 1025 threads.
  small.launch(device, { grid: 1, block: 1025, args: { x, n: 1, big: 1 } });
  // @ts-expect-error: 1056 threads.
  small.launch(device, { grid: 1, block: [32, 33], args: { x, n: 1, big: 1 } });
  // @ts-expect-error: 2048 threads.
  small.launch(device, { grid: 1, block: [16, 16, 8], args: { x, n: 1, big: 1 } });
  // @ts-expect-error: 4096 threads.
  small.launch(device, { grid: 1, block: [1, 4096], args: { x, n: 1, big: 1 } });
  // @ts-expect-error: another element.
  small.launch(device, { grid: 1, block: 1, args: { x: device.allocate('u32', 1), n: 1, big: 1 } });
  // @ts-expect-error: `big` is missing.
  small.launch(device, { grid: 1, block: 1, args: { x, n: 1 } });
  // @ts-expect-error: a bigint for 32 bits.
  small.launch(device, { grid: 1, block: 1, args: { x, n: 1n, big: 1 } });
}
