/** Half precision: bfloats with a single rounding, and packed halves (9.7.4). Source: PTX ISA 9.0. */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { arithmetic, flush, lifting, orNan, rectify } from './compose.ts';
import { eachHalf, fusedBfloats, type Packed, packed, type Single, singles } from './halves.ts';

const half = { ptx: 4.2, sm: 53 } as const;
const ampere = { ptx: 7, sm: 80 } as const;
const hopper = { ptx: 7.8, sm: 90 } as const;
const bfloats = ['bf16', 'bf16x2'] as const;

const sums = [
  { name: 'add', op: 'fadd', doc: 'Adds', of12: 0x4200, of21: 0x4040, section: '9.7.4.1' },
  { name: 'sub', op: 'fsub', doc: 'Subtracts', of12: 0xbc00, of21: 0x3f80, section: '9.7.4.2' },
  { name: 'mul', op: 'fmul', doc: 'Multiplies', of12: 0x4000, of21: 0x4000, section: '9.7.4.3' },
] as const;

/** Two packed halves, the upper first. */
const packedHalves = (high: number, low: number): number => high * 0x10000 + low;

const sumRows = sums.flatMap(({ name, op, doc, of12, of21, section }) => [
  row({
    syntax: `${name as 'add'}{.rnd}{.ftz}{.sat}.f16x2 d, a, b`,
    values: { rnd: ['rn'] },
    types: { d: 'f16x2', a: 'f16x2', b: 'f16x2' },
    since: half,
    doc: `${doc} packed halves, rounded to nearest even.`,
    source: section,
    status: 'exact',
    lower: ({ a, b }, m, ir) =>
      eachHalf(ir, 'f16x2', [a, b], (x, y) =>
        arithmetic(ir, [x!, y!], m, (p, q) => ir[op](p!, q!), op === 'fmul' ? lifting.product : undefined),
      ),
    cases: () => [
      {
        form: `${name}.f16x2`,
        a: packedHalves(0x3c00, 0x3c00),
        b: packedHalves(0x4000, 0x4000),
        d: packedHalves(of12, of12),
        why: '1 and 2, twice',
      },
      {
        form: `${name}.f16x2`,
        a: packedHalves(0x3c00, 0),
        b: packedHalves(0x4000, 0),
        d: packedHalves(of12, 0),
        why: 'the halves are independent',
      },
      { form: `${name}.sat.f16x2`, a: packedHalves(0x7e00, 0), b: packedHalves(0, 0x7c01), d: 0, why: 'a NaN is +0' },
      {
        form: `${name}.ftz.f16x2`,
        a: 0x80008001,
        b: packedHalves(0x8000, 0x8001),
        d: name === 'add' ? 0x80008000 : 0,
        why: 'subnormals are treated as 0',
      },
    ],
  }),
  row({
    syntax: `${name as 'add'}{.rnd}.bf16x2 d, a, b`,
    values: { rnd: ['rn'] },
    types: { d: 'bf16x2', a: 'bf16x2', b: 'bf16x2' },
    since: hopper,
    doc: `${doc} packed bfloats, rounded to nearest even.`,
    source: section,
    status: 'exact',
    lower: ({ a, b }, _, ir) => eachHalf(ir, 'bf16x2', [a, b], (x, y) => ir[op](x!, y!)),
    cases: () => [
      {
        form: `${name}.bf16x2`,
        a: packedHalves(0x4000, 0x4000),
        b: packedHalves(0x3f80, 0x3f80),
        d: packedHalves(of21, of21),
        why: '2 and 1, twice',
      },
      {
        form: `${name}.rn.bf16x2`,
        a: packedHalves(0x4000, 0),
        b: packedHalves(0x3f80, 0),
        d: packedHalves(of21, 0),
        why: 'the halves are independent',
      },
      {
        form: `${name}.bf16x2`,
        a: packedHalves(0x7fc0, 0),
        b: packedHalves(0x3f80, 0),
        d: packedHalves(0x7fff, 0),
        why: 'a NaN affects only its half',
      },
    ],
  }),
]);

