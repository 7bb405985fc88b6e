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
const words = { space, scope, op: ['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'], type: ['b32', 'u32', 's32'] } as const;
const ordering = ['relaxed', 'acquire', 'release', 'acq_rel'] as const;
/** Types that an operation does not support. */
const mismatched = [
  { op: ['and', 'or', 'xor', 'exch'], type: ['u32', 's32', 'u64', 's64'] },
  { op: ['add', 'inc', 'dec', 'min', 'max'], type: ['b32', 'b64'] },
  { op: ['inc', 'dec'], type: ['s32', 'u64', 's64'] },
  { op: ['add'], type: ['s64'] },
] as const;

/** Only global memory is cached. */
const sharedHint = { space: ['shared', 'shared::cta', 'shared::cluster'], 'L2::cache_hint': ['L2::cache_hint'] } as const;

const old = { ptx: 1.1, sm: 11 } as const;
const hopper = { ptx: 8.1, sm: 90 } as const;
const atom = refusedGroup({ since: old, source: '9.7.13.5', status: decorated });

const atomRows = (): readonly Row[] => [
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type d, [a], b{, policy}',
    values: { ...words, op: [...words.op, 'exch'], sem: ordering },
    excludes: [...mismatched, sharedHint],
    types: policy,
    onlyWith,
    doc: 'Combines memory with a number and returns the old value.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.cas.b32 d, [a], b, c',
    values: { sem: ordering, scope, space },
    types: { ...memory, d: 'b32', b: 'b32', c: 'b32' },
    doc: 'Stores `c` if memory equals `b`, and returns the old value.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.add{.L2::cache_hint}.f32 d, [a], b{, policy}',
    values: { sem: ordering, scope, space },
    excludes: [sharedHint],
    types: { ...policy, d: 'f32', b: 'f32' },
    onlyWith,
    since: { ptx: 2, sm: 20 },
    doc: 'Adds a float to memory and returns the old value.',
  }),
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
    syntax: 'atom{.sem}{.scope}{.space}.cas.b16 d, [a], b, c',
    values: { sem: ordering, scope, space },
    types: { a: 'b64', d: 'b16', b: 'b16', c: 'b16' },
    since: { ptx: 6.3, sm: 70 },
    status: small,
    doc: 'Stores `c` if memory equals `b`, in 16 bits, and returns the old value.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type d, [a], b{, policy}',
    values: { sem: ordering, scope, space, op: ['and', 'or', 'xor', 'exch', 'add', 'min', 'max'], type: ['b64', 'u64', 's64'] },
    excludes: [...mismatched, sharedHint],
    types: policy,
    onlyWith,
    since: { ptx: 1.2, sm: 12 },
    doc: 'Combines memory with a 64-bit number and returns the old value.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.cas.b64 d, [a], b, c',
    values: { sem: ordering, scope, space },
    types: { ...memory, d: 'b64', b: 'b64', c: 'b64' },
    since: { ptx: 1.2, sm: 12 },
    doc: 'Stores `c` if memory equals `b`, in 64 bits, and returns the old value.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}{.space}.add{.L2::cache_hint}.f64 d, [a], b{, policy}',
    values: { sem: ordering, scope, space },
    excludes: [sharedHint],
    types: { ...policy, d: 'f64', b: 'f64' },
    onlyWith,
    since: { ptx: 5, sm: 60 },
    doc: 'Adds a double to memory and returns the old value.',
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
    syntax: 'atom{.sem}{.scope}.shared::cluster.op.type d, [a], b',
    values: { sem: ordering, scope, op: [...words.op, 'exch'], type: ['b32', 'u32', 's32', 'b64', 'u64', 's64'] },
    excludes: mismatched,
    types: memory,
    since: { ptx: 7.8, sm: 90 },
    status: inCluster,
    doc: 'Combines memory of a block of the cluster with a number.',
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
    syntax: 'atom{.sem}{.scope}.shared::cluster.cas.b16 d, [a], b, c',
    values: { sem: ordering, scope },
    types: { a: 'b64', d: 'b16', b: 'b16', c: 'b16' },
    since: { ptx: 7.8, sm: 90 },
    status: inCluster,
    doc: 'Stores `c` if memory of a block of the cluster equals `b`, in 16 bits.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}.shared::cluster.exch.b128 d, [a], b',
    values: { sem: ordering, scope },
    types: { ...memory, d: 'b128', b: 'b128' },
    since: { ptx: 8.3, sm: 90 },
    status: inCluster,
    doc: 'Exchanges 128 bits of memory of a block of the cluster.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}.shared::cluster.add.type d, [a], b',
    values: { sem: ordering, scope, type: ['f32', 'f64'] },
    types: memory,
    since: { ptx: 7.8, sm: 90 },
    status: inCluster,
    doc: 'Adds a float to memory of a block of the cluster.',
  }),
  atom({
    syntax: 'atom{.sem}{.scope}.shared::cluster.add.noftz.type d, [a], b',
    values: { sem: ordering, scope, type: ['f16', 'f16x2', 'bf16', 'bf16x2'] },
    types: memory,
    since: { ptx: 7.8, sm: 90 },
    status: inCluster,
    doc: 'Adds halves to memory of a block of the cluster.',
  }),
];

const red = refusedGroup({ since: { ptx: 1.2, sm: 20 }, source: '9.7.13.6', status: decorated });
const sem = ['relaxed', 'release'] as const;
const every = [...space, 'shared::cluster'] as const;

const redRows = (): readonly Row[] => [
  red({
    syntax: 'red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type [a], b{, policy}',
    values: { ...words, sem },
    excludes: [...mismatched, sharedHint],
    types: policy,
    onlyWith,
    doc: 'Combines memory with a number.',
  }),
  red({
    syntax: 'red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type [a], b{, policy}',
    values: { sem, scope, space, op: ['and', 'or', 'xor', 'add', 'min', 'max'], type: ['b64', 'u64', 's64'] },
    excludes: [...mismatched, sharedHint],
    types: policy,
    onlyWith,
    doc: 'Combines memory with a 64-bit number.',
  }),
  red({
    syntax: 'red{.sem}{.scope}{.space}.add{.L2::cache_hint}.f32 [a], b{, policy}',
    values: { sem, scope, space },
    excludes: [sharedHint],
    types: { ...policy, b: 'f32' },
    onlyWith,
    doc: 'Adds a float to memory.',
  }),
  red({
    syntax: 'red{.sem}{.scope}{.space}.add{.L2::cache_hint}.f64 [a], b{, policy}',
    values: { sem, scope, space },
    excludes: [sharedHint],
    types: { ...policy, b: 'f64' },
    onlyWith,
    since: { ptx: 5, sm: 60 },
    doc: 'Adds a double to memory.',
  }),
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
  red({
    syntax: 'red{.sem}{.scope}.shared::cluster.op.type [a], b',
    values: { sem, scope, op: words.op, type: ['b32', 'u32', 's32', 'b64', 'u64', 's64'] },
    excludes: mismatched,
    types: memory,
    since: { ptx: 7.8, sm: 90 },
    status: inCluster,
    doc: 'Combines memory of a block of the cluster with a number.',
  }),
  red({
    syntax: 'red{.sem}{.scope}.shared::cluster.add.type [a], b',
    values: { sem, scope, type: ['f32', 'f64'] },
    types: memory,
    since: { ptx: 7.8, sm: 90 },
    status: inCluster,
    doc: 'Adds a float to memory of a block of the cluster.',
  }),
];

export const atomicRows = (): readonly Row[] => [...atomRows(), ...redRows()];
