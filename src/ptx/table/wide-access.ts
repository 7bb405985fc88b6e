/**
 * Loads and stores of eight elements, with cache policies in clusters, and of mapped devices. A cache policy or a priority affects no result, and
 * memory that is mapped from a device is memory here. Source: PTX ISA 9.0, 9.7.9.8, 9.7.9.9 and 9.7.9.11.
 */
import { type Row, row } from '../model/row.ts';
import { wide as doubles, load, memoryTypes, store } from './memory-access.ts';
import { type FenceWord, fenceAround } from './order.ts';
import { globalOrGeneric } from './spaces.ts';

/** Eight elements of 128 bits at most, and of 256 bits. */
const kinds = [
  { type: ['b8', 'u8', 's8', 'b16', 'u16', 's16'], space: ['global', 'shared', 'shared::cta'], since: { ptx: 8.3, sm: 70 } },
  { type: ['b32', 'u32', 's32', 'f32'], space: ['global'], since: { ptx: 8.8, sm: 100 } },
] as const;
const words = kinds[1].type;
const blackwell = kinds[1].since;
const ampere = { ptx: 7.4, sm: 80 } as const;
const hopper = { ptx: 7.8, sm: 90 } as const;
const scope = ['cta', 'cluster', 'gpu', 'sys'] as const;
const evict = ['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] as const;
const evict2 = ['L2::evict_normal', 'L2::evict_first', 'L2::evict_last'] as const;
const prefetch = ['L2::64B', 'L2::128B', 'L2::256B'] as const;
const shared = ['shared', 'shared::cta', 'shared::cluster'] as const;
const ownSpaces = ['shared', 'shared::cta', 'local', 'const', 'param', 'param::entry'] as const;
const cop = ['ca', 'cg', 'cs', 'lu', 'cv'] as const;
const stores = ['wb', 'cg', 'cs', 'wt'] as const;
const constants = ['ca', 'cg', 'cs'] as const;
const order = ['relaxed', 'acquire'] as const;
const release = ['relaxed', 'release'] as const;
const eight = { vec: 'v8' } as const;
const ignored = 'Hints do not affect results and are ignored.';

const plain = (): readonly Row[] =>
  kinds.flatMap(({ type, space, since }) => [
    row({
      syntax: 'ld{.weak}{.space}{.cop}{.evict}{.prefetch}.v8.type d, [a]',
      values: { space: space.length > 1 ? ['global', ...ownSpaces] : ['global'], cop, evict, prefetch, type },
      excludes: [
        { cop, evict },
        { space: ownSpaces, evict },
        { space: ownSpaces, prefetch },
      ],
      relaxed: ['d'],
      vectors: { d: 'elements' },
      lanes: { d: 8 },
      since,
      doc: `Loads eight elements. ${ignored}`,
      source: '9.7.9.8',
      status: 'exact',
      lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight }, false),
      cases: () => [],
    }),
    row({
      syntax: 'ld.global{.cop}.nc{.evict}{.prefetch}.v8.type d, [a]',
      values: { cop: constants, evict, prefetch, type },
      excludes: [{ cop: constants, evict }],
      relaxed: ['d'],
      vectors: { d: 'elements' },
      lanes: { d: 8 },
      since,
      doc: `Loads eight elements of memory that is constant while the kernel runs. ${ignored}`,
      source: '9.7.9.9',
      status: 'exact',
      lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight, space: 'global' }, false),
      cases: () => [],
    }),
    row({
      syntax: 'ld.volatile{.space}.v8.type d, [a]',
      values: { space, type },
      relaxed: ['d'],
      vectors: { d: 'elements' },
      lanes: { d: 8 },
      since,
      doc: 'Loads eight elements. The access is neither omitted nor merged.',
      source: '9.7.9.8',
      status: 'exact',
      lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight }, true),
      cases: () => [],
    }),
    row({
      syntax: 'st{.weak}{.space}{.cop}{.evict}.v8.type [a], b',
      values: { space: space.length > 1 ? [...space, 'local'] : space, cop: stores, evict, type },
      excludes: [
        { cop: stores, evict },
        { space: ['shared', 'shared::cta', 'local'], evict },
      ],
      relaxed: ['b'],
      vectors: { b: 'elements' },
      lanes: { b: 8 },
      since,
      doc: `Stores eight elements. ${ignored}`,
      source: '9.7.9.11',
      status: 'exact',
      lower: ({ a, b }, m, ir) => store(ir, a, b, m, false),
      cases: () => [],
    }),
    row({
      syntax: 'st.volatile{.space}.v8.type [a], b',
      values: { space, type },
      relaxed: ['b'],
      vectors: { b: 'elements' },
      lanes: { b: 8 },
      since,
      doc: 'Stores eight elements. The access is neither omitted nor merged.',
      source: '9.7.9.11',
      status: 'exact',
      lower: ({ a, b }, m, ir) => store(ir, a, b, m, true),
      cases: () => [],
    }),
  ]);

