/** Cache hints, which do not affect results and emit nothing. Source: PTX ISA 9.0, 9.7.9.15 and 9.7.9.16. */
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
    doc: 'Prefetches a cache line. Ignored, because it has no effect on results.',
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
    doc: 'Prefetches a cache line with an eviction priority. Ignored, because it has no effect on results.',
    source: '9.7.9.15',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'prefetchu.L1 [a]',
    types: { a: 'b8' },
    since: fermi,
    doc: 'Prefetches a line into the uniform cache. Ignored, because it has no effect on results.',
    source: '9.7.9.15',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'discard{.global}.L2 [a], size',
    types: { a: 'b8', size: 'b32' },
    constants: { size: [128, 128] },
    since: ampere,
    doc: 'Leaves the content of a cache line unspecified. Here it stays.',
    source: '9.7.9.17',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'applypriority{.global}.L2::evict_normal [a], size',
    types: { a: 'b8', size: 'b32' },
    constants: { size: [128, 128] },
    since: ampere,
    doc: 'Sets the eviction priority of a cache line. Ignored, because it has no effect on results.',
    source: '9.7.9.16',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
];
