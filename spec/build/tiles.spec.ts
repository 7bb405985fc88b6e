/** Tiles, pipelines, reductions of blocks and matrix products on the CPU device, over shapes that are no multiples of tiles. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Accumulator,
  accumulator,
  arriveAt,
  arriveExpecting,
  asFactor,
  b64,
  bf16,
  blockIndex,
  blockReduce,
  commitBulk,
  commitGroup,
  copyBulk,
  eachElement,
  eachGroupElement,
  type FactorName,
  f16,
  f32,
  f64,
  fenceAsync,
  groupAccumulator,
  groupDescriptor,
  groupFence,
  groupMma,
  initBarrier,
  kernel,
  loadA,
  loadB,
  loadTile,
  local,
  loopWhile,
  type MemoryName,
  mma,
  pipeline,
  ptr,
  range,
  s8,
  s32,
  shapes,
  shared,
  sharedTile,
  storeBulk,
  storeHalves,
  syncThreads,
  type Target,
  type TileOptions,
  type Type,
  testBarrier,
  threadIndex,
  tryBarrier,
  u8,
  u32,
  type Value,
  waitBulk,
  waitGroup,
  warpIndex,
  when,
} from '../../src/build/index.ts';
import { Device } from '../../src/index.ts';

const test = suite('build/tiles');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

const iota = (length: number): number[] => Array.from({ length }, (_, i) => i);

/** Small whole numbers, whose sums and products are exact in every type. */
const numbers = (length: number, seed: number): number[] => iota(length).map((i) => ((i * 7 + seed * 13 + (i >> 3) * 5) % 9) - 4);

const product = (a: number[], b: number[], [m, n, k]: readonly [number, number, number]): number[] =>
  iota(m * n).map((at) => iota(k).reduce((sum, i) => sum + a[Math.floor(at / n) * k + i]! * b[i * n + (at % n)]!, 0));

interface Kind {
  readonly stored: Type<MemoryName>;
  readonly sum: Type<'f32' | 's32' | 'f64'>;
  readonly element: 'f16' | 'bf16' | 'f32' | 'i8' | 'u8' | 'f64';
}
const kinds: Record<FactorName, Kind> = {
  f16: { stored: f16, sum: f32, element: 'f16' },
  bf16: { stored: bf16, sum: f32, element: 'bf16' },
  tf32: { stored: f32, sum: f32, element: 'f32' },
  s8: { stored: s8, sum: s32, element: 'i8' },
  u8: { stored: u8, sum: s32, element: 'u8' },
  f64: { stored: f64, sum: f64, element: 'f64' },
  f64x4: { stored: f64, sum: f64, element: 'f64' },
  f64x8: { stored: f64, sum: f64, element: 'f64' },
  f64x16: { stored: f64, sum: f64, element: 'f64' },
};

/** `c = a bᵀ` with both row by row: two warps, each with a tile of `m` by `n` of its own. */
const matmul = kernel(
  'matmul',
  { a: ptr(f16), b: ptr(f16), c: ptr(f32), rows: u32, columns: u32, steps: u32 },
  ({ a, b, c, rows, columns, steps }) => {
    const { m, n, k } = shapes.f16;
    const left = sharedTile(f16, m, k, { swizzle: true, stages: 3 });
    const right = sharedTile(f16, 2 * n, k, { pad: 8, stages: 3 });
    const [row, column] = [blockIndex('y').mul(m), blockIndex('x').mul(2 * n)];
    const total = accumulator('f16');
    const threads = { threads: 64, thread: threadIndex(), async: true, vector: 4 } as const;
    pipeline({
      stages: 3,
      rounds: steps.add(k - 1).div(k),
      load: (stage, round) => {
        loadTile(left.stage(stage), { pointer: a, rows, columns: steps }, row, round.mul(k), threads);
        loadTile(right.stage(stage), { pointer: b, rows: columns, columns: steps }, column, round.mul(k), threads);
      },
      compute: (stage) => {
        mma(total, loadA('f16', left.stage(stage), 0, 0), loadB('f16', right.stage(stage), 0, warpIndex().mul(n)));
      },
    });
    eachElement(total, (element, r, s) => {
      const [i, j] = [row.add(r), column.add(warpIndex().mul(n)).add(s)];
      when(i.lt(rows).and(j.lt(columns)), () => c.at(i.mad(columns, j)).set(element));
    });
  },
);