const fusedRows = [
  row({
    syntax: 'fma.rn{.ftz}{.sat}{.relu}.f16x2 d, a, b, c',
    excludes: [{ sat: ['sat'], relu: ['relu'] }],
    types: { d: 'f16x2', a: 'f16x2', b: 'f16x2', c: 'f16x2' },
    since: half,
    doc: 'a * b + c of packed halves with a single rounding.',
    source: '9.7.4.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) =>
      eachHalf(ir, 'f16x2', [a, b, c], (...x) => arithmetic(ir, x, m, (p, q, r) => ir.fma(p!, q!, r!), lifting.fused)),
    cases: () => [
      { form: 'fma.rn.f16x2', a: 0x40003c00, b: 0x42004000, c: 0x3c003c00, d: 0x47004200, why: '2 * 3 + 1 and 1 * 2 + 1' },
      { form: 'fma.rn.f16x2', a: 0x3c013c00, b: 0x3c010000, c: 0xbc020000, d: 0x00100000, why: '(1+2^-10)^2 - (1+2^-9) is 2^-20' },
      { form: 'fma.rn.relu.f16x2', a: 0x40004000, b: 0xc2004200, c: 0x3c003c00, d: 0x00004700, why: 'clamped to 0' },
    ],
  }),
  row({
    syntax: 'fma.rn{.relu}.bf16 d, a, b, c',
    types: { d: 'bf16', a: 'bf16', b: 'bf16', c: 'bf16' },
    since: ampere,
    doc: 'a * b + c of bfloats with a single rounding.',
    source: '9.7.4.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => rectify(ir, fusedBfloats(ir, a, b, c), m.relu),
    cases: () => [
      { form: 'fma.rn.bf16', a: 0x4000, b: 0x4040, c: 0x3f80, d: 0x40e0, why: '2 * 3 + 1' },
      { form: 'fma.rn.bf16', a: 0x3f81, b: 0x3f81, c: 0xbf82, d: 0x3880, why: '(1+2^-7)^2 - (1+2^-6) is 2^-14' },
      { form: 'fma.rn.bf16', a: 0x3f81, b: 0x3f80, c: 0x3b80, d: 0x3f82, why: '1 + 2^-7 + 2^-8 ties to even' },
      { form: 'fma.rn.bf16', a: 0x3f80, b: 0x3f80, c: 0x3b81, d: 0x3f81, why: 'just above the midpoint of 1 and 1 + 2^-7' },
      { form: 'fma.rn.bf16', a: 0x3b80, b: 0x3f80, c: 0x3f80, d: 0x3f80, why: 'the midpoint of 1 and 1 + 2^-7 ties to even' },
      {
        form: 'fma.rn.bf16',
        a: 0x3f81,
        b: 0x3fc0,
        c: 0xab80,
        d: 0x3fc1,
        why: '1.5 + 3 * 2^-8 is a midpoint, and subtracting 2^-40 goes below it',
      },
      { form: 'fma.rn.relu.bf16', a: 0x4000, b: 0xc040, c: 0x3f80, d: 0, why: 'clamped to 0' },
    ],
  }),
  row({
    syntax: 'fma.rn{.relu}.bf16x2 d, a, b, c',
    types: { d: 'bf16x2', a: 'bf16x2', b: 'bf16x2', c: 'bf16x2' },
    since: ampere,
    doc: 'a * b + c of packed bfloats with a single rounding.',
    source: '9.7.4.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => eachHalf(ir, 'bf16x2', [a, b, c], (x, y, z) => rectify(ir, fusedBfloats(ir, x!, y!, z!), m.relu)),
    cases: () => [
      { form: 'fma.rn.bf16x2', a: 0x40003f80, b: 0x40404000, c: 0x3f803f80, d: 0x40e04040, why: '2 * 3 + 1 and 1 * 2 + 1' },
      { form: 'fma.rn.bf16x2', a: 0x3f810000, b: 0x3f810000, c: 0xbf820000, d: 0x38800000, why: 'rounding the product first would give 0' },
      { form: 'fma.rn.relu.bf16x2', a: 0x40004000, b: 0xc0404040, c: 0x3f803f80, d: 0x000040e0, why: 'clamped to 0' },
    ],
  }),
];

const signs = [
  { name: 'neg', op: 'fneg', doc: 'Negates', section: '9.7.4.5', flip: 0x8000 },
  { name: 'abs', op: 'fabs', doc: 'Gives the absolute values of', section: '9.7.4.6', flip: 0 },
] as const;

