/** Registers that are live, occupancy, and the PTX after the passes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  f32,
  f64,
  kernel,
  local,
  loop,
  occupantsOf,
  optimizedPtx,
  ptr,
  registersOf,
  threadIndex,
  u32,
  u64,
  type Value,
} from '../../src/build/index.ts';
import { Device } from '../../src/index.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';

const test = suite('build/pressure');

/** Loads `count` values, and then adds them up. */
const sums = (count: number) =>
  kernel('sums', { x: ptr(f32), d: ptr(f64) }, ({ x, d }) => {
    const values = Array.from({ length: count }, (_, i) => x.at(i).get());
    const doubles = Array.from({ length: 3 }, (_, i) => d.at(i).get());
    d.at(9).set(doubles.reduce((a, b) => a.add(b)));
    x.at(count).set(values.reduce((a, b) => a.add(b)));
  });

test('values that are live at a time, of 32 and of 64 bits; constants and parameters hold no register', () => {
  for (const count of [2, 10, 40]) assert.is(registersOf(sums(count)).maxLive, count + 6);
});

test('a loop keeps its sums and its counter, and the lines with the most come first', () => {
  const made = kernel('loops', { x: ptr(f32), n: u32 }, ({ x, n }) => {
    const total = Array.from({ length: 8 }, () => local(f32, 0));
    loop(0, n, 1, (i) => {
      for (const [k, each] of total.entries()) each.set(each.fma(each, k));
      x.at(i).set(total[0]!);
    });
    for (const [k, each] of total.entries()) x.at(k).set(each);
  });
  const { maxLive, estimate, spilled, lines } = registersOf(made);
  // Eight sums, the counter, and an address of 64 bits.
  assert.is(maxLive, 11);
  assert.is(spilled, 0);
  assert.ok(estimate >= 12 && estimate <= 22, String(estimate));
  assert.match(lines[0]!.path, /pressure\.spec\.ts$/);
  assert.ok(lines.every(({ live }, i) => live <= (lines[i - 1]?.live ?? live)));
});

test('halves of 64 bits and indices of addresses take no registers of their own', () => {
  const made = kernel('halves', { x: ptr(u64), i: u32, y: ptr(u32) }, ({ x, i, y }) => {
    const words = Array.from({ length: 4 }, (_, k) => x.at(k).get());
    const halves = words.flatMap((word) => [word.to(u32), word.shr(32).to(u32)]);
    y.at(i).set(halves.reduce((a, b) => a.xor(b)));
  });
  // Four words of 64 bits, and the address of the result, which is made first.
  assert.is(registersOf(made).maxLive, 10);
});

/** A chain of products over 40 loads, which could all be ahead of it. */
const waiting = kernel('waiting', { x: ptr(f32), y: ptr(f32) }, ({ x, y }) => {
  const i = threadIndex();
  let sum: Value<'f32'> = x.at(i).get();
  for (let k = 1; k < 40; k++) sum = sum.fma(3, x.at(i.mul(k * k)).get());
  y.at(i).set(sum);
});

test('accesses are moved ahead as far as all threads of a multiprocessor still have their registers', () => {
  // ptxas 13.0: 32 for sm_80 and sm_90, whose multiprocessors have 2048 threads, and 40 for sm_86 with 1536.
  assert.equal(
    [80, 86, 90].map((sm) => registersOf(waiting, `sm_${sm}` as 'sm_80').estimate),
    [32, 40, 32],
  );
});

/** Values that are all needed twice, so that no order of the instructions has fewer of them live. */
const twice = (count: number, options: { maxThreads?: number } = {}) =>
  kernel(
    'twice',
    { x: ptr(f32) },
    ({ x }) => {
      const values = Array.from({ length: count }, (_, i) => x.at(threadIndex(), 32 * i).get());
      const sum = values.reduce((a, b) => a.add(b));
      for (const [i, each] of values.entries()) x.at(threadIndex(), 32 * i).set(each.mul(sum));
    },
    options,
  );

test('what a limit leaves is the estimate, and the rest is spilled', () => {
  // ptxas 13.0 for sm_80: 64 registers and 484 bytes of spill stores; without the limit 96 registers and none.
  const { estimate, spilled } = registersOf(twice(90, { maxThreads: 1024 }), 'sm_80');
  assert.is(estimate, 64);
  assert.ok(spilled > 0 && spilled * 4 <= 484, String(spilled));
  const free = registersOf(twice(90), 'sm_80');
  assert.ok(Math.abs(free.estimate - 96) <= 4 && free.spilled === 0, String(free.estimate));
});

