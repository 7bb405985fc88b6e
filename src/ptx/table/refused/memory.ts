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

export const refusedMemoryRows = (): readonly Row[] => [...wholeRows()];
