/** Forms of half precision that are refused. Source: PTX ISA 9.0, 9.7.4, 9.7.7. */
import { type Row, row } from '../../row.ts';

const packed = ['f16x2', 'bf16x2'] as const;
const singles = ['f16', 'bf16'] as const;
const bfloats = ['bf16', 'bf16x2'] as const;
const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'] as const;
const joins = ['and', 'or', 'xor'] as const;
const half = { ptx: 4.2, sm: 53 } as const;
const ampere = { ptx: 7, sm: 80 } as const;
const ampereToo = { ptx: 7.2, sm: 86 } as const;

const inPairs = {
  refused: 'two halves in one register: not there yet',
  instead: 'compute with one half at a time: `__half` in place of `__half2`',
} as const;
const outOfBounds = {
  refused: 'the NaN that stands for an element out of bounds of a tensor, which only NVIDIA hardware makes and knows',
  instead: 'use `fma` without `.oob`, and mask what lies outside',
} as const;
const signOfProduct = {
  refused: 'a minimum or maximum of halves with the sign of the product: not there yet',
  instead: 'use `min` or `max` of the absolute values, and set the sign by logic',
} as const;
const estimate = {
  refused: 'an estimate in half precision from a table of NVIDIA hardware: not there yet',
  instead: 'convert to f32, use the f32 form, and convert back',
} as const;
const intoRegister = {
  refused: 'a comparison of halves, or into a half, that gives no predicate: not there yet',
  instead: 'use `setp` and `selp`',
} as const;

const arithmeticRows = (): readonly Row[] => [
  ...(['add', 'sub', 'mul'] as const).flatMap((name, i) => [
    row({
      syntax: `${name as 'add'}{.rnd}{.ftz}{.sat}.f16x2 d, a, b`,
      values: { rnd: ['rn'] },
      types: { d: 'f16x2', a: 'f16x2', b: 'f16x2' },
      since: half,
      doc: `${['Adds', 'Subtracts', 'Multiplies'][i]} halves in pairs.`,
      source: `9.7.4.${i + 1}`,
      status: inPairs,
    }),
    row({
      syntax: `${name as 'add'}{.rnd}.bf16x2 d, a, b`,
      values: { rnd: ['rn'] },
      types: { d: 'bf16x2', a: 'bf16x2', b: 'bf16x2' },
      since: { ptx: 7.8, sm: 90 },
      doc: `${['Adds', 'Subtracts', 'Multiplies'][i]} bfloats in pairs.`,
      source: `9.7.4.${i + 1}`,
      status: inPairs,
    }),
  ]),
  row({
    syntax: 'fma.rn{.ftz}{.sat}{.relu}.f16x2 d, a, b, c',
    excludes: [{ sat: ['sat'], relu: ['relu'] }],
    types: { d: 'f16x2', a: 'f16x2', b: 'f16x2', c: 'f16x2' },
    since: half,
    doc: 'Multiplies and adds halves in pairs, rounding once.',
    source: '9.7.4.4',
    status: inPairs,
  }),
  row({
    syntax: 'fma.rn{.relu}.bf16x2 d, a, b, c',
    types: { d: 'bf16x2', a: 'bf16x2', b: 'bf16x2', c: 'bf16x2' },
    since: ampere,
    doc: 'Multiplies and adds bfloats in pairs, rounding once.',
    source: '9.7.4.4',
    status: inPairs,
  }),
  row({
    syntax: 'fma.rn.oob{.relu}.type d, a, b, c',
    values: { type: [...singles, ...packed] },
    since: { ptx: 8.1, sm: 90 },
    doc: 'Multiplies and adds halves; 0 where an operand is the NaN that tensor copies fill with.',
    source: '9.7.4.4',
    status: outOfBounds,
  }),
  ...(['neg', 'abs'] as const).map((name, i) =>
    row({
      syntax: `${name as 'neg'}{.ftz}.type d, a`,
      values: { type: packed },
      excludes: [{ ftz: ['ftz'], type: ['bf16x2'] }],
      since: { ptx: 6, sm: 53 },
      doc: `${['Negates', 'Takes absolute values of'][i]} halves in pairs.`,
      source: `9.7.4.${i + 5}`,
      status: inPairs,
    }),
  ),
  ...(['min', 'max'] as const).flatMap((name, i) => [
    row({
      syntax: `${name as 'min'}{.ftz}{.NaN}.type d, a, b`,
      values: { type: packed },
      excludes: [{ ftz: ['ftz'], type: ['bf16x2'] }],
      since: ampere,
      doc: `The ${['smaller', 'larger'][i]} of halves in pairs.`,
      source: `9.7.4.${i + 7}`,
      status: inPairs,
    }),
    row({
      syntax: `${name as 'min'}{.ftz}{.NaN}.xorsign.abs.type d, a, b`,
      values: { type: [...singles, ...packed] },
      excludes: [{ ftz: ['ftz'], type: bfloats }],
      since: ampereToo,
      doc: `The ${['smaller', 'larger'][i]} of the absolute values of halves, with the sign of the product.`,
      source: `9.7.4.${i + 7}`,
      status: signOfProduct,
    }),
  ]),
];