/** The cases use that -1 has the same absolute value and negation; for 1 and zeros `flip` is the sign of the result. */
const signRows = signs.flatMap(({ name, op, doc, section, flip }) => [
  row({
    syntax: `${name as 'neg'}{.ftz}.type d, a`,
    values: { type: ['f16', 'f16x2'] },
    since: { ptx: 6, sm: 53 },
    doc: `${doc} halves, scalar or packed.`,
    source: section,
    status: 'exact',
    lower: ({ a }, { ftz, type }, ir) => eachHalf(ir, type, [a], (x) => ir[op](flush(ir, x!, ftz))),
    cases: () => [
      { form: `${name}.f16`, a: 0xbc00, d: 0x3c00, why: 'of -1' },
      { form: `${name}.f16x2`, a: packedHalves(0x3c00, 0xbc00), d: packedHalves(0x3c00 + flip, 0x3c00), why: '1 and -1' },
      { form: `${name}.ftz.f16x2`, a: packedHalves(1, 0x8001), d: packedHalves(flip, 0), why: 'subnormals are flushed to 0' },
    ],
  }),
  row({
    syntax: `${name as 'neg'}.type d, a`,
    values: { type: bfloats },
    since: ampere,
    doc: `${doc} bfloats, scalar or packed.`,
    source: section,
    status: 'exact',
    lower: ({ a }, { type }, ir) => eachHalf(ir, type, [a], (x) => ir[op](x!)),
    cases: () => [
      { form: `${name}.bf16`, a: 0xbf80, d: 0x3f80, why: 'of -1' },
      { form: `${name}.bf16`, a: 0, d: flip, why: 'of 0' },
      {
        form: `${name}.bf16x2`,
        a: packedHalves(0x7f80, 0x8001),
        d: packedHalves(0x7f80 + flip, 1),
        why: 'infinity, and a subnormal, which is unchanged',
      },
    ],
  }),
]);

interface Choice {
  readonly ftz?: true;
  readonly NaN?: true;
}

/** The minimum or maximum; with `.NaN`, NaN if one operand is. */
function selectExtreme(ir: RowBuilder, op: 'fmin' | 'fmax', a: Value, b: Value, m: Choice): Value {
  const [x, y] = [flush(ir, a, m.ftz), flush(ir, b, m.ftz)];
  return m.NaN ? orNan(ir, x, y, ir[op](x, y)) : ir[op](x, y);
}

/** The minimum or maximum of the absolute values, with the sign of the product. */
function selectMagnitude(ir: RowBuilder, op: 'fmin' | 'fmax', a: Value, b: Value, m: Choice): Value {
  const type = ir.typeOf(a) as 'f32' | Single;
  const [int, sign] = type === 'f32' ? (['i32', 0x80000000] as const) : (['i16', 0x8000] as const);
  const size = selectExtreme(ir, op, ir.fabs(a), ir.fabs(b), m);
  const signs = ir.and(ir.xor(ir.bitcast(int, a), ir.bitcast(int, b)), ir.const(int, sign));
  return ir.bitcast(type, ir.or(ir.bitcast(int, size), signs));
}

const choices = [
  { name: 'min', op: 'fmin', which: 'smaller', section: '9.7.4.7', single: '9.7.3.11' },
  { name: 'max', op: 'fmax', which: 'larger', section: '9.7.4.8', single: '9.7.3.12' },
] as const;

const choiceRows = choices.flatMap(({ name, op, which, section, single }) => {
  const pick = <T>(smaller: T, larger: T): T => (op === 'fmin' ? smaller : larger);
  return [
    row({
      syntax: `${name as 'min'}{.ftz}{.NaN}.type d, a, b`,
      values: { type: [...singles, ...packed] },
      excludes: [{ ftz: ['ftz'], type: bfloats }],
      since: ampere,
      doc: `The ${which} of halves, scalar or packed. If one operand is NaN, the other one, or NaN with \`.NaN\`. -0 is less than +0.`,
      source: section,
      status: 'exact',
      lower: ({ a, b }, m, ir) => eachHalf(ir, m.type, [a, b], (x, y) => selectExtreme(ir, op, x!, y!, m)),
      cases: () => [
        { form: `${name}.f16`, a: 0x8000, b: 0, d: pick(0x8000, 0), why: '-0 and +0' },
        { form: `${name}.NaN.bf16`, a: 0x3f80, b: 0x7fc0, d: 0x7fff, why: 'NaN is propagated' },
        { form: `${name}.f16x2`, a: 0x3c00bc00, b: 0x40000000, d: pick(0x3c00bc00, 0x40000000), why: '1 and 2, -1 and 0' },
        { form: `${name}.bf16x2`, a: 0x7fc08000, b: 0x3f800000, d: pick(0x3f808000, 0x3f800000), why: 'a NaN and 1, -0 and 0' },
        { form: `${name}.NaN.f16x2`, a: 0x7e003c00, b: 0x3c003c00, d: 0x7fff3c00, why: 'NaN is propagated' },
      ],
    }),
    row({
      syntax: `${name as 'min'}{.ftz}{.NaN}.xorsign.abs.type d, a, b`,
      values: { type: [...singles, ...packed] },
      excludes: [{ ftz: ['ftz'], type: bfloats }],
      since: { ptx: 7.2, sm: 86 },
      doc: `The ${which} of the absolute values of halves, with the sign of the product.`,
      source: section,
      status: 'exact',
      lower: ({ a, b }, m, ir) => eachHalf(ir, m.type, [a, b], (x, y) => selectMagnitude(ir, op, x!, y!, m)),
      cases: () => [
        { form: `${name}.xorsign.abs.f16`, a: 0xbc00, b: 0x4000, d: pick(0xbc00, 0xc000), why: '-1 and 2' },
        { form: `${name}.xorsign.abs.bf16`, a: 0xbf80, b: 0xc000, d: pick(0x3f80, 0x4000), why: '-1 and -2' },
        { form: `${name}.xorsign.abs.f16x2`, a: 0x7e00bc00, b: 0xbc000000, d: pick(0xbc008000, 0xbc00bc00), why: 'a NaN and -1, -1 and 0' },
      ],
    }),
    row({
      syntax: `${name as 'min'}{.ftz}{.NaN}.xorsign.abs.f32 d, a, b`,
      types: { d: 'f32', a: 'f32', b: 'f32' },
      since: { ptx: 7.2, sm: 86 },
      doc: `The ${which} of the absolute values, with the sign of the product.`,
      source: single,
      status: 'exact',
      lower: ({ a, b }, m, ir) => selectMagnitude(ir, op, a, b, m),
      cases: () => [
        { form: `${name}.xorsign.abs.f32`, a: 0xbf800000, b: 0x40000000, d: pick(0xbf800000, 0xc0000000), why: '-1 and 2' },
        { form: `${name}.xorsign.abs.f32`, a: 0x7fc00000, b: 0xc0000000, d: 0xc0000000, why: 'the number, if the other is NaN' },
        { form: `${name}.NaN.xorsign.abs.f32`, a: 0x7fc00000, b: 0x40000000, d: 0x7fffffff, why: 'NaN is propagated' },
      ],
    }),
  ];
});

