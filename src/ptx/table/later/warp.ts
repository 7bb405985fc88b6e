/** What the threads of a warp tell each other (9.7.13.8 to 9.7.13.14). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../row.ts';
import { refusing } from './refuse.ts';

const notYet = (what: string): Refusal => ({ refused: `${what} is not there yet`, instead: 'exchange the values through shared memory' });
const votes = notYet('a vote of the warp');
const unsynchronised: Refusal = {
  refused: 'a vote of whichever threads run together: there is no such set on other GPUs',
  instead: 'name the threads: `vote.sync`, that is `__ballot_sync()`',
};

const early = { ptx: 1.2, sm: 12 } as const;
const masked = { ptx: 6, sm: 30 } as const;
const warp = refusing({ since: masked, source: '9.7.13.9', status: votes });
const modes = ['all', 'any', 'uni'] as const;

export const warpRows = (): readonly Row[] => [
  warp({
    syntax: 'vote.mode.pred d, {!}a',
    values: { mode: modes },
    types: { d: 'pred', a: 'pred' },
    since: early,
    source: '9.7.13.8',
    status: unsynchronised,
    doc: 'Whether a predicate holds for all threads of the warp, for any, or is the same for all.',
  }),
  warp({
    syntax: 'vote.ballot.b32 d, {!}a',
    types: { d: 'b32', a: 'pred' },
    since: { ptx: 2, sm: 20 },
    source: '9.7.13.8',
    status: unsynchronised,
    doc: 'A bit for each thread of the warp, set where a predicate holds.',
  }),
  warp({
    syntax: 'vote.sync.mode.pred d, {!}a, b',
    values: { mode: modes },
    types: { d: 'pred', a: 'pred', b: 'u32' },
    doc: 'Whether a predicate holds for all threads of a mask, for any, or is the same for all.',
  }),
  warp({
    syntax: 'vote.sync.ballot.b32 d, {!}a, b',
    types: { d: 'b32', a: 'pred', b: 'u32' },
    doc: 'A bit for each thread of a mask, set where a predicate holds.',
  }),
  warp({
    syntax: 'match.any.sync.type d, a, b',
    values: { type: ['b32', 'b64'] },
    types: { d: 'b32', b: 'u32' },
    since: { ptx: 6, sm: 70 },
    source: '9.7.13.10',
    status: notYet('a match of the warp'),
    doc: 'The threads of a mask that have the same value.',
  }),
  warp({
    syntax: 'match.all.sync.type d[|p], a, b',
    values: { type: ['b32', 'b64'] },
    types: { d: 'b32', p: 'pred', b: 'u32' },
    since: { ptx: 6, sm: 70 },
    source: '9.7.13.10',
    status: notYet('a match of the warp'),
    doc: 'The mask where all of its threads have the same value, otherwise 0; `p` tells which.',
  }),
  warp({
    syntax: 'activemask.b32 d',
    types: { d: 'b32' },
    since: { ptx: 6.2, sm: 30 },
    source: '9.7.13.11',
    status: {
      refused: 'the set of threads that run together is not there yet',
      instead: 'use the mask of the threads that come there, such as 0xffffffff',
    },
    doc: 'The threads of the warp that run together.',
  }),
  warp({
    syntax: 'redux.sync.op.type d, a, b',
    values: { op: ['add', 'min', 'max'], type: ['u32', 's32'] },
    types: { b: 'u32' },
    since: { ptx: 7, sm: 80 },
    source: '9.7.13.12',
    status: notYet('a reduction over the warp'),
    doc: 'The sum, the smallest or the largest of the values of a mask of threads.',
  }),
  warp({
    syntax: 'redux.sync.op.b32 d, a, b',
    values: { op: ['and', 'or', 'xor'] },
    types: { d: 'b32', a: 'b32', b: 'u32' },
    since: { ptx: 7, sm: 80 },
    source: '9.7.13.12',
    status: notYet('a reduction over the warp'),
    doc: 'The bits of a mask of threads, combined.',
  }),
  warp({
    syntax: 'redux.sync.op{.abs}{.NaN}.f32 d, a, b',
    values: { op: ['min', 'max'] },
    types: { d: 'f32', a: 'f32', b: 'u32' },
    since: { ptx: 8.6, sm: 100 },
    source: '9.7.13.12',
    status: notYet('a reduction over the warp'),
    doc: 'The smallest or the largest float of a mask of threads.',
  }),
  warp({
    syntax: 'elect.sync d|p, a',
    types: { d: 'b32', p: 'pred', a: 'u32' },
    since: { ptx: 8, sm: 90 },
    source: '9.7.13.14',
    status: notYet('the election of a thread'),
    doc: 'Chooses one thread of a mask: `d` is its lane, and `p` holds for it.',
  }),
];
