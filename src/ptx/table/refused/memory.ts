/**
 * Refused: loads, stores and copies with cache policies, of 256 or 128 bits, in clusters or of mapped devices. Source: PTX ISA 9.0, 9.7.9.
 */
import { type Row, row } from '../../model/row.ts';

const types = ['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64'] as const;
const words = ['b32', 'u32', 's32', 'f32'] as const;
const doubles = ['b64', 'u64', 's64', 'f64'] as const;
const scopes = ['cta', 'cluster', 'gpu', 'sys'] as const;
const ordered = ['global', 'shared', 'shared::cta', 'shared::cluster'] as const;
const evictions = ['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] as const;
const evictions2 = ['L2::evict_normal', 'L2::evict_first', 'L2::evict_last'] as const;
const prefetches = ['L2::64B', 'L2::128B', 'L2::256B'] as const;
const vectors = ['v2', 'v4', 'v8'] as const;
const notGlobal = ['shared', 'shared::cta', 'shared::cluster', 'local', 'const', 'param'] as const;
/** 256-bit accesses are legal for global memory only, and wider ones never. */
const tooWide = { vec: ['v8'], type: doubles } as const;
const loadHints = ['ca', 'cg', 'cs', 'lu', 'cv'] as const;
const storeHints = ['wb', 'cg', 'cs', 'wt'] as const;
const volta = { ptx: 6, sm: 70 } as const;
const ampere = { ptx: 7.4, sm: 80 } as const;
const blackwell = { ptx: 8.8, sm: 100 } as const;
const wholeRegister = { ptx: 8.3, sm: 70 } as const;

const withOrder = {
  refused: 'an ordered access with the cluster scope, a cache policy or eight elements is not supported yet',
  instead: 'write `.gpu` for `.cluster`, and leave out `.L2::cache_hint` and the policy: results do not change',
} as const;
const withPolicy = {
  refused: 'an access with a cache policy in a register is not supported yet',
  instead: 'leave out `.L2::cache_hint` and the policy: results do not change',
} as const;
const wide = {
  refused: 'a single access of 256 bits is not supported yet',
  instead: 'use two accesses of 128 bits, or compile for an architecture before sm_100',
} as const;
const eight = { refused: 'a single access of eight elements is not supported yet', instead: 'use two accesses of four elements' } as const;
const whole = {
  refused: 'a 128-bit register is not supported yet',
  instead: 'use two 64-bit registers',
} as const;
const ofDevices = {
  refused: 'Metal gives kernels no way to address memory-mapped devices',
  instead: 'use `ld.volatile` and `st.volatile` on buffers',
} as const;

const orderedRows = (): readonly Row[] => [
  row({
    syntax: 'ld.order.scope{.space}{.evict}{.prefetch}{.vec}.type d, [a]',
    values: {
      order: ['relaxed', 'acquire'],
      scope: scopes,
      space: ordered,
      evict: evictions,
      prefetch: prefetches,
      vec: vectors,
      type: types,
    },
    excludes: [
      { space: notGlobal, evict: evictions },
      { space: notGlobal, prefetch: prefetches },
      { space: notGlobal, vec: ['v4'], type: doubles },
      { space: notGlobal, vec: ['v8'], type: words },
      tooWide,
    ],
    vectors: { d: 'elements' },
    since: volta,
    doc: 'Loads with a memory order and a scope.',
    source: '9.7.9.8',
    status: withOrder,
  }),
  row({
    syntax: 'st.order.scope{.space}{.evict}{.vec}.type [a], b',
    values: { order: ['relaxed', 'release'], scope: scopes, space: ordered, evict: evictions, vec: vectors, type: types },
    excludes: [
      { space: notGlobal, evict: evictions },
      { space: notGlobal, vec: ['v4'], type: doubles },
      { space: notGlobal, vec: ['v8'], type: words },
      tooWide,
    ],
    vectors: { b: 'elements' },
    since: volta,
    doc: 'Stores with a memory order and a scope.',
    source: '9.7.9.11',
    status: withOrder,
  }),
  row({
    syntax: 'ld.order.scope{.global}{.evict}.L2::cache_hint{.prefetch}{.vec}.type d, [a], policy',
    values: { order: ['relaxed', 'acquire'], scope: scopes, evict: evictions, prefetch: prefetches, vec: vectors, type: types },
    excludes: [tooWide],
    types: { policy: 'b64' },
    vectors: { d: 'elements' },
    since: ampere,
    doc: 'Loads with a memory order and a cache policy.',
    source: '9.7.9.8',
    status: withOrder,
  }),
  row({
    syntax: 'st.order.scope{.global}{.evict}.L2::cache_hint{.vec}.type [a], b, policy',
    values: { order: ['relaxed', 'release'], scope: scopes, evict: evictions, vec: vectors, type: types },
    excludes: [tooWide],
    types: { policy: 'b64' },
    vectors: { b: 'elements' },
    since: ampere,
    doc: 'Stores with a memory order and a cache policy.',
    source: '9.7.9.11',
    status: withOrder,
  }),
  row({
    syntax: 'ld.mmio.relaxed.sys{.global}.type d, [a]',
    values: { type: types },
    since: { ptx: 8.2, sm: 70 },
    doc: 'Loads from a memory-mapped device, exactly once and at the given width.',
    source: '9.7.9.8',
    status: ofDevices,
  }),
  row({
    syntax: 'st.mmio.relaxed.sys{.global}.type [a], b',
    values: { type: types },
    since: { ptx: 8.2, sm: 70 },
    doc: 'Stores to a memory-mapped device, exactly once and at the given width.',
    source: '9.7.9.11',
    status: ofDevices,
  }),
  row({
    syntax: 'ld.volatile{.space}.prefetch{.vec}.type d, [a]',
    values: { space: ['global'], prefetch: prefetches, vec: vectors, type: types },
    excludes: [tooWide],
    vectors: { d: 'elements' },
    since: ampere,
    doc: 'Loads without being omitted or merged, and prefetches surrounding memory.',
    source: '9.7.9.8',
    status: {
      refused: 'a volatile access with a prefetch hint is not supported yet',
      instead: 'leave out the hint: results do not change',
    },
  }),
];

const hintedRows = (): readonly Row[] => [
  row({
    syntax: 'ld{.weak}{.global}{.cop}{.evict}.L2::cache_hint{.prefetch}.vec.type d, [a], policy',
    values: { cop: loadHints, evict: evictions, prefetch: prefetches, vec: ['v8'], type: types },
    excludes: [{ cop: loadHints, evict: evictions }, tooWide],
    types: { policy: 'b64' },
    vectors: { d: 'elements' },
    since: ampere,
    doc: 'Loads with a cache policy.',
    source: '9.7.9.8',
    status: withPolicy,
  }),
  row({
    syntax: 'ld.global{.cop}.nc{.evict}.L2::cache_hint{.prefetch}.vec.type d, [a], policy',
    values: { cop: ['ca', 'cg', 'cs'], evict: evictions, prefetch: prefetches, vec: ['v8'], type: types },
    excludes: [{ cop: ['ca', 'cg', 'cs'], evict: evictions }, tooWide],
    types: { policy: 'b64' },
    vectors: { d: 'elements' },
    since: ampere,
    doc: 'Loads constant memory with a cache policy.',
    source: '9.7.9.9',
    status: withPolicy,
  }),
  row({
    syntax: 'st{.weak}{.global}{.cop}{.evict}.L2::cache_hint.vec.type [a], b, policy',
    values: { cop: storeHints, evict: evictions, vec: ['v8'], type: types },
    excludes: [{ cop: storeHints, evict: evictions }, tooWide],
    types: { policy: 'b64' },
    vectors: { b: 'elements' },
    since: ampere,
    doc: 'Stores with a cache policy.',
    source: '9.7.9.11',
    status: withPolicy,
  }),
];

/** Eight of these have at most 128 bits. */
const small = ['b8', 'u8', 's8', 'b16', 'u16', 's16'] as const;

const wideRows = (): readonly Row[] => [
  row({
    syntax: 'ld.param::func.v8.type d, [a]',
    values: { type: small },
    vectors: { d: 'elements' },
    lanes: { d: 8 },
    since: { ptx: 8.3, sm: 20 },
    doc: 'Loads eight elements of a function parameter.',
    source: '9.7.9.8',
    status: eight,
  }),
  row({
    syntax: 'st.space.v8.type [a], b',
    values: { space: ['param', 'param::func'], type: small },
    vectors: { b: 'elements' },
    lanes: { b: 8 },
    since: { ptx: 2, sm: 20 },
    doc: 'Stores eight elements of a call argument or a result.',
    source: '9.7.9.11',
    status: eight,
  }),
  row({
    syntax: 'ld{.weak}{.space}{.cop}{.evict}{.prefetch}.v8.type d, [a]',
    values: {
      space: ['global', 'local', 'const', 'param', 'shared', 'shared::cta'],
      cop: loadHints,
      evict: evictions,
      prefetch: prefetches,
      type: types,
    },
    excludes: [
      { cop: loadHints, evict: evictions },
      { space: notGlobal, evict: evictions },
      { space: notGlobal, prefetch: prefetches },
      { space: notGlobal, type: words },
      { type: doubles, v8: ['v8'] },
    ],
    vectors: { d: 'elements' },
    lanes: { d: 8 },
    since: blackwell,
    doc: 'Loads eight elements at once.',
    source: '9.7.9.8',
    status: wide,
  }),
  row({
    syntax: 'ld.global{.cop}.nc{.evict}{.prefetch}.v8.type d, [a]',
    values: { cop: ['ca', 'cg', 'cs'], evict: evictions, prefetch: prefetches, type: types },
    excludes: [
      { cop: ['ca', 'cg', 'cs'], evict: evictions },
      { type: doubles, v8: ['v8'] },
    ],
    vectors: { d: 'elements' },
    lanes: { d: 8 },
    since: blackwell,
    doc: 'Loads eight elements of constant memory at once.',
    source: '9.7.9.9',
    status: wide,
  }),
  row({
    syntax: 'ld.volatile{.space}.v8.type d, [a]',
    values: { space: ['global', 'shared', 'shared::cta'], type: types },
    excludes: [
      { space: notGlobal, type: words },
      { type: doubles, v8: ['v8'] },
    ],
    vectors: { d: 'elements' },
    lanes: { d: 8 },
    since: blackwell,
    doc: 'Loads eight elements at once, without being omitted or merged.',
    source: '9.7.9.8',
    status: wide,
  }),
  row({
    syntax: 'st{.weak}{.space}{.cop}{.evict}.v8.type [a], b',
    values: { space: ['global', 'local', 'shared', 'shared::cta'], cop: storeHints, evict: evictions, type: types },
    excludes: [
      { cop: storeHints, evict: evictions },
      { space: notGlobal, evict: evictions },
      { space: notGlobal, type: words },
      { type: doubles, v8: ['v8'] },
    ],
    vectors: { b: 'elements' },
    lanes: { b: 8 },
    since: blackwell,
    doc: 'Stores eight elements at once.',
    source: '9.7.9.11',
    status: wide,
  }),
  row({
    syntax: 'st.volatile{.space}.v8.type [a], b',
    values: { space: ['global', 'shared', 'shared::cta'], type: types },
    excludes: [
      { space: notGlobal, type: words },
      { type: doubles, v8: ['v8'] },
    ],
    vectors: { b: 'elements' },
    lanes: { b: 8 },
    since: blackwell,
    doc: 'Stores eight elements at once, without being omitted or merged.',
    source: '9.7.9.11',
    status: wide,
  }),
  row({
    syntax: 'ld{.weak}{.global}{.cop}{.nc}{.evict}.evict2{.L2::cache_hint}{.prefetch}.v8.type d, [a]{, policy}',
    values: { cop: loadHints, evict: evictions, evict2: evictions2, prefetch: prefetches, type: words },
    excludes: [
      { cop: loadHints, evict: evictions },
      { cop: ['lu', 'cv'], nc: ['nc'] },
      { weak: ['weak'], nc: ['nc'] },
      { global: [''], nc: ['nc'] },
    ],
    types: { policy: 'b64' },
    vectors: { d: 'elements' },
    lanes: { d: 8 },
    onlyWith: { policy: 'L2::cache_hint' },
    since: blackwell,
    doc: 'Loads eight 32-bit elements at once, with an L2 eviction priority.',
    source: '9.7.9.8',
    status: wide,
  }),
  row({
    syntax: 'ld{.weak}{.global}{.cop}{.nc}{.evict}.evict2{.L2::cache_hint}{.prefetch}.v4.type d, [a]{, policy}',
    values: { cop: loadHints, evict: evictions, evict2: evictions2, prefetch: prefetches, type: doubles },
    excludes: [
      { cop: loadHints, evict: evictions },
      { cop: ['lu', 'cv'], nc: ['nc'] },
      { weak: ['weak'], nc: ['nc'] },
      { global: [''], nc: ['nc'] },
    ],
    types: { policy: 'b64' },
    vectors: { d: 'elements' },
    lanes: { d: 4 },
    onlyWith: { policy: 'L2::cache_hint' },
    since: blackwell,
    doc: 'Loads four 64-bit elements at once, with an L2 eviction priority.',
    source: '9.7.9.8',
    status: wide,
  }),
  row({
    syntax: 'st{.weak}{.global}{.cop}{.evict}.evict2{.L2::cache_hint}.v8.type [a], b{, policy}',
    values: { cop: storeHints, evict: evictions, evict2: evictions2, type: words },
    excludes: [{ cop: storeHints, evict: evictions }],
    types: { policy: 'b64' },
    vectors: { b: 'elements' },
    lanes: { b: 8 },
    onlyWith: { policy: 'L2::cache_hint' },
    since: blackwell,
    doc: 'Stores eight 32-bit elements at once, with an L2 eviction priority.',
    source: '9.7.9.11',
    status: wide,
  }),
  row({
    syntax: 'st{.weak}{.global}{.cop}{.evict}.evict2{.L2::cache_hint}.v4.type [a], b{, policy}',
    values: { cop: storeHints, evict: evictions, evict2: evictions2, type: doubles },
    excludes: [{ cop: storeHints, evict: evictions }],
    types: { policy: 'b64' },
    vectors: { b: 'elements' },
    lanes: { b: 4 },
    onlyWith: { policy: 'L2::cache_hint' },
    since: blackwell,
    doc: 'Stores four 64-bit elements at once, with an L2 eviction priority.',
    source: '9.7.9.11',
    status: wide,
  }),
];

const wholeRows = (): readonly Row[] => [
  row({
    syntax: 'mov.b128 d, a',
    types: { d: 'b128', a: 'b128' },
    vectors: { d: 'parts', a: 'parts' },
    since: wholeRegister,
    doc: 'Copies, packs or unpacks 128 bits.',
    source: '9.7.9.4',
    status: whole,
  }),
  row({
    syntax: 'ld{.weak}{.space}{.cop}{.evict}{.L2::cache_hint}{.prefetch}.b128 d, [a]{, policy}',
    values: {
      space: ['global', 'local', 'const', 'param', 'shared', 'shared::cta', 'shared::cluster'],
      cop: loadHints,
      evict: evictions,
      prefetch: prefetches,
    },
    excludes: [
      { cop: loadHints, evict: evictions },
      { space: notGlobal, evict: evictions },
      { space: notGlobal, prefetch: prefetches },
      { space: notGlobal, 'L2::cache_hint': ['L2::cache_hint'] },
    ],
    types: { d: 'b128', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: wholeRegister,
    doc: 'Reads 128 bits.',
    source: '9.7.9.8',
    status: whole,
  }),
  row({
    syntax: 'ld.param::func.b128 d, [a]',
    types: { d: 'b128' },
    since: wholeRegister,
    doc: 'Loads 128 bits of a function parameter.',
    source: '9.7.9.8',
    status: whole,
  }),
  row({
    syntax: 'ld.global{.cop}.nc{.evict}{.L2::cache_hint}{.prefetch}.b128 d, [a]{, policy}',
    values: { cop: ['ca', 'cg', 'cs'], evict: evictions, prefetch: prefetches },
    excludes: [{ cop: ['ca', 'cg', 'cs'], evict: evictions }],
    types: { d: 'b128', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: wholeRegister,
    doc: 'Loads 128 bits of constant memory.',
    source: '9.7.9.9',
    status: whole,
  }),
  row({
    syntax: 'ldu{.global}.b128 d, [a]',
    types: { d: 'b128' },
    since: wholeRegister,
    doc: 'Loads 128 bits that are the same for all threads of a warp.',
    source: '9.7.9.10',
    status: whole,
  }),
  row({
    syntax: 'ld.volatile{.space}{.prefetch}.b128 d, [a]',
    values: { space: ordered, prefetch: prefetches },
    excludes: [{ space: notGlobal, prefetch: prefetches }],
    types: { d: 'b128' },
    since: wholeRegister,
    doc: 'Loads 128 bits, without being omitted or merged.',
    source: '9.7.9.8',
    status: whole,
  }),
  row({
    syntax: 'ld.order.scope{.space}{.evict}{.L2::cache_hint}{.prefetch}.b128 d, [a]{, policy}',
    values: { order: ['relaxed', 'acquire'], scope: scopes, space: ordered, evict: evictions, prefetch: prefetches },
    excludes: [
      { space: notGlobal, evict: evictions },
      { space: notGlobal, prefetch: prefetches },
      { space: notGlobal, 'L2::cache_hint': ['L2::cache_hint'] },
    ],
    types: { d: 'b128', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: wholeRegister,
    doc: 'Loads 128 bits with a memory order.',
    source: '9.7.9.8',
    status: whole,
  }),
  row({
    syntax: 'st{.weak}{.space}{.cop}{.evict}{.L2::cache_hint}.b128 [a], b{, policy}',
    values: { space: ['global', 'local', 'shared', 'shared::cta', 'shared::cluster'], cop: storeHints, evict: evictions },
    excludes: [
      { cop: storeHints, evict: evictions },
      { space: notGlobal, evict: evictions },
      { space: notGlobal, 'L2::cache_hint': ['L2::cache_hint'] },
    ],
    types: { b: 'b128', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: wholeRegister,
    doc: 'Writes 128 bits.',
    source: '9.7.9.11',
    status: whole,
  }),
  row({
    syntax: 'st.space.b128 [a], b',
    values: { space: ['param', 'param::func'] },
    types: { b: 'b128' },
    since: wholeRegister,
    doc: 'Stores 128 bits of a call argument or a result.',
    source: '9.7.9.11',
    status: whole,
  }),
  row({
    syntax: 'ld.mmio.relaxed.sys{.global}.b128 d, [a]',
    types: { d: 'b128' },
    since: wholeRegister,
    doc: 'Loads 128 bits from a memory-mapped device.',
    source: '9.7.9.8',
    status: ofDevices,
  }),
  row({
    syntax: 'st.mmio.relaxed.sys{.global}.b128 [a], b',
    types: { b: 'b128' },
    since: wholeRegister,
    doc: 'Stores 128 bits to a memory-mapped device.',
    source: '9.7.9.11',
    status: ofDevices,
  }),
  row({
    syntax: 'st.volatile{.space}.b128 [a], b',
    values: { space: ordered },
    types: { b: 'b128' },
    since: wholeRegister,
    doc: 'Stores 128 bits, without being omitted or merged.',
    source: '9.7.9.11',
    status: whole,
  }),
  row({
    syntax: 'st.order.scope{.space}{.evict}{.L2::cache_hint}.b128 [a], b{, policy}',
    values: { order: ['relaxed', 'release'], scope: scopes, space: ordered, evict: evictions },
    excludes: [
      { space: notGlobal, evict: evictions },
      { space: notGlobal, 'L2::cache_hint': ['L2::cache_hint'] },
    ],
    types: { b: 'b128', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: wholeRegister,
    doc: 'Stores 128 bits with a memory order.',
    source: '9.7.9.11',
    status: whole,
  }),
];

export const refusedMemoryRows = (): readonly Row[] => [...orderedRows(), ...hintedRows(), ...wideRows(), ...wholeRows()];