test('values whose accesses can be between their uses are not spilled', () => {
  const made = kernel(
    'between',
    { x: ptr(f32) },
    ({ x }) => {
      const values = Array.from({ length: 90 }, (_, i) => x.at(threadIndex(), 32 * i).get());
      x.at(0).set(values.reduce((a, b) => a.add(b)));
    },
    { maxThreads: 1024 },
  );
  // ptxas 13.0 for sm_80: 31 registers and no spills, though 90 values are live in the order of the source.
  const { maxLive, spilled } = registersOf(made, 'sm_80');
  assert.ok(maxLive >= 90);
  assert.is(spilled, 0);
});

test('values beside addresses are in odd registers, and divisions need registers of their own', () => {
  const singles = kernel('singles', { x: ptr(f32), y: ptr(f32) }, ({ x, y }) => {
    const values = Array.from({ length: 5 }, (_, i) => x.at(threadIndex(), i * 7).get());
    for (const [i, each] of values.entries()) y.at(threadIndex(), i * 7).set(each);
  });
  const quotient = kernel('quotient', { x: ptr(f32), y: ptr(f32) }, ({ x, y }) => {
    const i = threadIndex();
    y.at(i).set(x.at(i).get().div(x.at(i, 32).get()));
  });
  // ptxas 13.0 for sm_80.
  for (const [made, used] of [
    [singles, 18],
    [quotient, 16],
  ] as const) {
    const { estimate } = registersOf(made, 'sm_80');
    assert.ok(Math.abs(estimate - used) <= 2, `${estimate} for ${used}`);
  }
});

test('occupancy as the tables of NVIDIA say', () => {
  // CUDA's occupancy calculator for these: registers, threads, shared memory.
  assert.equal(occupantsOf({ registers: 32, threads: 256 }, 'sm_80'), { blocks: 8, fraction: 1, limitedBy: 'warps' });
  assert.equal(occupantsOf({ registers: 64, threads: 256 }, 'sm_80'), { blocks: 4, fraction: 0.5, limitedBy: 'registers' });
  assert.equal(occupantsOf({ registers: 33, threads: 256 }, 'sm_80'), { blocks: 6, fraction: 0.75, limitedBy: 'registers' });
  assert.equal(occupantsOf({ registers: 32, threads: 128, shared: 49152 }, 'sm_90'), {
    blocks: 4,
    fraction: 0.25,
    limitedBy: 'shared memory',
  });
  assert.equal(occupantsOf({ registers: 16, threads: 32 }, 'sm_86'), { blocks: 16, fraction: 16 / 48, limitedBy: 'blocks' });
  assert.equal(occupantsOf({ registers: 255, threads: 1024 }, 'sm_75').blocks, 0);
  // There is room for its warps, and no block of that size.
  assert.equal(occupantsOf({ registers: 16, threads: 1025 }, 'sm_80'), { blocks: 0, fraction: 0, limitedBy: 'warps' });
  assert.equal(occupantsOf({ registers: 16, threads: 1024 }, 'apple'), { blocks: 3, fraction: 1, limitedBy: 'warps' });
});

const redundant = kernel('redundant', { x: ptr(u32), n: u32 }, ({ x, n }) => {
  const i = threadIndex();
  // What nothing uses, and a product with 1.
  n.mulHi(i);
  x.at(i).set(i.mul(1).add(i));
});

test('the PTX after the passes does the same with fewer instructions', async () => {
  const text = optimizedPtx(redundant, 'sm_80');
  assert.match(redundant.ptx, /mul\.hi[\s\S]*mul\.lo/);
  assert.not.match(text, /mul\.hi|mul\.lo/);
  const device = Device.open('cpu', { print: false });
  const results = await Promise.all(
    [redundant.ptx, text].map(async (ptx) => {
      const x = device.allocate('u32', 32);
      device
        .load(ptx)
        .kernel('redundant')
        .launch({ grid: 1, block: 32, args: [x, 5] });
      return [...(await x.read())];
    }),
  );
  assert.equal(
    results[0],
    Array.from({ length: 32 }, (_, i) => 2 * i),
  );
  assert.equal(results[1], results[0]);
  device.close();
});

need(test, ['ptxas'], 'ptxas takes the PTX after the passes', () => {
  assert.equal([...ptxasFaults(optimizedPtx(redundant, 'sm_80'), 'sm_80')], []);
});

test.run();
