/** Memory fences. Source: PTX ISA 9.0, 9.7.13.4. All of them are sequentially consistent, the strongest order. */

import type { RowBuilder } from '../model/row.ts';
import { type Row, row } from '../model/row.ts';
import { type FenceWord, fence, systemScopeNote } from './order.ts';

const ordered = { ptx: 6, sm: 70 } as const;
const late = { ptx: 8.6, sm: 90 } as const;
const source = '9.7.13.4';
const apple = `Apple GPUs have fences from macOS 15 on (\`--target macos15\`). ${systemScopeNote}`;

const lower = (_: unknown, { scope }: { readonly scope: FenceWord }, ir: RowBuilder): void => fence(ir, scope);

export const fenceRows = (): readonly Row[] => [
  row({
    syntax: 'membar.scope',
    values: { scope: ['cta', 'gl', 'sys'] },
    since: { ptx: 1.4, sm: 10 },
    doc: `Orders memory for the threads of the block (\`__threadfence_block()\`) or of the device (\`__threadfence()\`, \`__threadfence_system()\`). ${apple}`,
    source,
    status: 'exact',
    lower,
    cases: () => [],
  }),
  row({
    syntax: 'fence{.sem}.scope',
    values: { sem: ['sc', 'acq_rel'], scope: ['cta', 'gpu', 'sys'] },
    since: ordered,
    doc: `Orders memory for the threads of the block or of the device. ${apple}`,
    source,
    status: 'exact',
    lower,
    cases: () => [],
  }),
  row({
    syntax: 'fence.sem.scope',
    values: { sem: ['acquire', 'release'], scope: ['cta', 'gpu', 'sys'] },
    since: late,
    doc: `Orders memory for the threads of the block or of the device, in one direction. ${apple}`,
    source,
    status: 'exact',
    lower,
    cases: () => [],
  }),
];
