/** A kernel for each function of the builder that is no operation of values, for what reads all PTX of the builder. */
import * as b from '../../src/build/index.ts';
import { f32, f64, kernel, ptr, s32, type TypedKernel, u32, u64 } from '../../src/build/index.ts';

const { threadIndex, when } = b;

/** Each of them by its name. */
export function functions(): { readonly name: string; readonly ptx: string }[] {
  const made: { name: string; ptx: string }[] = [];
  const add = (name: string, body: Parameters<typeof one>[1]): void => {
    made.push({ name, ptx: one(`function${made.length}`, body).ptx });
  };
  for (const [name, body] of [...memory, ...threads, ...atomics(), ...flow, ...copies, ...matrices(), ...tiles()]) add(name, body);
  for (const target of ['sm_70', 'sm_75', 'sm_80', 'sm_90'] as const)
    made.push({
      name: `pipeline ${target}`,
      ptx: kernel(`function${made.length}`, parameters, pipelined, { locations: false, target }).ptx,
    });
  return made;
}

const parameters = {
  x: ptr(f32),
  d: ptr(f64),
  i: ptr(u32),
  s: ptr(s32),
  l: ptr(u64),
  v: ptr(b.v4(f32)),
  h: ptr(b.f16),
  g: ptr(f32, { space: 'generic' }),
  n: u32,
} as const;
const one = (name: string, body: b.Body<typeof parameters>): TypedKernel<typeof parameters> =>
  kernel(name, parameters, body, { locations: false });
type Body = b.Body<typeof parameters>;
type Row = readonly [name: string, body: Body];

const memory: readonly Row[] = [
  ...(['ca', 'cg', 'cs', 'lu', 'cv'] as const).map((cache): Row => [`load.${cache}`, ({ x }) => x.at(1).set(x.at(0).get({ cache }))]),
  ...(['wb', 'cg', 'cs', 'wt'] as const).map((cache): Row => [`store.${cache}`, ({ x }) => x.at(1).set(x.at(0), { cache })]),
  ['read only', ({ x, v }) => x.at(1).set(v.at(0).get({ readOnly: true }).w)],
  ['volatile', ({ x }) => x.at(1).set(x.at(0).get({ volatile: true }), { volatile: true })],
  ...(['cta', 'gpu', 'sys', 'cluster'] as const).map(
    (scope): Row => [`order ${scope}`, ({ x }) => x.at(1).set(x.at(0).get({ order: 'acquire', scope }), { order: 'release', scope })],
  ),
  ['generic', ({ g, x }) => g.at(3).set(x.generic().at(1))],
  [
    'vectors',
    ({ v }) =>
      v.at(1).set(
        v
          .at(0)
          .get()
          .map((lane) => lane.add(1)),
      ),
  ],
  [
    'halves',
    ({ h, x }) =>
      h
        .as(b.v2(b.f16))
        .at(0)
        .set([h.at(0), x.at(0).get().to(b.f16)]),
  ],
  [
    'pairs',
    ({ h }) =>
      h
        .as(b.f16x2)
        .at(0)
        .set(b.pack(h.at(0).get(), h.at(1))),
  ],
  ['shared', ({ x, n }) => b.shared(f32, [4, 5], { align: 16 }).in(threadIndex(), n).set(x.at(0))],
  ['dynamic shared', ({ x }) => x.at(0).set(b.dynamicShared(f32, 64).at(threadIndex()))],
  ['private', ({ x, n }) => b.privateArray(f32, 8).at(n).set(x.at(0))],
  ['constants', ({ x, n }) => x.at(0).set(b.constants(f32, [1, 2.5, -3]).at(n))],
  ['variables', ({ i }) => i.at(0).set(b.globalArray(u32, 2, { values: [7, 8] }).at(1))],
  ['pointers', ({ x, l }) => x.at(0).set(b.pointerAt(f32, 'global', l.at(0).get()).add(3).at(1))],
  ['shared address', ({ i, x }) => i.at(0).set(b.shared(f32, 2).add(1).address().add(x.address().to(u32)))],
];

