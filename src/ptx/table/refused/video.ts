/**
 * Video instructions on one part of a word, all refused. A byte (`.b0` to `.b3`) or half (`.h0`, `.h1`) of an operand is named after
 * it, and is no word of the instruction. What an H200 gives (recorded 2026) is not what the manual's pseudo-code says where a part is
 * merged, limited or joined. Source: PTX ISA 9.0, 9.7.18.
 */
import { type Row, row } from '../../model/row.ts';

const words = ['u32', 's32'] as const;
const merges = ['add', 'min', 'max'] as const;
const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;
const fermi = { ptx: 2, sm: 20 } as const;

const video = {
  refused: 'bytes and halves picked out of registers and merged into others: NVIDIA hardware gives other results than its manual',
  instead: 'use plain integer instructions with `bfe`, `bfi` and `prmt`',
} as const;
/** Opcode, section and what it does to parts of words. */
const scalars = [
  ['vadd', '9.7.18.1', 'Adds'],
  ['vsub', '9.7.18.1', 'Subtracts'],
  ['vabsdiff', '9.7.18.1', 'Takes the absolute difference of'],
  ['vmin', '9.7.18.1', 'Takes the smaller of'],
  ['vmax', '9.7.18.1', 'Takes the larger of'],
] as const;
const shifts = [
  ['vshl', 'left'],
  ['vshr', 'right'],
] as const;
const scalarRows = (): readonly Row[] => [
  ...scalars.flatMap(([name, source, verb]) => [
    row({
      syntax: `${name as 'vadd'}.dtype.atype.btype{.sat} d, a, b{, c}`,
      values: { dtype: words, atype: words, btype: words },
      types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
      since: fermi,
      doc: `${verb} words, bytes or halves; c is what the result is put into where it is a part.`,
      source,
      status: video,
    }),
    row({
      syntax: `${name as 'vadd'}.dtype.atype.btype{.sat}.op d, a, b, c`,
      values: { dtype: words, atype: words, btype: words, op: merges },
      types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
      since: fermi,
      doc: `${verb} words, bytes or halves, and joins the result with c.`,
      source,
      status: video,
    }),
  ]),
  ...shifts.flatMap(([name, way]) => [
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32{.sat}.mode d, a, b{, c}`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'] },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      since: fermi,
      doc: `Shifts a word, byte or half to the ${way}; c is what the result is put into where it is a part.`,
      source: '9.7.18.2',
      status: video,
    }),
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32{.sat}.mode.op d, a, b, c`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'], op: merges },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      since: fermi,
      doc: `Shifts a word, byte or half to the ${way}, and joins the result with c.`,
      source: '9.7.18.2',
      status: video,
    }),
  ]),
  row({
    syntax: 'vmad.dtype.atype.btype{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: ['shr7', 'shr15'] },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Multiplies words, bytes or halves and adds c, any of them negated, shifted to the right.',
    source: '9.7.18.3',
    status: video,
  }),
  row({
    syntax: 'vmad.dtype.atype.btype.po{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: ['shr7', 'shr15'] },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Multiplies words, bytes or halves and adds c and 1, shifted to the right.',
    source: '9.7.18.3',
    status: video,
  }),
  row({
    syntax: 'vset.atype.btype.cmp d, a, b{, c}',
    values: { atype: words, btype: words, cmp: comparisons },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Compares words, bytes or halves; c is what the result is put into where it is a part.',
    source: '9.7.18.4',
    status: video,
  }),
  row({
    syntax: 'vset.atype.btype.cmp.op d, a, b, c',
    values: { atype: words, btype: words, cmp: comparisons, op: merges },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Compares words, bytes or halves, and joins the result with c.',
    source: '9.7.18.4',
    status: video,
  }),
];

export const laterVideoRows = (): readonly Row[] => scalarRows();
