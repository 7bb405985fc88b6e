/** What TypeScript refuses of kernels: `tsc` fails if one of the marked lines has no error, or an unmarked one has. */

import {
  accumulator,
  atomic,
  bf16,
  constant,
  constants,
  type FloatName,
  f16,
  f32,
  f64,
  globalIndex,
  kernel,
  loadA,
  loadB,
  loadTile,
  local,
  loop,
  mma,
  pred,
  privateArray,
  ptr,
  reduceWarp,
  s32,
  shared,
  sharedTile,
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
    // @ts-expect-error: the tile has two dimensions.
    tile.in(k);
  });
});

export const narrower = kernel('narrower', { x: ptr(f32), n: u32, s: s32, d: f64 }, ({ x, n, s, d }) => {
  const a = x.at(0).get();
  a.add(a, { round: 'rz', ftz: true, sat: true }).div(3, { mode: 'approx' }).min(a, { nan: true });
  d.add(d, { round: 'rm' }).sqrt({ mode: 'rp' });
  s.add(1, { sat: true });
  // @ts-expect-error: integers without a sign have no saturating sum.
  n.add(1, { sat: true });
  // @ts-expect-error: nor has a product.
  s.mul(1, { sat: true });
  // @ts-expect-error: doubles are not flushed.
  d.add(d, { ftz: true });
  // @ts-expect-error: doubles have no approximate quotient.
  d.div(d, { mode: 'approx' });
  // @ts-expect-error: halves round to the nearest.
  a.to(f16).add(1, { round: 'rz' });
  // @ts-expect-error: and so do their quotients.
  a.to(f16).div(3, { mode: 'rz' });
  // @ts-expect-error: integers have no NaN.
  n.min(1, { nan: true });
  // @ts-expect-error: constant memory is read only.
  constants(f32, [1, 2]).at(0).set(1);
  // @ts-expect-error: nothing combines with constant memory.
  atomic('add', constants(u32, [1]).at(0), 1);
  // @ts-expect-error: the memory of a thread has no atomics.
  atomic('add', privateArray(u32, 1).at(0), 1);
  // @ts-expect-error: four doubles are 32 bytes.
  v4(f64);
  const [left, right] = [sharedTile(f16, 16, 16), sharedTile(bf16, 8, 16)];
  // @ts-expect-error: two types of factors.
  mma(accumulator('f16'), loadA('f16', left, 0, 0), loadB('bf16', right, 0, 0));
  // @ts-expect-error: f32 in a tile of halves.
  loadTile(left, { pointer: x, rows: n, columns: n }, 0, 0, { threads: 32, thread: n });
  // @ts-expect-error: bounds of two types.
  loop(0, n, s, () => {});
  // @ts-expect-error: a start and an end of two types.
  loop(s, n, 1, () => {});
  loop(s, 4, 1, (i) => i satisfies Value<'s32'>);
});

// @ts-expect-error: predicates are no parameters.
kernel('truth', { p: pred }, () => {});
// @ts-expect-error: no launch gives shared memory by an address.
kernel('inside', { p: ptr(f32, { space: 'shared' }) }, () => {});
// @ts-expect-error: 2048 threads.
kernel('large', { n: u32 }, () => {}, { block: [64, 32] });
// @ts-expect-error: 2048 threads.
kernel('larger', { n: u32 }, () => {}, { maxThreads: 2048 });

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
  // @ts-expect-error: no threads.
  small.launch(device, { grid: 1, block: 0, args: { x, n: 1, big: 1 } });
  // @ts-expect-error: half a thread.
  small.launch(device, { grid: 1, block: 1.5, args: { x, n: 1, big: 1 } });
  // @ts-expect-error: less than one.
  small.launch(device, { grid: 1, block: [32, -1], args: { x, n: 1, big: 1 } });
  // @ts-expect-error: 65 along z.
  small.launch(device, { grid: 1, block: [1, 1, 65], args: { x, n: 1, big: 1 } });
  small.launch(device, { grid: 1, block: [2, 2, 64], args: { x, n: 1, big: 1 } });
  // @ts-expect-error: another element.
  small.launch(device, { grid: 1, block: 1, args: { x: device.allocate('u32', 1), n: 1, big: 1 } });
  // @ts-expect-error: `big` is missing.
  small.launch(device, { grid: 1, block: 1, args: { x, n: 1 } });
  // @ts-expect-error: a bigint for 32 bits.
  small.launch(device, { grid: 1, block: 1, args: { x, n: 1n, big: 1 } });
}