/** With orders, and with cache policies. */
const decorated = (): readonly Row[] =>
  kinds.flatMap(({ type, space: own, since }) => {
    const space = own.length > 1 ? ([...own, 'shared::cluster'] as const) : own;
    return [
      row({
        syntax: 'ld.order.scope{.space}{.evict}{.prefetch}.v8.type d, [a]',
        values: { order, scope, space, evict, prefetch, type },
        excludes: [
          { space: shared, evict },
          { space: shared, prefetch },
        ],
        relaxed: ['d'],
        vectors: { d: 'elements' },
        lanes: { d: 8 },
        since,
        doc: `Loads eight elements with a memory order. ${ignored}`,
        source: '9.7.9.8',
        status: 'exact',
        lower: ({ a }, m, ir) => fenceAround(ir, m.scope as FenceWord, m.order, () => load(ir, a, { ...m, ...eight }, true)),
        cases: () => [],
      }),
      row({
        syntax: 'st.order.scope{.space}{.evict}.v8.type [a], b',
        values: { order: release, scope, space, evict, type },
        excludes: [{ space: shared, evict }],
        relaxed: ['b'],
        vectors: { b: 'elements' },
        lanes: { b: 8 },
        since,
        doc: `Stores eight elements with a memory order. ${ignored}`,
        source: '9.7.9.11',
        status: 'exact',
        lower: ({ a, b }, m, ir) => fenceAround(ir, m.scope as FenceWord, m.order, () => store(ir, a, b, m, true)),
        cases: () => [],
      }),
      row({
        syntax: 'ld.order.scope{.global}{.evict}.L2::cache_hint{.prefetch}.v8.type d, [a], policy',
        values: { order, scope, evict, prefetch, type },
        types: { policy: 'b64' },
        relaxed: ['d'],
        vectors: { d: 'elements' },
        lanes: { d: 8 },
        since,
        doc: `Loads eight elements with a memory order and a cache policy. ${ignored}`,
        source: '9.7.9.8',
        status: 'exact',
        lower: ({ a }, m, ir) =>
          fenceAround(ir, m.scope as FenceWord, m.order, () => load(ir, a, { ...m, ...eight, ...globalOrGeneric(m) }, true)),
        cases: () => [],
      }),
      row({
        syntax: 'st.order.scope{.global}{.evict}.L2::cache_hint.v8.type [a], b, policy',
        values: { order: release, scope, evict, type },
        types: { policy: 'b64' },
        relaxed: ['b'],
        vectors: { b: 'elements' },
        lanes: { b: 8 },
        since,
        doc: `Stores eight elements with a memory order and a cache policy. ${ignored}`,
        source: '9.7.9.11',
        status: 'exact',
        lower: ({ a, b }, m, ir) =>
          fenceAround(ir, m.scope as FenceWord, m.order, () => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, true)),
        cases: () => [],
      }),
      row({
        syntax: 'ld{.weak}{.global}{.cop}{.evict}.L2::cache_hint{.prefetch}.v8.type d, [a], policy',
        values: { cop, evict, prefetch, type },
        excludes: [{ cop, evict }],
        types: { policy: 'b64' },
        relaxed: ['d'],
        vectors: { d: 'elements' },
        lanes: { d: 8 },
        since,
        doc: `Loads eight elements with a cache policy. ${ignored}`,
        source: '9.7.9.8',
        status: 'exact',
        lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight, ...globalOrGeneric(m) }, false),
        cases: () => [],
      }),
      row({
        syntax: 'ld.global{.cop}.nc{.evict}.L2::cache_hint{.prefetch}.v8.type d, [a], policy',
        values: { cop: constants, evict, prefetch, type },
        excludes: [{ cop: constants, evict }],
        types: { policy: 'b64' },
        relaxed: ['d'],
        vectors: { d: 'elements' },
        lanes: { d: 8 },
        since,
        doc: `Loads eight elements of constant memory with a cache policy. ${ignored}`,
        source: '9.7.9.9',
        status: 'exact',
        lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight, space: 'global' }, false),
        cases: () => [],
      }),
      row({
        syntax: 'st{.weak}{.global}{.cop}{.evict}.L2::cache_hint.v8.type [a], b, policy',
        values: { cop: stores, evict, type },
        excludes: [{ cop: stores, evict }],
        types: { policy: 'b64' },
        relaxed: ['b'],
        vectors: { b: 'elements' },
        lanes: { b: 8 },
        since,
        doc: `Stores eight elements with a cache policy. ${ignored}`,
        source: '9.7.9.11',
        status: 'exact',
        lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, false),
        cases: () => [],
      }),
      row({
        syntax: 'ld.volatile{.space}.prefetch.v8.type d, [a]',
        values: { space: ['global'], prefetch, type },
        relaxed: ['d'],
        vectors: { d: 'elements' },
        lanes: { d: 8 },
        since,
        doc: `Loads eight elements. The access is neither omitted nor merged. ${ignored}`,
        source: '9.7.9.8',
        status: 'exact',
        lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight }, true),
        cases: () => [],
      }),
    ];
  });