const threads: readonly Row[] = [
  [
    'indices',
    ({ i }) => i.at(b.globalIndex('z')).set(b.globalSize('y').add(b.laneIndex()).add(b.warpIndex()).add(b.lanesBefore()).add(b.clock())),
  ],
  ['cluster', ({ i }) => i.at(0).set(b.clusterRank())],
  [
    'shuffles',
    ({ x, d, h, i }) => {
      d.at(0).set(b.shuffleXor(d.at(0).get(), 1));
      h.at(0).set(b.shuffleUp(h.at(0).get(), 2, { width: 8 }));
      x.at(0).set(b.shuffleDown(x.at(0).get(), i.at(0), { mask: 0xff }));
      when(b.shuffleFrom(x.at(0).get().gt(0), 3), () => i.at(1).set(b.shuffleFrom(i.at(1).get(), 0)));
    },
  ],
  [
    'votes',
    ({ i, n }) => {
      const condition = n.gt(3);
      when(b.all(condition).and(b.any(condition)).and(b.uniform(condition)), () => i.at(0).set(b.ballot(condition)));
    },
  ],
  ['match', ({ i, l }) => i.at(0).set(b.matchAny(i.at(0).get()).add(b.matchAll(l.at(0).get())))],
  [
    'reduce',
    ({ s, i }) => {
      s.at(0).set(b.reduceWarp('min', s.at(0).get()));
      i.at(0).set(b.reduceWarp('add', i.at(0).get()));
    },
  ],
  [
    'warp',
    ({ i, d }) => {
      i.at(0).set(b.activeMask());
      b.syncWarp();
      d.at(0).set(b.warpReduce(d.at(0).get(), (x, y) => x.max(y)));
    },
  ],
  [
    'barriers',
    ({ i, n }) => {
      b.syncThreads();
      b.syncBarrier(3, 64);
      b.syncBarrier(2);
      when(b.syncVote('and', n.gt(1)), () => i.at(0).set(1));
      i.at(1).set(b.syncCount(n.gt(2)));
    },
  ],
  [
    'fences',
    () => {
      b.fence('cta');
      b.fence();
      b.fence('sys');
    },
  ],
  ...(['cta', 'gpu', 'sys', 'cluster'] as const).map((scope): Row => [`fence ${scope}`, () => b.fenceOf('acq_rel', scope)]),
];

function atomics(): Row[] {
  const orders = ['relaxed', 'acquire', 'release', 'acq_rel'] as const;
  const scopes = ['cta', 'gpu', 'sys', 'cluster'] as const;
  const integers = ['add', 'min', 'max', 'and', 'or', 'xor', 'exch'] as const;
  return [
    ...integers.map(
      (name): Row => [
        `atomic ${name}`,
        ({ i, s, l }) => {
          i.at(0).set(b.atomic(name, i.at(1), 5));
          s.at(0).set(b.atomic(name, s.at(1), -5));
          l.at(0).set(b.atomic(name, l.at(1), 5));
          if (name !== 'exch') b.reduction(name, i.at(2), 1);
        },
      ],
    ),
    ...(['inc', 'dec'] as const).map((name): Row => [`atomic ${name}`, ({ i }) => void b.atomic(name, i.at(0), 9)]),
    ['atomic f32', ({ x }) => void b.atomic('add', x.at(0), 1)],
    ['atomic f64', ({ d }) => b.reduction('add', d.at(0), 1)],
    ['atomic f16', ({ h }) => void b.atomic('add', h.at(0), 1)],
    ['atomic f16x2', ({ h }) => void b.atomic('add', h.as(b.f16x2).at(0), 1)],
    ['atomic bf16', ({ h }) => void b.atomic('add', h.as(b.bf16).at(0), 1)],
    ['atomic bf16x2', ({ h }) => void b.atomic('add', h.as(b.bf16x2).at(0), 1)],
    ['atomic shared', () => void b.atomic('add', b.shared(u32, 1).at(0), 1)],
    ['atomic generic', ({ g }) => void b.atomic('exch', g.at(0), 1)],
    [
      'exchange',
      ({ x, l }) => {
        x.at(0).set(b.compareExchange(x.at(1), 1, 2));
        l.at(0).set(b.compareExchange(l.at(1), 1, 2));
      },
    ],
    ['exchange u16', ({ h }) => void b.compareExchange(h.as(b.u16).at(0), 1, 2)],
    ...scopes.map((scope): Row => [`atomic ${scope}`, ({ i }) => void b.atomic('add', i.at(0), 1, { scope })]),
    ...orders.map((order): Row => [`atomic ${order}`, ({ i }) => void b.atomic('add', i.at(0), 1, { order })]),
  ];
}

