/** Refused: surfaces (9.7.11). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noSurfaces: Refusal = {
  refused: 'Metal binds textures as kernel arguments, so a handle in a register cannot select one, and it has no byte access to them',
  instead: 'use a buffer with `ld.global` and `st.global`',
};
const noQueries: Refusal = {
  refused: 'Metal binds textures as kernel arguments, so a surface handle in a register cannot be queried',
  instead: 'pass the value as a kernel parameter',
};

const shapes = ['1d', '2d', '3d', 'a1d', 'a2d'] as const;
const modes = ['trap', 'clamp', 'zero'] as const;
const words = ['b8', 'b16', 'b32', 'b64'] as const;
const vectors = ['v2', 'v4'] as const;
const handle = { a: 'u64', b: 's32' } as const;
const since = { ptx: 1.5, sm: 20 } as const;

const surface = refusedGroup({ since, source: '9.7.11.1', status: noSurfaces });
const reduction = refusedGroup({ since: { ptx: 2, sm: 20 }, source: '9.7.11.3', status: noSurfaces });

export const surfaceRows = (): readonly Row[] => [
  surface({
    syntax: 'suld.b.geom{.cop}{.vec}.dtype.mode d, [a, b]',
    values: { geom: shapes, cop: ['ca', 'cg', 'cs', 'cv'], vec: vectors, dtype: words, mode: modes },
    excludes: [{ vec: ['v4'], dtype: ['b64'] }],
    types: { ...handle, d: '.dtype' },
    vectors: { d: 'elements', b: 'some' },
    doc: 'Loads bytes of a surface.',
  }),
  surface({
    syntax: 'sust.b.geom{.cop}{.vec}.ctype.mode [a, b], c',
    values: { geom: shapes, cop: ['wb', 'cg', 'cs', 'wt'], vec: vectors, ctype: words, mode: modes },
    excludes: [{ vec: ['v4'], ctype: ['b64'] }],
    types: { ...handle, c: '.ctype' },
    vectors: { b: 'some', c: 'elements' },
    source: '9.7.11.2',
    doc: 'Stores bytes of a surface.',
  }),
  surface({
    syntax: 'sust.p.geom{.vec}.b32.mode [a, b], c',
    values: { geom: ['1d', '2d', '3d'], vec: vectors, mode: modes },
    types: { ...handle, c: 'b32' },
    vectors: { b: 'some', c: 'elements' },
    source: '9.7.11.2',
    doc: 'Stores a texel of a surface, converted to its format.',
  }),
  reduction({
    syntax: 'sured.b.op.geom.ctype.mode [a, b], c',
    values: { op: ['add', 'min', 'max'], geom: ['1d', '2d', '3d'], ctype: ['u32', 's32', 'u64'], mode: modes },
    types: { ...handle, c: '.ctype' },
    vectors: { b: 'some' },
    doc: 'Combines bytes of a surface with a number, atomically.',
  }),
  reduction({
    syntax: 'sured.b.op.geom.ctype.mode [a, b], c',
    values: { op: ['min', 'max'], geom: ['1d', '2d', '3d'], ctype: ['s64'], mode: modes },
    types: { ...handle, c: '.ctype' },
    vectors: { b: 'some' },
    doc: 'Combines bytes of a surface with a signed number, atomically.',
  }),
  reduction({
    syntax: 'sured.b.op.geom.b32.mode [a, b], c',
    values: { op: ['and', 'or'], geom: ['1d', '2d', '3d'], mode: modes },
    types: { ...handle, c: 'b32' },
    vectors: { b: 'some' },
    doc: 'Combines bytes of a surface with bits, atomically.',
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
    syntax: 'suq.query.b32 d, [a]',
    values: { query: ['width', 'height', 'depth', 'channel_data_type', 'channel_order', 'array_size', 'memory_layout'] },
    types: { d: 'b32', a: 'u64' },
    doc: 'Queries an attribute of a surface.',
  }),
];