/** The transpose of a matrix of `rows` rows. */
const turned = (list: readonly number[], rows: number): number[] =>
  iota(list.length).map((at) => list[(at % rows) * (list.length / rows) + Math.floor(at / rows)]!);

test('a product of matrices by a pipeline over padded and swizzled tiles', async () => {
  for (const [m, n, k] of [
    [19, 21, 44],
    [1, 1, 4],
    [33, 8, 16],
  ] as const) {
    const [a, b] = [numbers(m * k, 1), numbers(k * n, 2)];
    const c = device.allocate('f32', m * n);
    const args = { a: device.bufferOf('f16', a), b: device.bufferOf('f16', turned(b, k)), c, rows: m, columns: n, steps: k };
    matmul.launch(device, { grid: [Math.ceil(n / 16), Math.ceil(m / 16)], block: 64, args });
    assert.equal([...(await c.read())], product(a, b, [m, n, k]), `${m} × ${n} × ${k}`);
  }
});

/** One product of a warp, of the second half of tiles of `2 k` columns. */
function single(type: FactorName, options: TileOptions, transposed: boolean) {
  const { stored, sum } = kinds[type];
  const { m, n, k } = shapes[type];
  return kernel(`single_${type}`, { a: ptr(stored), b: ptr(stored), c: ptr(sum) }, ({ a, b, c }) => {
    const [rows, columns] = transposed ? [2 * k, m] : [m, 2 * k];
    const left = sharedTile(stored, rows, columns, options);
    const right = sharedTile(stored, n, 2 * k, options);
    for (const i of range(threadIndex(), m * 2 * k, 32)) left.at(i.div(columns), i.rem(columns)).set(a.at(i) as never);
    for (const i of range(threadIndex(), n * 2 * k, 32)) right.at(i.div(2 * k), i.rem(2 * k)).set(b.at(i) as never);
    syncThreads();
    const total = accumulator(type) as Accumulator<'f16'>;
    mma(total, loadA(type as 'f16', left as never, 0, k, { transposed }), loadB(type as 'f16', right as never, k, 0));
    eachElement(total, (element, row, column) => c.at(row.mad(n, column)).set(element as never));
  });
}

for (const [type, { element, sum }] of Object.entries(kinds) as [FactorName, Kind][])
  test(`a product of ${type}: each lane has its elements`, async () => {
    const { m, n, k } = shapes[type];
    const isWide = type === 'f64' || type === 's8';
    const made = single(type, isWide ? { swizzle: true } : { pad: 16 }, isWide || type === 'bf16');
    const positive = (list: number[]): number[] => (type === 'u8' ? list.map(Math.abs) : list);
    const [a, b] = [positive(numbers(m * 2 * k, 1)), positive(numbers(n * 2 * k, 2))];
    const half = (list: readonly number[]): number[] => list.filter((_, i) => i % (2 * k) >= k);
    const c = device.allocate(sum.name === 's32' ? 'i32' : sum.name, m * n);
    const left = isWide || type === 'bf16' ? turned(a, m) : a;
    const args = { a: device.bufferOf(element, left), b: device.bufferOf(element, b), c };
    made.launch(device, { grid: 1, block: 32, args: args as never });
    assert.equal([...(await c.read())], product(half(a), turned(half(b), n), [m, n, k]));
  });

test('a pipeline of ordinary loads for targets before sm_80 gives the same', async () => {
  const made = (target: Target) =>
    kernel(
      'sums',
      { x: ptr(f32), out: ptr(f32), n: u32 },
      ({ x, out, n }) => {
        const tile = sharedTile(f32, 1, 64, { stages: 2 });
        const sum = local(f32, 0);
        pipeline({
          stages: 2,
          rounds: n.add(63).div(64),
          load: (stage, round) =>
            loadTile(tile.stage(stage), { pointer: x, rows: 1, columns: n }, 0, round.mul(64), {
              threads: 32,
              thread: threadIndex(),
              async: true,
            }),
          compute: (stage) => {
            for (const i of range(0, 64)) sum.set(sum.add(tile.stage(stage).at(0, i)));
          },
        });
        when(threadIndex().eq(0), () => out.at(0).set(sum));
      },
      { target },
    );
  const values = numbers(333, 3);
  for (const target of ['sm_70', 'sm_80'] as const) {
    const sums = made(target);
    assert.is(/cp\.async/.test(sums.ptx), target === 'sm_80');
    const out = device.allocate('f32', 1);
    sums.launch(device, { grid: 1, block: 32, args: { x: device.bufferOf('f32', values), out, n: 333 } });
    assert.equal([...(await out.read())], [values.reduce((a, b) => a + b)]);
  }
});