const flow: readonly Row[] = [
  [
    'loops',
    ({ x, n }) => {
      b.loop(0, n, 1, (i) => when(x.at(i).get().lt(0), b.breakLoop));
      b.loop(n, 0, -1, (i) => when(x.at(i).get().lt(0), b.continueLoop));
      for (const i of b.range(0, 4)) x.at(i).set(0);
    },
  ],
  [
    'while',
    ({ x, n }) => {
      const i = b.local(u32, n);
      b.loopWhile(
        () => i.gt(0),
        () => i.set(i.shr(1)),
      );
      b.repeatWhile(() => {
        i.set(i.add(1));
        return i.lt(5);
      });
      const isDone = b.local(b.pred, i.gt(3));
      when(isDone, b.exit, () => x.at(i).set(1));
    },
  ],
  [
    'report',
    ({ x, n, h, l }) => {
      b.printf('%d %f %f %llu\n', n, x.at(0), h.at(0), l.at(0));
      b.assert(n.lt(5), 'too large');
      when(n.eq(7), b.trap);
    },
  ],
  ['inline', ({ i }) => i.at(0).set(b.inline('mov.u32 %0, %%smid;\nadd.u32 %0, %0, %1;', [u32], [i.at(1).get()])[0])],
];

const copies: readonly Row[] = [
  [
    'copyAsync',
    ({ v, n }) => {
      const tile = b.shared(f32, 64, { align: 16 });
      b.copyAsync(tile.at(0), v.at(n), 16, { read: n });
      b.copyAsync(tile.at(4), v.at(n), 16, { cache: 'ca' });
      b.copyAsync(tile.at(8), v.at(n), 4);
      b.copyAsync(tile.at(12), v.at(n), 4, { guard: n.lt(3) });
      b.commitCopies();
      b.waitCopies(1);
    },
  ],
  [
    'barriers in memory',
    ({ n }) => {
      const barrier = b.shared(b.b64, 1).at(0);
      b.initBarrier(barrier, n);
      when(b.testBarrier(barrier, b.arriveAt(barrier)), b.syncThreads);
      b.arriveAfterCopies(barrier);
      b.endBarrier(barrier);
    },
  ],
  [
    'bulk',
    ({ x, n }) => {
      const [barrier, tile] = [b.shared(b.b64, 1).at(0), b.shared(f32, 64, { align: 16 })];
      when(b.tryBarrier(barrier, 1), () => b.copyBulk(tile, x, n, barrier));
      b.arriveExpecting(barrier, 256);
      b.fenceAsync();
      b.storeBulk(x, tile, 256);
      b.commitBulk();
      b.waitBulk(1, { read: true });
    },
  ],
];

function matrices(): Row[] {
  const stored = { f16: b.f16, bf16: b.bf16, tf32: f32, s8: b.s8, u8: b.u8, f64, f64x4: f64, f64x8: f64, f64x16: f64 } as const;
  const products = (Object.keys(b.shapes) as b.FactorName[]).map(
    (type): Row => [
      `mma ${type}`,
      ({ d }) => {
        const tile = b.sharedTile(stored[type], 32, 64, { swizzle: true });
        const sum = b.accumulator(type);
        b.mma(sum, b.loadA(type, tile as never, 0, 0), b.loadB(type, tile as never, 0, 8));
        b.mma(sum, b.loadA(type, tile as never, 0, 0, { transposed: true }), b.loadB(type, tile as never, 0, 0, { transposed: true }));
        b.eachElement(sum, (element, row, column) => d.at(row.add(column)).set((element as b.Value<'f32'>).to(f64)));
      },
    ],
  );
  const groups = (Object.keys(b.groupDepth) as b.GroupFactorName[]).map(
    (type): Row => [
      `wgmma ${type}`,
      ({ d }) => {
        const at = b.groupDescriptor(b.shared(f32, 2048, { align: 128 }), { leading: 16, stride: 512, swizzle: 64 });
        const sum = b.groupAccumulator(type, 24);
        b.groupFence();
        b.groupMma(sum, at, at, type === 'f16' ? { add: false, transposeA: true, transposeB: true } : {});
        const words = Array.from({ length: 4 }, () => b.constant(b.b32, 0));
        b.groupFence();
        b.groupMma(sum, words, at);
        b.commitGroup();
        b.waitGroup();
        b.eachGroupElement(sum, (element, row, column) => d.at(row.add(column)).set((element as b.Value<'f32'>).to(f64)));
      },
    ],
  );
  return [
    ...products,
    ...groups,
    ['storeHalves', () => b.storeHalves(b.accumulator('f16'), b.sharedTile(b.bf16, 16, 8), 0, 0)],
    ['toTf32', ({ d }) => d.at(0).set(b.toTf32(b.constant(f32, 0.1)).to(f64))],
    [
      'asFactor',
      () =>
        b.mma(
          b.accumulator('bf16'),
          b.asFactor('bf16', b.accumulator('bf16'), b.accumulator('bf16')),
          b.loadB('bf16', b.sharedTile(b.bf16, 16, 16), 0, 0),
        ),
    ],
  ];
}

