/** Refused: atomics (9.7.13.5 to 9.7.13.7). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup, scopes } from './refuse.ts';

const instead = 'write one value per thread and combine them in shared memory or in a second launch';
const decorated: Refusal = {
  refused: 'a cache policy or the cluster scope on an atomic is not supported yet',
  instead: 'leave out `.L2::cache_hint` and the policy, and write `.gpu` for `.cluster`: results do not change',
};
const small: Refusal = {
  refused: 'a vector atomic, or a half-precision atomic with a cache policy or the cluster scope, is not supported yet',
  instead,
};
const huge: Refusal = { refused: 'AIR has only 32-bit atomics, not 128-bit ones', instead };
const inCluster: Refusal = {
  refused: 'Metal has no clusters of threadgroups, so the memory of other blocks is out of reach',
  instead: 'use global memory',
};

const space = ['global', 'shared', 'shared::cta'] as const;
const scope = scopes;
const memory = { a: 'b64' } as const;
const policy = { ...memory, policy: 'b64' } as const;
const onlyWith = { policy: 'L2::cache_hint' } as const;
const ordering = ['relaxed', 'acquire', 'release', 'acq_rel'] as const;

/** Only global memory is cached. */
const sharedHint = { space: ['shared', 'shared::cta', 'shared::cluster'], 'L2::cache_hint': ['L2::cache_hint'] } as const;

const old = { ptx: 1.1, sm: 11 } as const;
const hopper = { ptx: 8.1, sm: 90 } as const;
const atom = refusedGroup({ since: old, source: '9.7.13.5', status: decorated });

const atomRows = (): readonly Row[] => [
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type d, [a], b{, policy}',
    values: { sem: ordering, scope, space, type: ['f16', 'f16x2', 'bf16', 'bf16x2'] },
    excludes: [sharedHint],
    types: policy,
    onlyWith,
    since: { ptx: 6.2, sm: 60 },
    status: small,
    doc: 'Adds halves to memory and returns the old values.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.exch{.L2::cache_hint}.b128 d, [a], b{, policy}',
    values: { sem: ordering, scope, space },
    excludes: [sharedHint],
    types: { ...policy, d: 'b128', b: 'b128' },
    onlyWith,
    since: { ptx: 8.3, sm: 90 },
    status: huge,
    doc: 'Exchanges 128 bits of memory and returns the old value.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.cas.b128 d, [a], b, c',
    values: { sem: ordering, scope, space },
    types: { ...memory, d: 'b128', b: 'b128', c: 'b128' },
    since: { ptx: 8.3, sm: 90 },
    status: huge,
    doc: 'Stores `c` if memory equals `b`, in 128 bits, and returns the old value.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32 d, [a], b{, policy}',
    values: { sem: ordering, scope, vec: ['v2', 'v4'] },
    types: { ...policy, d: 'f32', b: 'f32' },
    vectors: { d: 'elements', b: 'elements' },
    onlyWith,
    since: hopper,
    status: small,
    doc: 'Adds each float of a vector to memory and returns the old values.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type d, [a], b{, policy}',
    values: { sem: ordering, scope, op: ['add', 'min', 'max'], vec: ['v2', 'v4', 'v8'], type: ['f16', 'bf16', 'f16x2', 'bf16x2'] },
    excludes: [{ vec: ['v8'], type: ['f16x2', 'bf16x2'] }],
    types: policy,
    vectors: { d: 'elements', b: 'elements' },
    onlyWith,
    since: hopper,
    status: small,
    doc: 'Combines memory with each half of a vector and returns the old values.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}.shared::cluster.cas.type d, [a], b, c',
    values: { sem: ordering, scope, type: ['b32', 'b64', 'b128'] },
    types: memory,
    since: { ptx: 7.8, sm: 90 },
    status: inCluster,
    doc: 'Stores `c` if memory of a block of the cluster equals `b`.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}.shared::cluster.exch.b128 d, [a], b',
    values: { sem: ordering, scope },
    types: { ...memory, d: 'b128', b: 'b128' },
    since: { ptx: 8.3, sm: 90 },
    status: inCluster,
    doc: 'Exchanges 128 bits of memory of a block of the cluster.',
  }),
];

const red = refusedGroup({ since: { ptx: 1.2, sm: 20 }, source: '9.7.13.6', status: decorated });
const sem = ['relaxed', 'release'] as const;
const every = [...space, 'shared::cluster'] as const;

const redRows = (): readonly Row[] => [
  red({
    syntax: 'red{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type [a], b{, policy}',
    values: { sem, scope, space: every, type: ['f16', 'f16x2', 'bf16', 'bf16x2'] },
    excludes: [sharedHint],
    types: policy,
    onlyWith,
    since: { ptx: 6.2, sm: 60 },
    status: small,
    doc: 'Adds halves to memory.',
  }),
  red({
    syntax: 'red{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32 [a], b{, policy}',
    values: { sem, scope, vec: ['v2', 'v4'] },
    types: { ...policy, b: 'f32' },
    vectors: { b: 'elements' },
    onlyWith,
    since: hopper,
    status: small,
    doc: 'Adds each float of a vector to memory.',
  }),
  red({
    syntax: 'red{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type [a], b{, policy}',
    values: { sem, scope, op: ['add', 'min', 'max'], vec: ['v2', 'v4', 'v8'], type: ['f16', 'bf16', 'f16x2', 'bf16x2'] },
    excludes: [{ vec: ['v8'], type: ['f16x2', 'bf16x2'] }],
    types: policy,
    vectors: { b: 'elements' },
    onlyWith,
    since: hopper,
    status: small,
    doc: 'Combines memory with each half of a vector.',
  }),
];

export const atomicRows = (): readonly Row[] => [...atomRows(), ...redRows()];
