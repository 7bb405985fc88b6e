/**
 * Refused: scalar video instructions, on one part of a 32-bit value. The byte (`.b0` to `.b3`) or half (`.h0`, `.h1`) of an operand is a
 * suffix of the operand, not a modifier. The results of an H200 (recorded 2026) differ from the manual's pseudo-code if a part is merged,
 * saturated or combined. Shifts that do not saturate agree with it (`../video.ts`). Source: PTX ISA 9.0, 9.7.18.
 */
import { type Row, row } from '../../model/row.ts';

const words = ['u32', 's32'] as const;
const merges = ['add', 'min', 'max'] as const;
const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;
const fermi = { ptx: 2, sm: 20 } as const;

const video = {
  refused: 'NVIDIA hardware gives other results than its manual for selected and merged bytes and halves',
  instead: 'use plain integer instructions with `bfe`, `bfi` and `prmt`',
} as const;
/** Opcode, section and operation. */
const scalars = [
  ['vadd', '9.7.18.1', 'Adds'],
  ['vsub', '9.7.18.1', 'Subtracts'],
  ['vabsdiff', '9.7.18.1', 'Computes the absolute difference of'],
  ['vmin', '9.7.18.1', 'Computes the minimum of'],
  ['vmax', '9.7.18.1', 'Computes the maximum of'],
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
      doc: `${verb} 32-bit values, bytes or halves. A partial result is merged into c.`,
      source,
      status: video,
    }),
    row({
      syntax: `${name as 'vadd'}.dtype.atype.btype{.sat}.op d, a, b, c`,
      values: { dtype: words, atype: words, btype: words, op: merges },
      types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
      since: fermi,
      doc: `${verb} 32-bit values, bytes or halves, and combines the result with c.`,
      source,
      status: video,
    }),
  ]),
  ...shifts.flatMap(([name, way]) => [
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32.sat.mode d, a, b{, c}`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'] },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      since: fermi,
      doc: `Shifts a 32-bit value, byte or half to the ${way}, and saturates it. A partial result is merged into c.`,
      source: '9.7.18.2',
      status: video,
    }),
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32.mode d, a, b, c`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'] },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      since: fermi,
      doc: `Shifts a 32-bit value, byte or half to the ${way}, and merges the result into c.`,
      source: '9.7.18.2',
      status: video,
    }),
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32.sat.mode.op d, a, b, c`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'], op: merges },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      since: fermi,
      doc: `Shifts a 32-bit value, byte or half to the ${way}, saturates it, and combines it with c.`,
      source: '9.7.18.2',
      status: video,
    }),
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32.mode.op d, a, b, c`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'], op: ['min', 'max'] },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      since: fermi,
      doc: `Shifts a 32-bit value, byte or half to the ${way}, and chooses between the result and c.`,
      source: '9.7.18.2',
      status: video,
    }),
  ]),
  row({
    syntax: 'vmad.dtype.atype.btype{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: ['shr7', 'shr15'] },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Multiplies 32-bit values, bytes or halves and adds c, each optionally negated, and shifts the result right.',
    source: '9.7.18.3',
    status: video,
  }),
  row({
    syntax: 'vmad.dtype.atype.btype.po{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: ['shr7', 'shr15'] },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Multiplies 32-bit values, bytes or halves, adds c and 1, and shifts the result right.',
    source: '9.7.18.3',
    status: video,
  }),
  row({
    syntax: 'vset.atype.btype.cmp d, a, b{, c}',
    values: { atype: words, btype: words, cmp: comparisons },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Compares 32-bit values, bytes or halves. A partial result is merged into c.',
    source: '9.7.18.4',
    status: video,
  }),
  row({
    syntax: 'vset.atype.btype.cmp.op d, a, b, c',
    values: { atype: words, btype: words, cmp: comparisons, op: merges },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    since: fermi,
    doc: 'Compares 32-bit values, bytes or halves, and combines the result with c.',
    source: '9.7.18.4',
    status: video,
  }),
];

export const refusedVideoRows = (): readonly Row[] => scalarRows();