/** Tiles of every type and layout, loaded by every size of copy. */
function tiles(): Row[] {
  const layouts = [{}, { pad: 8 }, { swizzle: true }] as const;
  return [
    ...layouts.flatMap((layout) =>
      ([1, 2, 4, 8] as const).map(
        (vector): Row => [
          `tile ${JSON.stringify(layout)} by ${vector}`,
          ({ h, x, n }) => {
            const [halves, singles] = [b.sharedTile(b.f16, 16, 32, { ...layout, stages: 2 }), b.sharedTile(f32, 8, 32, layout)];
            const [thread, rows] = [threadIndex(), { rows: n, columns: n }];
            b.loadTile(halves.stage(1), { pointer: h, ...rows }, 0, n, { threads: 96, thread, vector });
            b.loadTile(halves.stage(n), { pointer: h, ...rows, stride: 40 }, n, 0, { threads: 96, thread, vector, async: true });
            if (vector < 8) b.loadTile(singles, { pointer: x, ...rows }, 0, n, { threads: 96, thread, vector, async: true });
            b.commitCopies();
            b.waitCopies(0);
            x.at(0).set(singles.at(n, 3));
            x.as(b.v4(f32))
              .at(1)
              .set(singles.vectorAt(n, 4, 4).get());
            h.at(0).set(halves.at(n, thread).pointer().at(1));
          },
        ],
      ),
    ),
    [
      'reduction of a block',
      ({ x, d, n }) => {
        x.at(b.blockIndex().mad(b.blockSize(), b.gridSize('y'))).set(
          b.blockReduce(x.at(n).get(), (p, q) => p.max(q), { threads: 96, identity: 0 }),
        );
        d.at(0).set(b.blockReduce(d.at(n).get(), (p, q) => p.add(q), { threads: 96, identity: 0 }));
      },
    ],
    [
      'halves of words',
      ({ i, h, v }) => {
        i.at(0).set(i.at(0).get().low().to(u32).add(i.at(0).get().high().to(u32)));
        h.at(0).set(h.as(b.f16x2).at(0).get().low().add(h.as(b.f16x2).at(0).get().high()));
        v.at(0).set(b.vector(f32, [1, v.at(1).get().x, v.at(1).get().y, v.at(1).get().z]));
      },
    ],
  ];
}

/** A product by a pipeline, where the target has `cp.async` or not. */
const pipelined: Body = ({ x, h, n }) => {
  const tile = b.sharedTile(b.f16, 16, 16, { swizzle: true, stages: 3 });
  const sum = b.local(f32, 0);
  const how = { threads: 32, thread: threadIndex(), vector: 8, async: b.mayNeed(80) } as const;
  b.pipeline({
    stages: 3,
    rounds: n,
    load: (stage, round) => b.loadTile(tile.stage(stage), { pointer: h, rows: n, columns: n }, round.mul(16), 0, how),
    compute: (stage) => sum.set(sum.add(tile.stage(stage).at(threadIndex().rem(16), 0).get().to(f32))),
  });
  x.at(0).set(sum);
};
