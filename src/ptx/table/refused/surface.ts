/** Refused: surfaces (9.7.11). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noConversion: Refusal = {
  refused: 'stores of texels that are converted to the format of the surface are not implemented',
  instead: 'store bytes with `sust.b`, as the functions of CUDA do',
};
const noReductions: Refusal = {
  refused: 'reductions of texels by the format of the surface are not implemented',
  instead: 'reduce bytes with `sured.b`',
};
const noQueries: Refusal = { refused: 'the layout of a surface is not that of the GPU', instead: 'copy the array to linear memory' };

const modes = ['trap', 'clamp', 'zero'] as const;
const vectors = ['v2', 'v4'] as const;
const handle = { a: 'u64', b: 's32' } as const;
const since = { ptx: 1.5, sm: 20 } as const;

const surface = refusedGroup({ since, source: '9.7.11.1', status: noConversion });
const reduction = refusedGroup({ since: { ptx: 2, sm: 20 }, source: '9.7.11.3', status: noReductions });

export const refusedSurfaceRows = (): readonly Row[] => [
  surface({
    syntax: 'sust.p.geom{.vec}.b32.mode [a, b], c',
    values: { geom: ['1d', '2d', '3d'], vec: vectors, mode: modes },
    types: { ...handle, c: 'b32' },
    vectors: { b: 'some', c: 'elements' },
    source: '9.7.11.2',
    doc: 'Stores a texel of a surface, converted to its format.',
  }),
  reduction({
    syntax: 'sured.p.op.geom.b32.mode [a, b], c',
    values: { op: ['add', 'min', 'max', 'and', 'or'], geom: ['1d', '2d', '3d'], mode: modes },
    types: { ...handle, c: 'b32' },
    vectors: { b: 'some' },
    doc: 'Combines a texel of a surface with a number, atomically.',
  }),
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
