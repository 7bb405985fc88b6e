/** Hints to the caches, which change no result: nothing is made of them. Source: PTX ISA 9.0, 9.7.9.15 and 9.7.9.16. */
import { type Row, row } from '../model/row.ts';

const fermi = { ptx: 2, sm: 20 } as const;
const ampere = { ptx: 7.4, sm: 80 } as const;
const ignore = (): void => {};

export const hintRows = (): readonly Row[] => [
  row({
    syntax: 'prefetch{.space}.level [a]',
    types: { a: 'b8' },
    values: { space: ['global', 'local'], level: ['L1', 'L2'] },
    since: fermi,
    doc: 'Asks for a line in a cache. Ignored: it changes no result.',
    source: '9.7.9.15',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'prefetch.global.evict [a]',
    types: { a: 'b8' },
    values: { evict: ['L2::evict_last', 'L2::evict_normal'] },
    since: ampere,
    doc: 'Asks for a line in the cache, with a priority. Ignored: it changes no result.',
    source: '9.7.9.15',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'prefetchu.L1 [a]',
    types: { a: 'b8' },
    since: fermi,
    doc: 'Asks for a line in the uniform cache. Ignored: it changes no result.',
    source: '9.7.9.15',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'applypriority{.global}.L2::evict_normal [a], size',
    types: { a: 'b8', size: 'b32' },
    constants: { size: [128, 128] },
    since: ampere,
    doc: 'Sets the priority of a line in the cache. Ignored: it changes no result.',
    source: '9.7.9.16',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
];
