/**
 * Loads and stores with an order and a scope. An acquire is a relaxed load followed by a fence, a release a relaxed store preceded by a
 * fence, which is at least as strong as the manual demands. Source: PTX ISA 9.0, 8.9, 9.7.9.8 and 9.7.9.12.
 */

import { row } from '../model/row.ts';
import { load, memoryTypes, store, wide } from './memory-access.ts';
import { type FenceWord, fenceAround, fenceScopes, systemScopeNote } from './order.ts';

const since = { ptx: 6, sm: 70 } as const;
const space = ['global', 'shared', 'shared::cta'] as const;
const vec = ['v2', 'v4'] as const;
const evict = ['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] as const;
const prefetch = ['L2::64B', 'L2::128B', 'L2::256B'] as const;
const shared = ['shared', 'shared::cta'] as const;
const scope = fenceScopes;
const apple = `Apple GPUs support 32 bits of device memory, and any width of shared memory. ${systemScopeNote}`;

export const orderedRows = [
  row({
    syntax: 'ld.order.scope{.space}{.evict}{.prefetch}{.vec}.type d, [a]',
    values: { order: ['relaxed', 'acquire'], scope, space, evict, prefetch, vec, type: memoryTypes },
    excludes: [
      { space: shared, evict },
      { space: shared, prefetch },
      { space: shared, vec: ['v4'], type: wide },
    ],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since,
    doc: `Loads with a memory order and a scope. ${apple}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => fenceAround(ir, m.scope as FenceWord, m.order, () => load(ir, a, m, true)),
    cases: () => [],
  }),
  row({
    syntax: 'st.order.scope{.space}{.evict}{.vec}.type [a], b',
    values: { order: ['relaxed', 'release'], scope, space, evict, vec, type: memoryTypes },
    excludes: [
      { space: shared, evict },
      { space: shared, vec: ['v4'], type: wide },
    ],
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since,
    doc: `Stores with a memory order and a scope. ${apple}`,
    source: '9.7.9.12',
    status: 'exact',
    lower: ({ a, b }, m, ir) => fenceAround(ir, m.scope as FenceWord, m.order, () => store(ir, a, b, m, true)),
    cases: () => [],
  }),
];