const vec = ['v2', 'v4'] as const;
const bothPriorities = [
  { cop, evict },
  { cop: ['lu', 'cv'], nc: ['nc'] },
  { weak: ['weak'], nc: ['nc'] },
  { global: [''], nc: ['nc'] },
] as const;
const policy = { policy: 'L2::cache_hint' } as const;

/** With a priority of the second cache, which 256 bits have alone. */
const prioritized = (): readonly Row[] => [
  row({
    syntax: 'ld{.weak}{.global}{.cop}{.nc}{.evict}.evict2{.L2::cache_hint}{.prefetch}.v8.type d, [a]{, policy}',
    values: { cop, evict, evict2, prefetch, type: words },
    excludes: bothPriorities,
    types: { policy: 'b64' },
    vectors: { d: 'elements' },
    lanes: { d: 8 },
    onlyWith: policy,
    since: blackwell,
    doc: `Loads eight elements of 32 bits. ${ignored}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight, ...globalOrGeneric(m) }, false),
    cases: () => [],
  }),
  row({
    syntax: 'ld{.weak}{.global}{.cop}{.nc}{.evict}.evict2{.L2::cache_hint}{.prefetch}.v4.type d, [a]{, policy}',
    values: { cop, evict, evict2, prefetch, type: doubles },
    excludes: bothPriorities,
    types: { policy: 'b64' },
    vectors: { d: 'elements' },
    lanes: { d: 4 },
    onlyWith: policy,
    since: blackwell,
    doc: `Loads four elements of 64 bits. ${ignored}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, vec: 'v4', ...globalOrGeneric(m) }, false),
    cases: () => [],
  }),
  row({
    syntax: 'st{.weak}{.global}{.cop}{.evict}.evict2{.L2::cache_hint}.v8.type [a], b{, policy}',
    values: { cop: stores, evict, evict2, type: words },
    excludes: [{ cop: stores, evict }],
    types: { policy: 'b64' },
    vectors: { b: 'elements' },
    lanes: { b: 8 },
    onlyWith: policy,
    since: blackwell,
    doc: `Stores eight elements of 32 bits. ${ignored}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, false),
    cases: () => [],
  }),
  row({
    syntax: 'st{.weak}{.global}{.cop}{.evict}.evict2{.L2::cache_hint}.v4.type [a], b{, policy}',
    values: { cop: stores, evict, evict2, type: doubles },
    excludes: [{ cop: stores, evict }],
    types: { policy: 'b64' },
    vectors: { b: 'elements' },
    lanes: { b: 4 },
    onlyWith: policy,
    since: blackwell,
    doc: `Stores four elements of 64 bits. ${ignored}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, false),
    cases: () => [],
  }),
];