test('the other way around in shared memory, and a sum that is a factor of the next product', async () => {
  const made = kernel('chain', { a: ptr(f16), b: ptr(f16), c: ptr(f16) }, ({ a, b, c }) => {
    const thread = { threads: 32, thread: threadIndex(), vector: 8 } as const;
    const [left, right, result] = [
      sharedTile(f16, 16, 16, { swizzle: true }),
      sharedTile(f16, 16, 16, { pad: 8 }),
      sharedTile(f16, 16, 16),
    ];
    loadTile(left, { pointer: a, rows: 16, columns: 16 }, 0, 0, thread);
    loadTile(right, { pointer: b, rows: 16, columns: 16 }, 0, 0, thread);
    syncThreads();
    // aᵀ b, then that times b.
    const transposed = loadA('f16', left, 0, 0, { transposed: true });
    const parts = [0, 8].map((column) => {
      const part = accumulator('f16');
      mma(part, transposed, loadB('f16', right, 0, column, { transposed: true }));
      return part;
    });
    const factor = asFactor('f16', parts[0]!, parts[1]!);
    for (const column of [0, 8]) {
      const part = accumulator('f16');
      mma(part, factor, loadB('f16', right, 0, column, { transposed: true }));
      storeHalves(part, result, 0, column);
    }
    syncThreads();
    for (const i of range(threadIndex(), 256, 32)) c.at(i).set(result.at(i.shr(4), i.and(15)));
  });
  const [a, b] = [numbers(256, 1).map(Math.sign), numbers(256, 2).map(Math.sign)];
  const size = [16, 16, 16] as const;
  const c = device.allocate('f16', 256);
  made.launch(device, { grid: 1, block: 32, args: { a: device.bufferOf('f16', a), b: device.bufferOf('f16', b), c } });
  assert.equal([...(await c.read())], product(product(turned(a, 16), b, size), b, size));
});

test('a reduction of a block: softmax of rows of any length', async () => {
  const made = kernel('softmax', { x: ptr(f32), out: ptr(f32), columns: u32 }, ({ x, out, columns }) => {
    const [from, to] = [x, out].map((each) => each.add(blockIndex().mul(columns)));
    const reduce = (
      start: number,
      combine: (a: Value<'f32'>, b: Value<'f32'>) => Value<'f32'>,
      visit: (i: Value<'u32'>) => Value<'f32'>,
    ) => {
      const own = local(f32, start);
      for (const i of range(threadIndex(), columns, 96)) own.set(combine(own.get(), visit(i)));
      return blockReduce(own.get(), combine, { threads: 96, identity: start });
    };
    const most = reduce(
      Number.NEGATIVE_INFINITY,
      (a, b) => a.max(b),
      (i) => from!.at(i).get(),
    );
    const sum = reduce(
      0,
      (a, b) => a.add(b),
      (i) => from!.at(i).get().sub(most).exp(),
    );
    for (const i of range(threadIndex(), columns, 96)) to!.at(i).set(from!.at(i).get().sub(most).exp().div(sum));
  });
  for (const [rows, columns] of [
    [1, 1],
    [3, 95],
    [2, 301],
  ] as const) {
    const x = iota(rows * columns).map((i) => Math.fround(Math.sin(i * 3) * 20));
    const out = device.allocate('f32', rows * columns);
    made.launch(device, { grid: rows, block: 96, args: { x: device.bufferOf('f32', x), out, columns } });
    const got = await out.read();
    for (let row = 0; row < rows; row++) {
      const values = x.slice(row * columns, (row + 1) * columns).map(Math.exp);
      const sum = values.reduce((a, b) => a + b);
      const wrong = values.findIndex((value, i) => Math.abs(got[row * columns + i]! - value / sum) > 4e-6 * (value / sum) + 1e-38);
      assert.is(wrong, -1, `row ${row}`);
    }
  }
});

