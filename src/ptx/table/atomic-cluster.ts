/**
 * Atomics of clusters: with the scope of the cluster, and on shared memory of its blocks. All blocks of a cluster run on one thread of the host, so
 * that these are the atomics of `.shared`. Source: PTX ISA 9.0, 9.7.13.5 and 9.7.13.6.
 */
import { type Row, row } from '../model/row.ts';
import { anyOrder, forms, hintedUpdate, update } from './atomic.ts';
import { addHalf, halfForms, swapShort } from './atomic-half.ts';
import { fenceAround, fenceScopes } from './order.ts';
import { spaceOf } from './spaces.ts';

const since = { ptx: 7.8, sm: 90 } as const;
const within = ['relaxed', 'release'] as const;
const scope = ['cluster'] as const;
const space = ['global', 'shared', 'shared::cta', 'shared::cluster'] as const;
const far = ['shared::cluster'] as const;

/** The scope of the cluster with any memory, and other scopes with memory of the cluster. */
const places = [
  { at: '.scope{.space}', values: { scope, space }, doc: 'The scope of the cluster is the device here.' },
  { at: '{.scope}.space', values: { scope: fenceScopes, space: far }, doc: 'Memory is that of a block of the cluster.' },
] as const;

const integers = (): readonly Row[] =>
  forms.flatMap(({ op, type, doc }) =>
    places.flatMap(({ at, values, doc: where }) => [
      row({
        syntax: `atom{.sem}${at as '{.scope}{.space}'}.op.type d, [a], b`,
        values: { sem: anyOrder, ...values, op, type },
        since,
        doc: `${doc} d is the old value. ${where}`,
        source: '9.7.13.5',
        status: 'exact',
        lower: ({ a, b }, m, ir) => fenceAround(ir, m.scope, m.sem, () => update(ir, a, b, m)),
        cases: () => [],
      }),
      row({
        syntax: `red{.sem}${at as '{.scope}{.space}'}.op.type [a], b`,
        values: { sem: within, ...values, op: op.filter((each) => each !== 'exch'), type },
        since,
        doc: `${doc} ${where}`,
        source: '9.7.13.6',
        status: 'exact',
        lower: ({ a, b }, m, ir) => void fenceAround(ir, m.scope, m.sem, () => update(ir, a, b, m)),
        cases: () => [],
      }),
    ]),
  );

const hinted = (): readonly Row[] =>
  forms.flatMap(({ op, type, doc }) => [
    row({
      syntax: 'atom{.sem}.scope{.global}.op.L2::cache_hint.type d, [a], b, policy',
      values: { sem: anyOrder, scope, op, type },
      types: { policy: 'b64' },
      since,
      doc: `${doc} d is the old value. The cache policy does not affect results and is ignored.`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b }, m, ir) => hintedUpdate(ir, a, b, m),
      cases: () => [],
    }),
    row({
      syntax: 'red{.sem}.scope{.global}.op.L2::cache_hint.type [a], b, policy',
      values: { sem: within, scope, op: op.filter((each) => each !== 'exch'), type },
      types: { policy: 'b64' },
      since,
      doc: `${doc} The cache policy does not affect results and is ignored.`,
      source: '9.7.13.6',
      status: 'exact',
      lower: ({ a, b }, m, ir) => void hintedUpdate(ir, a, b, m),
      cases: () => [],
    }),
  ]);

const swaps = (): readonly Row[] =>
  places.flatMap(({ at, values, doc }) => [
    row({
      syntax: `atom{.sem}${at as '{.scope}{.space}'}.cas.type d, [a], b, c`,
      values: { sem: anyOrder, ...values, type: ['b32', 'b64'] },
      since,
      doc: `Stores c in memory if memory equals b. d is the old value. ${doc}`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b, c }, m, ir) => fenceAround(ir, m.scope, m.sem, () => ir.cas(ir.pointer(a, spaceOf(m.space)), b, c)),
      cases: () => [],
    }),
    row({
      syntax: `atom{.sem}${at as '{.scope}{.space}'}.cas.b16 d, [a], b, c`,
      values: { sem: anyOrder, ...values },
      types: { d: 'b16', a: 'b16', b: 'b16', c: 'b16' },
      since,
      doc: `Stores c in memory if memory equals b, in 16 bits. d is the old value. ${doc}`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b, c }, m, ir) => swapShort(ir, ir.pointer(a, spaceOf(m.space)), b, c, m),
      cases: () => [],
    }),
  ]);

const halves = (): readonly Row[] =>
  halfForms.flatMap(({ type, doc }) =>
    places.flatMap(({ at, values, doc: where }) => [
      row({
        syntax: `atom{.sem}${at as '{.scope}{.space}'}.add.noftz.type d, [a], b`,
        values: { sem: anyOrder, ...values, type },
        since,
        doc: `${doc}, each atomically. d is the old value. ${where}`,
        source: '9.7.13.5',
        status: 'exact',
        lower: ({ a, b }, m, ir) => addHalf(ir, a, b, m),
        cases: () => [],
      }),
      row({
        syntax: `red{.sem}${at as '{.scope}{.space}'}.add.noftz.type [a], b`,
        values: { sem: within, ...values, type },
        since,
        doc: `${doc}, each atomically. ${where}`,
        source: '9.7.13.6',
        status: 'exact',
        lower: ({ a, b }, m, ir) => void addHalf(ir, a, b, m),
        cases: () => [],
      }),
    ]),
  );

export const clusterAtomicRows = (): readonly Row[] => [...integers(), ...hinted(), ...swaps(), ...halves()];
