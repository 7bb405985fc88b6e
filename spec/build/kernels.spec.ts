/** What the functions of the builder do on the CPU device, against JavaScript, over ragged shapes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  all,
  any,
  atomic,
  b32,
  ballot,
  bf16,
  blockIndex,
  breakLoop,
  compareExchange,
  constants,
  continueLoop,
  assert as deviceAssert,
  dynamicShared,
  exit,
  f16,
  f32,
  f64,
  globalArray,
  globalIndex,
  inline,
  kernel,
  laneIndex,
  local,
  loop,
  loopWhile,
  matchAny,
  pack,
  pred,
  printf,
  privateArray,
  ptr,
  range,
  reduceWarp,
  repeatWhile,
  s32,
  shared,
  shuffleDown,
  shuffleFrom,
  shuffleUp,
  shuffleXor,
  syncCount,
  syncThreads,
  threadIndex,
  trap,
  u8,
  u32,
  u64,
  v4,
  vector,
  warpReduce,
  when,
} from '../../src/build/index.ts';
import { CumetalError, Device, DeviceLostError } from '../../src/index.ts';
import { check, Diagnostics, parse, print, SourceFile } from '../../src/ptx/index.ts';
import { functions } from './functions.ts';

const test = suite('build/kernels');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

const iota = (length: number): number[] => Array.from({ length }, (_, i) => i);

test('loops: up, down, by steps, with break and continue, of JavaScript and of the GPU', async () => {
  const made = kernel('loops', { out: ptr(s32), n: s32 }, ({ out, n }) => {
    const sum = local(s32, 0);
    const add = (by: Parameters<typeof sum.add>[0]): void => sum.set(sum.add(by));
    let row = 0;
    const store = (): void => {
      out.at(row++).set(sum);
      sum.set(0);
    };
    loop(0, n, 1, add);
    store();
    loop(n, 0, -3, add);
    store();
    loop(n, 0, 1, add);
    store();
    for (const i of range(0, n, 4)) {
      when(i.gt(9), breakLoop);
      add(i);
    }
    store();
    for (const i of range(1, n)) {
      when(i.rem(3).eq(0), continueLoop);
      loop(0, i, 1, (k) => {
        when(k.eq(4), breakLoop);
        add(k);
      });
    }
    store();
    const left = local(s32, n);
    loopWhile(
      () => left.gt(2),
      () => {
        left.set(left.sub(3));
        when(left.rem(2).eq(0), continueLoop);
        add(left);
      },
    );
    store();
    const count = local(s32, 0);
    repeatWhile(() => {
      count.set(count.add(1));
      add(count.get());
      return count.lt(n);
    });
    store();
    // JavaScript's own loop repeats instructions.
    for (let i = 0; i < 5; i++) add(i * i);
    store();
  });
  const out = device.allocate('i32', 8);
  for (const n of [0, 1, 5, 13]) {
    made.launch(device, { grid: 1, block: 1, args: { out, n } });
    const up = iota(n).reduce((a, b) => a + b, 0);
    let [down, steps, nested, rest, whole] = [0, 0, 0, 0, 0];
    for (let i = n; i > 0; i -= 3) down += i;
    for (let i = 0; i < n && i <= 9; i += 4) steps += i;
    for (let i = 1; i < n; i++) if (i % 3 !== 0) nested += iota(Math.min(i, 4)).reduce((a, b) => a + b, 0);
    for (let i = n; i > 2; ) {
      i -= 3;
      if (i % 2 !== 0) rest += i;
    }
    for (let i = 1; i <= Math.max(1, n); i++) whole += i;
    assert.equal([...(await out.read())], [up, down, 0, steps, nested, rest, whole, 30], `n = ${n}`);
  }
});

test('branches: both sides, nested, the end of a thread', async () => {
  const made = kernel('branches', { out: ptr(u32), n: u32 }, ({ out, n }) => {
    const i = globalIndex();
    when(i.ge(n), exit);
    const value = local(u32, 7);
    when(
      i.and(1).eq(0),
      () => value.set(i.mul(10)),
      () =>
        when(
          i.gt(4),
          () => value.set(1),
          () => value.set(i),
        ),
    );
    const isSet = local(pred, value.get().eq(1));
    when(isSet, () => value.set(value.add(100)));
    out.at(i).set(value);
  });
  const n = 37;
  const out = device.allocate('u32', 64);
  made.launch(device, { grid: 2, block: 32, args: { out, n } });
  const expected = iota(64).map((i) => (i >= n ? 0 : i % 2 === 0 ? i * 10 : i > 4 ? 101 : i === 1 ? 101 : i));
  assert.equal([...(await out.read())], expected);
});

test('memory: shared, dynamic, private, constant and global arrays, vectors, bytes, halves', async () => {
  const made = kernel(
    'memory',
    { x: ptr(v4(f32)), bytes: ptr(u8), halves: ptr(f16), out: ptr(f32), n: u32 },
    ({ x, bytes, halves, out, n }) => {
      const t = threadIndex();
      const tile = shared(f32, [8, 5], { align: 16, name: 'tile' });
      const more = dynamicShared(f32, 32);
      const own = privateArray(f32, 4);
      const table = constants(f32, [0.5, 1.5, 2.5]);
      const calls = globalArray(u32, 3, { name: 'calls', values: [5, 6, 7] });
      when(t.lt(n), () => {
        const { lanes } = x.at(t).get();
        lanes.forEach((lane, k) => {
          tile.in(t, k).set(lane);
          own.at(k).set(lane.mul(2));
        });
        tile.in(t, 4).set(0);
        more.at(t).set(halves.at(t).get().to(f32));
        atomic('add', calls.at(1), 1);
      });
      syncThreads();
      when(t.lt(n), () => {
        const other = n.sub(1).sub(t);
        const sum = local(f32, 0);
        for (let k = 0; k < 5; k++) sum.set(sum.add(tile.in(other, k)));
        sum.set(
          sum
            .add(own.at(t.and(3)))
            .add(more.at(other))
            .add(table.at(t.rem(3))),
        );
        sum.set(sum.add(bytes.at(t).get().to(f32)));
        out.at(t).set(sum);
        x.at(t).set(vector(f32, [t.to(f32), sum, 1, 2]));
      });
    },
  );
  for (const n of [1, 7, 8]) {
    const values = iota(4 * n).map((i) => i / 4);
    const x = device.bufferOf('f32', values);
    const bytes = device.bufferOf(
      'u8',
      iota(n).map((i) => 250 + (i % 5)),
    );
    const halves = device.bufferOf(
      'f16',
      iota(n).map((i) => i - 0.5),
    );
    const out = device.allocate('f32', n);
    made.launch(device, { grid: 1, block: 32, shared: 32 + 4 * n, args: { x, bytes, halves, out, n } });
    const expected = iota(n).map((t) => {
      const other = n - 1 - t;
      const row = values.slice(4 * other, 4 * other + 4).reduce((a, b) => a + b, 0);
      return row + 2 * values[4 * t + (t & 3)]! + (other - 0.5) + [0.5, 1.5, 2.5][t % 3]! + 250 + (t % 5);
    });
    assert.equal([...(await out.read())], expected);
    assert.equal([...(await x.read())].slice(0, 4), [0, expected[0], 1, 2]);
  }
  const calls = made.module(device).symbol('calls');
  assert.equal([...new Uint32Array((await calls.read()).slice().buffer)], [5, 6 + 16, 7]);
});

test('warps: shuffles of every width, votes, matches and reductions', async () => {
  const made = kernel('warps', { out: ptr(f64), words: ptr(u32), n: u32 }, ({ out, words, n }) => {
    const lane = laneIndex();
    const value = lane.to(f64).mul(1.5);
    const half = lane.to(f32).to(f16);
    const sums = [
      shuffleXor(value, 5),
      shuffleUp(lane, 3, { width: 8 }).to(f64),
      shuffleDown(half, 4).to(f64),
      shuffleFrom(lane.lt(9), 8, { width: 16 }).to(u32).to(f64),
      warpReduce(value, (a, b) => a.max(b)),
      warpReduce(lane.to(f32), (a, b) => a.add(b), { width: 4 }).to(f64),
      reduceWarp('add', lane).to(f64),
      shuffleFrom(lane.to(f32).to(bf16), 7).to(f32).to(f64),
    ];
    sums.forEach((sum, row) => {
      out.at(lane, 32 * row).set(sum);
    });
    const isLow = lane.lt(n);
    const flags = all(isLow).to(u32).or(any(isLow).to(u32).shl(1));
    [flags, ballot(isLow), matchAny(lane.rem(3)), syncCount(isLow)].forEach((word, row) => {
      words.at(lane, 32 * row).set(word);
    });
  });
  const [out, words] = [device.allocate('f64', 256), device.allocate('u32', 128)];
  made.launch(device, { grid: 1, block: 32, args: { out, words, n: 11 } });
  const lanes = iota(32);
  const expected = [
    lanes.map((i) => (i ^ 5) * 1.5),
    lanes.map((i) => (i % 8 < 3 ? i : i - 3)),
    lanes.map((i) => (i + 4 > 31 ? i : i + 4)),
    lanes.map((i) => (i < 16 ? 1 : 0)),
    lanes.map(() => 46.5),
    lanes.map((i) => 4 * (i - (i % 4)) + 6),
    lanes.map(() => 496),
    lanes.map(() => 7),
  ];
  assert.equal([...(await out.read())], expected.flat());
  const match = lanes.map((i) => lanes.filter((k) => k % 3 === i % 3).reduce((mask, k) => mask + 2 ** k, 0));
  assert.equal([...(await words.read())], [lanes.map(() => 2), lanes.map(() => 2047), match, lanes.map(() => 11)].flat());
});

test('atomics by operation and type, with the old value', async () => {
  const constantOne = () => inline('mov.u32 %0, 1;', [u32])[0];
  const made = kernel('atomics', { words: ptr(u32), signed: ptr(s32), float: ptr(f32), wide: ptr(u64), old: ptr(u32) }, (p) => {
    const t = globalIndex();
    atomic('add', p.words.at(0), t);
    atomic('max', p.words.at(1), t);
    atomic('or', p.words.at(2), constantOne().shl(t.and(31)));
    atomic('inc', p.words.at(3), 9);
    atomic('min', p.signed.at(0), t.to(s32).neg(), { scope: 'gpu' });
    atomic('add', p.float.at(0), 0.5, { order: 'relaxed' });
    atomic('add', p.wide.at(0), t.to(u64).shl(32));
    p.old.at(t).set(atomic('add', p.words.at(4), 1));
    const isDone = local(pred, false);
    loopWhile(
      () => isDone.get().not(),
      () => {
        const seen = p.words.at(5).get({ volatile: true });
        isDone.set(compareExchange(p.words.at(5), seen, seen.add(3)).eq(seen));
      },
    );
  });
  const n = 96;
  const [words, signed, float, wide, old] = [
    device.allocate('u32', 6),
    device.allocate('i32', 1),
    device.allocate('f32', 1),
    device.allocate('u64', 1),
    device.allocate('u32', n),
  ];
  made.launch(device, { grid: 3, block: 32, args: { words, signed, float, wide, old } });
  const sum = (n * (n - 1)) / 2;
  assert.equal([...(await words.read())], [sum, n - 1, 0xffffffff, n % 10, n, 3 * n]);
  assert.equal([...(await signed.read())], [1 - n]);
  assert.equal([...(await float.read())], [n / 2]);
  assert.equal([...(await wide.read())], [BigInt(sum) << 32n]);
  assert.equal(
    [...(await old.read())].sort((a, b) => a - b),
    iota(n),
  );
});

test('scalars of every type reach the kernel', async () => {
  const scalars = kernel('scalars', { a: f16, b: bf16, c: f64, d: u64, e: s32, g: u8, out: ptr(f64), raw: ptr(b32) }, (p) => {
    [p.a.to(f64), p.b.to(f32).to(f64), p.c, p.d.to(f64), p.e.to(f64), p.g.to(f64)].forEach((value, i) => {
      p.out.at(i).set(value);
    });
    p.raw.at(0).set(pack(p.a, 2).as(b32));
  });
  const [out, raw] = [device.allocate('f64', 6), device.allocate('u32', 1)];
  scalars.launch(device, { grid: 1, block: 1, args: { a: 1.5, b: -0.25, c: Math.PI, d: 2n ** 40n, e: -7, g: 200, out, raw } });
  assert.equal([...(await out.read())], [1.5, -0.25, Math.PI, 2 ** 40, -7, 200]);
  assert.equal([...(await raw.read())], [0x40003e00]);
});

test('printf, assert and trap', async () => {
  let said = '';
  const listening = Device.open('cpu', { print: (text) => (said += new TextDecoder().decode(text)) });
  const made = kernel('says', { x: f32, n: u32 }, ({ x, n }) => {
    printf('%u %d %.2f %llu %s', n, n.to(s32).neg(), x, n.to(u64).shl(33), n.to(u64).and(0));
    printf('100%%\n');
    deviceAssert(n.lt(4), 'n is small');
    when(n.eq(3), trap);
  });
  made.launch(listening, { grid: 1, block: 1, args: { x: 1.25, n: 2 } });
  await listening.synchronize();
  assert.is(said, '2 -2 1.25 17179869184 (null)100%\n');
  made.launch(listening, { grid: 1, block: 1, args: { x: 1, n: 3 } });
  await listening.synchronize().catch((error) => assert.instance(error, CumetalError));
  await listening.reset();
  made.launch(listening, { grid: 1, block: 1, args: { x: 1, n: 4 } });
  const failure = await listening.synchronize().then(
    () => '',
    (error: Error) => error.message,
  );
  assert.match(failure, /n is small/);
  try {
    listening.allocate('f32', 1);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, DeviceLostError);
  }
  listening.close();
});

test('the exponential and the logarithm are within their errors, and have the limits of IEEE 754', async () => {
  const made = kernel('functions', { x: ptr(f32), n: u32 }, ({ x, n }) => {
    const i = globalIndex();
    const value = x.at(i).get();
    x.at(i.add(n)).set(value.abs().log());
    x.at(i).set(value.exp());
  });
  const limits = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 88.75, -104.5, 1e30, -1e30];
  const n = 2048;
  const values = iota(n).map((i) => limits[i] ?? Math.fround(((i * 7919) % n) * (176 / n) - 87.3));
  const x = device.bufferOf('f32', [...values, ...values]);
  made.launch(device, { grid: n / 128, block: 128, args: { x, n } });
  const got = [...(await x.read())];
  assert.equal(got.slice(0, 8).map(String), ['NaN', 'Infinity', '0', '1', 'Infinity', '0', 'Infinity', '0']);
  assert.equal(got.slice(n, n + 4).map(String), ['NaN', 'Infinity', 'Infinity', '-Infinity']);
  // An ulp is at most 2^-23 of a number.
  const errorOf = (result: number, exact: number): number => Math.abs(result - exact) / Math.max(Math.abs(exact) * 2 ** -23, 2 ** -149);
  const whole = values.map((value, i) => (i < 8 ? 0 : errorOf(got[i]!, Math.exp(value))));
  assert.ok(Math.max(...whole) <= 1, String(Math.max(...whole)));
  const logarithms = values.map((value, i) => (i < 8 ? 0 : errorOf(got[n + i]!, Math.log(Math.abs(value)))));
  assert.ok(Math.max(...logarithms) <= 2, String(Math.max(...logarithms)));
});

test('a block per row: rows of any length', async () => {
  const made = kernel('rows', { x: ptr(f32), out: ptr(f32), columns: u32 }, ({ x, out, columns }) => {
    const row = x.add(blockIndex().mul(columns));
    const best = local(f32, Number.NEGATIVE_INFINITY);
    for (const i of range(threadIndex(), columns, 32)) best.set(best.max(row.at(i)));
    const whole = warpReduce(best.get(), (a, b) => a.max(b));
    when(threadIndex().eq(0), () => out.at(blockIndex()).set(whole));
  });
  for (const [rows, columns] of [
    [1, 1],
    [3, 31],
    [5, 100],
  ] as const) {
    const values = iota(rows * columns).map((i) => Math.fround(Math.sin(i * 17)));
    const out = device.allocate('f32', rows);
    made.launch(device, { grid: rows, block: 32, args: { x: device.bufferOf('f32', values), out, columns } });
    assert.equal(
      [...(await out.read())],
      iota(rows).map((row) => Math.max(...values.slice(row * columns, (row + 1) * columns))),
    );
  }
});

test('the text parses to the tree of the kernel, which prints as the text, and has no finding', () => {
  for (const { name, ptx } of functions()) {
    const source = new SourceFile(`${name}.ptx`, ptx);
    const diagnostics = new Diagnostics(source);
    const ast = parse(source, diagnostics);
    assert.is(print(ast), ptx, name);
    check(ast, { isStrict: true, functions: true, lints: true }, diagnostics);
    assert.equal(
      diagnostics.list.filter(({ code }) => code !== 'CM2002').map(({ message }) => message),
      [],
      name,
    );
  }
});

test.run();