test('a warp group multiplies matrices that were copied in bulk', async () => {
  const made = kernel('group', { a: ptr(f16), b: ptr(f16), c: ptr(f32), twice: ptr(f16) }, ({ a, b, c, twice }) => {
    const memory = shared(f16, (64 + 16) * 16, { align: 128 });
    const barrier = shared(b64, 1).at(0);
    const right = memory.add(64 * 16);
    when(threadIndex().eq(0), () => {
      initBarrier(barrier, 1);
      arriveExpecting(barrier, (64 + 16) * 32);
      copyBulk(memory, a, 64 * 32, barrier);
      copyBulk(right, b, 16 * 32, barrier);
    });
    syncThreads();
    loopWhile(
      () => tryBarrier(barrier, 0).not(),
      () => {},
    );
    fenceAsync();
    const sum = groupAccumulator('f16', 16);
    const layout = { leading: 128, stride: 256 };
    groupFence();
    groupMma(sum, groupDescriptor(memory, layout), groupDescriptor(right, layout), { add: false });
    groupMma(sum, groupDescriptor(memory, layout), groupDescriptor(right, layout));
    commitGroup();
    waitGroup();
    eachGroupElement(sum, (element, row, column) => c.at(row.mad(16, column)).set(element));
    when(threadIndex().eq(0), () => {
      storeBulk(twice, memory, 64 * 32);
      commitBulk();
      waitBulk();
    });
  });
  assert.is(made.target, 'sm_90a');
  // Matrices of eight rows by 16 bytes, one after the other along k and then down the rows.
  const placed = (rows: number, at: (row: number, k: number) => number): number[] =>
    iota(rows * 16).map((i) => at(8 * Math.floor(i / 128) + Math.floor((i % 64) / 8), 8 * (Math.floor(i / 64) % 2) + (i % 8)));
  const [x, y] = [numbers(64 * 16, 4), numbers(16 * 16, 5)];
  const [a, b] = [placed(64, (row, k) => x[row * 16 + k]!), placed(16, (column, k) => y[k * 16 + column]!)];
  const [c, twice] = [device.allocate('f32', 64 * 16), device.allocate('f16', 64 * 16)];
  made.launch(device, { grid: 1, block: 128, args: { a: device.bufferOf('f16', a), b: device.bufferOf('f16', b), c, twice } });
  assert.equal(
    [...(await c.read())],
    product(x, y, [64, 16, 16]).map((each) => 2 * each),
  );
  assert.equal([...(await twice.read())], a);
});

test('a barrier in memory: every thread arrives and sees what others wrote', async () => {
  const made = kernel('arrive', { out: ptr(u32) }, ({ out }) => {
    const t = threadIndex();
    const [barrier, words] = [shared(b64, 1).at(0), shared(u32, 64)];
    when(t.eq(0), () => initBarrier(barrier, 64));
    syncThreads();
    words.at(t).set(t.mul(t));
    const state = arriveAt(barrier);
    loopWhile(
      () => testBarrier(barrier, state).not(),
      () => {},
    );
    out.at(t).set(words.at(t.xor(37)));
  });
  const out = device.allocate('u32', 64);
  made.launch(device, { grid: 1, block: 64, args: { out } });
  assert.equal(
    [...(await out.read())],
    iota(64).map((i) => (i ^ 37) ** 2),
  );
});

test('a column of a swizzled tile is spread over the banks', () => {
  // Eight rows of 16 bytes, as `ldmatrix` reads them, in 32 banks of four bytes.
  for (const columns of [16, 32, 64, 128])
    kernel('banks', {}, () => {
      const tile = sharedTile(f16, 16, columns, { swizzle: true });
      for (let first = 0; first < columns; first += 8) {
        const parts = iota(8).map((row) => (tile.at(row, first).address.offset / 16) % 8);
        // Rows of 64 halves and more have each its own; of narrower ones several lie in 128 bytes, and are apart by that.
        const whole = new Set(iota(16).map((row) => tile.at(row, first).address.offset));
        assert.is(whole.size, 16);
        if (columns >= 64) assert.is(new Set(parts).size, 8, String(columns));
      }
    });
});

test.run();
