/** A kernel for each function of the builder that is no operation of values, for what reads all PTX of the builder. */
import * as b from '../../src/build/index.ts';
import { f32, f64, type Kernel, kernel, ptr, s32, u32, u64 } from '../../src/build/index.ts';

const { threadIndex, when } = b;

/** Each of them by its name. */
export function functions(): { readonly name: string; readonly ptx: string }[] {
  const made: { name: string; ptx: string }[] = [];
  const add = (name: string, body: Parameters<typeof one>[1]): void => {
    made.push({ name, ptx: one(`function${made.length}`, body).ptx });
  };
  for (const [name, body] of [...memory, ...threads, ...atomics(), ...flow]) add(name, body);
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
const one = (name: string, body: b.Body<typeof parameters>): Kernel<typeof parameters> =>
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
