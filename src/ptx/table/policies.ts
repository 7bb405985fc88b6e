/**
 * Cache policies: 64-bit values that accesses of global memory take as hints. No result depends on one, so that each is 0 here, and
 * accesses ignore it. Source: PTX ISA 9.0, 9.7.9.8, 9.7.9.9, 9.7.9.11 and 9.7.9.18.
 */
import { type RowBuilder, row } from '../model/row.ts';
import { load, memoryTypes, store } from './memory-access.ts';
import { type FenceWord, fenceAround, fenceScopes } from './order.ts';
import { globalOrGeneric } from './spaces.ts';

const since = { ptx: 7.4, sm: 80 } as const;
const evict = ['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] as const;
const prefetch = ['L2::64B', 'L2::128B', 'L2::256B'] as const;
const vec = ['v2', 'v4'] as const;
const primary = ['L2::evict_last', 'L2::evict_normal', 'L2::evict_first', 'L2::evict_unchanged'] as const;
const secondary = ['L2::evict_first', 'L2::evict_unchanged'] as const;
const loads = ['ca', 'cg', 'cs', 'lu', 'cv'] as const;
const constantLoads = ['ca', 'cg', 'cs'] as const;
const stores = ['wb', 'cg', 'cs', 'wt'] as const;

const policyOf = (ir: RowBuilder) => ir.const('i64', 0n);
const ignored = 'The policy does not affect results and is ignored.';
const made = 'A policy is 0 here, since it affects no results.';

export const policyRows = [
  row({
    syntax: 'createpolicy.fractional.primary{.secondary}.b64 d{, fraction}',
    values: { primary, secondary },
    types: { d: 'b64', fraction: 'f32' },
    since,
    doc: `Creates a cache policy for a fraction of the accesses. ${made}`,
    source: '9.7.9.18',
    status: 'exact',
    lower: (_, __, ir) => policyOf(ir),
    cases: () => [],
  }),
  row({
    syntax: 'createpolicy.range{.global}.primary{.secondary}.b64 d, [a], first, total',
    values: { primary, secondary },
    types: { d: 'b64', a: 'b8', first: 'b32', total: 'b32' },
    since,
    doc: `Creates a cache policy for a range of addresses. ${made}`,
    source: '9.7.9.18',
    status: 'exact',
    lower: (_, __, ir) => policyOf(ir),
    cases: () => [],
  }),
  row({
    syntax: 'createpolicy.cvt.L2.b64 d, a',
    types: { d: 'b64', a: 'b64' },
    since,
    doc: `Creates a cache policy from the access property of the host. ${made}`,
    source: '9.7.9.18',
    status: 'exact',
    lower: (_, __, ir) => policyOf(ir),
    cases: () => [],
  }),
  row({
    syntax: 'ld{.weak}{.global}{.cop}{.evict}.L2::cache_hint{.prefetch}{.vec}.type d, [a], policy',
    values: { cop: loads, evict, prefetch, vec, type: memoryTypes },
    excludes: [{ cop: loads, evict }],
    types: { policy: 'b64' },
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since,
    doc: `Loads from global memory with a cache policy. ${ignored}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, ...globalOrGeneric(m) }, false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.global{.cop}.nc{.evict}.L2::cache_hint{.prefetch}{.vec}.type d, [a], policy',
    values: { cop: constantLoads, evict, prefetch, vec, type: memoryTypes },
    excludes: [{ cop: constantLoads, evict }],
    types: { policy: 'b64' },
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since,
    doc: `Loads from global memory that is constant while the kernel runs, with a cache policy. ${ignored}`,
    source: '9.7.9.9',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, space: 'global' }, false),
    cases: () => [],
  }),
  row({
    syntax: 'st{.weak}{.global}{.cop}{.evict}.L2::cache_hint{.vec}.type [a], b, policy',
    values: { cop: stores, evict, vec, type: memoryTypes },
    excludes: [{ cop: stores, evict }],
    types: { policy: 'b64' },
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since,
    doc: `Stores to global memory with a cache policy. ${ignored}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.order.scope{.global}{.evict}.L2::cache_hint{.prefetch}{.vec}.type d, [a], policy',
    values: { order: ['relaxed', 'acquire'], scope: fenceScopes, evict, prefetch, vec, type: memoryTypes },
    types: { policy: 'b64' },
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since,
    doc: `Loads with a memory order, a scope and a cache policy. ${ignored}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => fenceAround(ir, m.scope as FenceWord, m.order, () => load(ir, a, { ...m, ...globalOrGeneric(m) }, true)),
    cases: () => [],
  }),
  row({
    syntax: 'st.order.scope{.global}{.evict}.L2::cache_hint{.vec}.type [a], b, policy',
    values: { order: ['relaxed', 'release'], scope: fenceScopes, evict, vec, type: memoryTypes },
    types: { policy: 'b64' },
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since,
    doc: `Stores with a memory order, a scope and a cache policy. ${ignored}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) =>
      fenceAround(ir, m.scope as FenceWord, m.order, () => store(ir, a, b, { ...m, ...globalOrGeneric(m) }, true)),
    cases: () => [],
  }),
];
