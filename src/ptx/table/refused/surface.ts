/** Refused: surfaces (9.7.11). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noReductions: Refusal = {
  refused: 'no array of CUDA has texels of one number of 64 bits',
  instead: 'reduce bytes with `sured.b`',
};
const noQueries: Refusal = { refused: 'the layout of a surface is not that of the GPU', instead: 'copy the array to linear memory' };

const modes = ['trap', 'clamp', 'zero'] as const;
const handle = { a: 'u64', b: 's32' } as const;
const since = { ptx: 1.5, sm: 20 } as const;

const reduction = refusedGroup({ since: { ptx: 2, sm: 20 }, source: '9.7.11.3', status: noReductions });

export const refusedSurfaceRows = (): readonly Row[] => [
  reduction({
    syntax: 'sured.p.op.geom.b64.mode [a, b], c',
    values: { op: ['min', 'max'], geom: ['1d', '2d', '3d'], mode: modes },
    types: { ...handle, c: 'b64' },
    vectors: { b: 'some' },
    doc: 'Combines a texel of a surface with a 64-bit number, atomically.',
  }),
  refusedGroup({ since, source: '9.7.11.4', status: noQueries })({
    syntax: 'suq.memory_layout.b32 d, [a]',
    types: { d: 'b32', a: 'u64' },
    doc: 'Queries the layout of a surface.',
  }),
];
