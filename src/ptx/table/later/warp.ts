/** What the threads of a warp tell each other (9.7.13.8 to 9.7.13.14). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../row.ts';
import { refusing } from './refuse.ts';

const notYet = (what: string): Refusal => ({ refused: `${what} is not there yet`, instead: 'exchange the values through shared memory' });
const unsynchronised: Refusal = {
  refused: 'a vote of whichever threads run together: there is no such set on other GPUs',
  instead: 'name the threads: `vote.sync`, that is `__ballot_sync()`',
};

const early = { ptx: 1.2, sm: 12 } as const;
const masked = { ptx: 6, sm: 30 } as const;
const warp = refusing({ since: masked, source: '9.7.13.9', status: unsynchronised });
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
    syntax: 'redux.sync.op{.abs}{.NaN}.f32 d, a, b',
    values: { op: ['min', 'max'] },
    types: { d: 'f32', a: 'f32', b: 'u32' },
    since: { ptx: 8.6, sm: 100 },
    source: '9.7.13.12',
    status: notYet('a reduction over the warp'),
    doc: 'The smallest or the largest float of a mask of threads.',
  }),
];
