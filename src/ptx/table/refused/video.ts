/** Refused: saturated scalar shifts to the left. Source: PTX ISA 9.0, 9.7.18.2. */
import type { Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const words = ['u32', 's32'] as const;
const modes = ['clamp', 'wrap'] as const;
const onePart = /^(b[0-3]|h[01])$/;

const shift = refusedGroup({
  since: { ptx: 2, sm: 20 },
  source: '9.7.18.2',
  status: {
    refused: "NVIDIA's compiler makes code of it whose results are not those of the manual, nor of another rule",
    instead: 'shift without `.sat`, and limit the result with `min` and `max`',
  },
});

export const refusedVideoRows = (): readonly Row[] => [
  shift({
    syntax: 'vshl.dtype.atype.u32.sat.mode d, a, b{, c}',
    values: { dtype: words, atype: words, mode: modes },
    types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
    parts: { d: onePart, a: onePart, b: onePart },
    doc: 'Shifts a 32-bit value, byte or half to the left, and saturates it. A part of d is put into c.',
  }),
  shift({
    syntax: 'vshl.dtype.atype.u32.sat.mode.op d, a, b, c',
    values: { dtype: words, atype: words, mode: modes, op: ['add', 'min', 'max'] },
    types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
    parts: { a: onePart, b: onePart },
    doc: 'Shifts a 32-bit value, byte or half to the left, saturates it, and combines it with c.',
  }),
];