const estimateRows = (): readonly Row[] => [
  row({
    syntax: 'tanh.approx.type d, a',
    values: { type: [...singles, ...packed] },
    since: ampere,
    doc: 'An estimate of the hyperbolic tangent of halves.',
    source: '9.7.4.9',
    status: estimate,
  }),
  row({
    syntax: 'ex2.approx.type d, a',
    values: { type: ['f16', 'f16x2'] },
    since: ampere,
    doc: 'An estimate of 2 to the power of halves.',
    source: '9.7.4.10',
    status: estimate,
  }),
  row({
    syntax: 'ex2.approx.ftz.type d, a',
    values: { type: bfloats },
    since: { ptx: 7.8, sm: 90 },
    doc: 'An estimate of 2 to the power of bfloats.',
    source: '9.7.4.10',
    status: estimate,
  }),
];

const ofAny = ['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f16', 'bf16', 'f32', 'f64'] as const;

const comparisonRows = (): readonly Row[] => [
  row({
    syntax: 'set.cmp{.bool}{.ftz}.dtype.stype d, a, b{, c}',
    values: { cmp: comparisons, bool: joins, dtype: ['f16', 'u16', 's16', 'u32', 's32'], stype: ['f16'] },
    types: { d: '.dtype', a: '.stype', b: '.stype', c: 'pred' },
    onlyWith: { c: 'bool' },
    since: half,
    doc: 'Compares halves, and gives all ones or 1.0 where it holds, else 0.',
    source: '9.7.7.1',
    status: intoRegister,
  }),
  row({
    syntax: 'set.cmp{.bool}.dtype.stype d, a, b{, c}',
    values: { cmp: comparisons, bool: joins, dtype: ['bf16', 'u16', 's16', 'u32', 's32'], stype: ['bf16'] },
    types: { d: '.dtype', a: '.stype', b: '.stype', c: 'pred' },
    onlyWith: { c: 'bool' },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Compares bfloats, and gives all ones or 1.0 where it holds, else 0.',
    source: '9.7.7.1',
    status: intoRegister,
  }),
  row({
    syntax: 'set.cmp{.bool}.dtype.stype d, a, b{, c}',
    values: { cmp: ['eq', 'ne', 'lt', 'le', 'gt', 'ge'], bool: joins, dtype: ['f16', 'bf16'], stype: ofAny },
    excludes: [
      { cmp: ['lt', 'le', 'gt', 'ge'], stype: ['b16', 'b32', 'b64'] },
      { dtype: ['f16'], stype: ['bf16'] },
    ],
    types: { d: '.dtype', a: '.stype', b: '.stype', c: 'pred' },
    onlyWith: { c: 'bool' },
    since: half,
    doc: 'Compares, and gives 1.0 as a half where it holds, else 0.',
    source: '9.7.7.1',
    status: intoRegister,
  }),
  row({
    syntax: 'set.cmp{.bool}{.ftz}.dtype.f16x2 d, a, b{, c}',
    values: { cmp: comparisons, bool: joins, dtype: ['f16x2', 'u32', 's32'] },
    types: { d: '.dtype', a: 'f16x2', b: 'f16x2', c: 'pred' },
    onlyWith: { c: 'bool' },
    since: half,
    doc: 'Compares halves in pairs, and gives all ones or 1.0 where it holds, else 0.',
    source: '9.7.7.1',
    status: inPairs,
  }),
  row({
    syntax: 'set.cmp{.bool}.dtype.bf16x2 d, a, b{, c}',
    values: { cmp: comparisons, bool: joins, dtype: ['bf16x2', 'u32', 's32'] },
    types: { d: '.dtype', a: 'bf16x2', b: 'bf16x2', c: 'pred' },
    onlyWith: { c: 'bool' },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Compares bfloats in pairs, and gives all ones or 1.0 where it holds, else 0.',
    source: '9.7.7.1',
    status: inPairs,
  }),
  row({
    syntax: 'setp.cmp{.bool}{.ftz}.type p|q, a, b{, c}',
    values: { cmp: comparisons, bool: joins, type: packed },
    excludes: [{ ftz: ['ftz'], type: ['bf16x2'] }],
    types: { p: 'pred', q: 'pred', c: 'pred' },
    onlyWith: { c: 'bool' },
    since: half,
    doc: 'Compares halves in pairs: p takes the lower, q the upper.',
    source: '9.7.7.2',
    status: inPairs,
  }),
];

export const laterHalfRows = (): readonly Row[] => [...arithmeticRows(), ...estimateRows(), ...comparisonRows()];