/** An f32 function applied to halves, with the result rounded to the half type. */
const viaF32 = (ir: RowBuilder, type: Packed | Single, a: Value, compute: (a: Value) => Value): Value =>
  eachHalf(ir, type, [a], (x) => ir.fptrunc(ir.typeOf(x!) as Single, compute(ir.fpext('f32', x!))));

const estimateRows = [
  row({
    syntax: 'tanh.approx.type d, a',
    values: { type: [...singles, ...packed] },
    since: ampere,
    doc: 'The hyperbolic tangent of halves.',
    source: '9.7.4.9',
    status: { approximate: '2^-10.987 absolute for halves and 2^-8 for bfloats in PTX; the rounded single-precision result here' },
    lower: ({ a }, { type }, ir) => viaF32(ir, type, a, (x) => ir.ftanh(x)),
    cases: () => [
      { form: 'tanh.approx.f16', a: 0x7c00, d: 0x3c00, why: 'of infinity' },
      { form: 'tanh.approx.bf16', a: 0x8000, d: 0x8000, why: 'of -0' },
      { form: 'tanh.approx.f16x2', a: 0xfc000000, d: 0xbc000000, why: '-infinity and 0' },
    ],
  }),
  row({
    syntax: 'ex2.approx.type d, a',
    values: { type: ['f16', 'f16x2'] },
    since: ampere,
    doc: '2 to the power of halves.',
    source: '9.7.4.10',
    status: { approximate: '2^-9.9 relative in PTX; the rounded single-precision result here' },
    lower: ({ a }, { type }, ir) => viaF32(ir, type, a, (x) => ir.fexp2(x)),
    cases: () => [
      { form: 'ex2.approx.f16', a: 0x4200, d: 0x4800, why: '2^3' },
      { form: 'ex2.approx.f16', a: 0x4c00, d: 0x7c00, why: '2^16 exceeds halves' },
      { form: 'ex2.approx.f16x2', a: 0xfc000000, d: 0x00003c00, why: '-infinity and 0' },
    ],
  }),
  row({
    syntax: 'ex2.approx.ftz.type d, a',
    values: { type: bfloats },
    since: hopper,
    doc: '2 to the power of bfloats. Subnormals are treated as 0.',
    source: '9.7.4.10',
    status: { approximate: '2^-7 relative in PTX; the rounded single-precision result here' },
    lower: ({ a }, { type }, ir) => viaF32(ir, type, a, (x) => flush(ir, ir.fexp2(x), true)),
    cases: () => [
      { form: 'ex2.approx.ftz.bf16', a: 0x4040, d: 0x4100, why: '2^3' },
      { form: 'ex2.approx.ftz.bf16', a: 0xc300, d: 0, why: '2^-128 is subnormal' },
      { form: 'ex2.approx.ftz.bf16x2', a: 0xff800000, d: 0x00003f80, why: '-infinity and 0' },
    ],
  }),
];

/** In the order of the manual. */
export const halfRows = [...sumRows, ...fusedRows, ...signRows, ...choiceRows, ...estimateRows];