/** With the scope of the cluster and a policy, with a prefetch, and of mapped devices. */
const others = (): readonly Row[] => [
  row({
    syntax: 'ld.order.scope{.global}{.evict}.L2::cache_hint{.prefetch}{.vec}.type d, [a], policy',
    values: { order, scope: ['cluster'], evict, prefetch, vec, type: memoryTypes },
    types: { policy: 'b64' },
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: hopper,
    doc: `Loads with a memory order among the threads of the cluster, and a cache policy. ${ignored}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => fenceAround(ir, m.scope, m.order, () => load(ir, a, { ...m, ...globalOrGeneric(m) }, true)),
    cases: () => [],
  }),
  row({
    syntax: 'st.order.scope{.global}{.evict}.L2::cache_hint{.vec}.type [a], b, policy',
    values: { order: release, scope: ['cluster'], evict, vec, type: memoryTypes },
    types: { policy: 'b64' },
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: hopper,
    doc: `Stores with a memory order among the threads of the cluster, and a cache policy. ${ignored}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => fenceAround(ir, m.scope, m.order, () => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, true)),
    cases: () => [],
  }),
  row({
    syntax: 'ld.volatile{.space}.prefetch{.vec}.type d, [a]',
    values: { space: ['global'], prefetch, vec, type: memoryTypes },
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: ampere,
    doc: `Loads. The access is neither omitted nor merged. ${ignored}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, m, true),
    cases: () => [],
  }),
  row({
    syntax: 'ld.mmio.relaxed.sys{.global}.type d, [a]',
    values: { type: memoryTypes },
    relaxed: ['d'],
    since: { ptx: 8.2, sm: 70 },
    doc: 'Loads exactly once and at the given width, as of a mapped device.',
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, ...globalOrGeneric(m) }, true),
    cases: () => [],
  }),
  row({
    syntax: 'st.mmio.relaxed.sys{.global}.type [a], b',
    values: { type: memoryTypes },
    relaxed: ['b'],
    since: { ptx: 8.2, sm: 70 },
    doc: 'Stores exactly once and at the given width, as to a mapped device.',
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, true),
    cases: () => [],
  }),
];

const small = kinds[0].type;

/** Parameters and results of functions. */
const passed = (): readonly Row[] => [
  row({
    syntax: 'ld.param::func.v8.type d, [a]',
    values: { type: small },
    relaxed: ['d'],
    vectors: { d: 'elements' },
    lanes: { d: 8 },
    since: { ptx: 8.3, sm: 70 },
    doc: 'Loads eight elements of a parameter of a function, or of a result of a call.',
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, ...eight, space: 'param::func' }, false),
    cases: () => [],
  }),
  row({
    syntax: 'st.space.v8.type [a], b',
    values: { space: ['param', 'param::func'], type: small },
    relaxed: ['b'],
    vectors: { b: 'elements' },
    lanes: { b: 8 },
    since: { ptx: 8.3, sm: 70 },
    doc: 'Stores eight elements of an argument of a call, or of the result of a function.',
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, space: 'param::func' }, false),
    cases: () => [],
  }),
];

export const wideAccessRows = (): readonly Row[] => [...plain(), ...decorated(), ...prioritized(), ...others(), ...passed()];
