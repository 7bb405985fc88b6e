/** Packed pairs: 16-bit integers (9.7.1) and f32 (9.7.3); sums of a half and an f32 (9.7.5). Source: PTX ISA 9.0. */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { arithmetic, saturate } from './compose.ts';
import { joined, type Single, singles } from './halves.ts';
import { type Directed, fusedIn, productIn, sumIn } from './rounding.ts';

const hopper = { ptx: 8, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const roundings = ['rn', 'rz', 'rm', 'rp'] as const;
type Rounding = 'rn' | Directed;

// ── integers ──

/** Applies a function to both 16-bit integers of a pair. */
function eachShort(ir: RowBuilder, a: Value, b: Value, compute: (a: Value, b: Value) => Value): Value {
  const high = (x: Value): Value => ir.trunc('i16', ir.lshr(x, ir.const('i32', 16)));
  return joined(ir, compute(ir.trunc('i16', a), ir.trunc('i16', b)), compute(high(a), high(b)));
}

/** Clamps to 0 from below, if requested. */
const clampToZero = (ir: RowBuilder, a: Value, relu: true | undefined): Value => (relu ? ir.smax(a, ir.const(ir.typeOf(a), 0)) : a);

const extremes = [
  { name: 'min', ops: { s: 'smin', u: 'umin' }, which: 'smaller', source: '9.7.1.13' },
  { name: 'max', ops: { s: 'smax', u: 'umax' }, which: 'larger', source: '9.7.1.14' },
] as const;

const shortRows = [
  row({
    syntax: 'add.type d, a, b',
    values: { type: ['u16x2', 's16x2'] },
    types: { d: 'b32', a: 'b32', b: 'b32' },
    since: hopper,
    doc: 'Adds packed 16-bit integers.',
    source: '9.7.1.1',
    status: 'exact',
    lower: ({ a, b }, _, ir) => eachShort(ir, a, b, (x, y) => ir.add(x, y)),
    cases: () => [
      { form: 'add.u16x2', a: 0x00010002, b: 0x00030004, d: 0x00040006, why: '1 + 3 and 2 + 4' },
      { form: 'add.u16x2', a: 0x0001ffff, b: 0x00000001, d: 0x00010000, why: 'no carry into the upper half' },
      { form: 'add.s16x2', a: 0x7fffffff, b: 0x00010001, d: 0x80000000, why: 'wraps from the maximum to the minimum' },
    ],
  }),
  ...extremes.flatMap(({ name, ops, which, source }) => {
    const pick = (smaller: number, larger: number): number => (name === 'min' ? smaller : larger);
    return [
      row({
        syntax: `${name as 'min'}{.relu}.type d, a, b`,
        values: { type: ['u16x2', 's16x2'] },
        excludes: [{ relu: ['relu'], type: ['u16x2'] }],
        types: { d: 'b32', a: 'b32', b: 'b32' },
        since: hopper,
        doc: `The ${which} of packed 16-bit integers. \`.relu\` clamps negative results to 0.`,
        source,
        status: 'exact',
        lower: ({ a, b }, { relu, type }, ir) => eachShort(ir, a, b, (x, y) => clampToZero(ir, ir[ops[type[0] as 's' | 'u']](x, y), relu)),
        cases: () => [
          {
            form: `${name}.u16x2`,
            a: 0xffff0001,
            b: 0x00010002,
            d: pick(0x00010001, 0xffff0002),
            why: 'unsigned, all ones is the maximum',
          },
          { form: `${name}.s16x2`, a: 0xffff0001, b: 0x00010002, d: pick(0xffff0001, 0x00010002), why: '-1 is below 1' },
          { form: `${name}.relu.s16x2`, a: 0xffff8000, b: 0x0001ffff, d: pick(0, 0x00010000), why: 'clamped to 0' },
        ],
      }),
      row({
        syntax: `${name as 'min'}.relu.s32 d, a, b`,
        types: { d: 's32', a: 's32', b: 's32' },
        since: hopper,
        doc: `The ${which}, with negative results clamped to 0.`,
        source,
        status: 'exact',
        lower: ({ a, b }, _, ir) => clampToZero(ir, ir[ops.s](a, b), true),
        cases: () => [
          { form: `${name}.relu.s32`, a: 5, b: 7, d: pick(5, 7), why: '5 and 7' },
          { form: `${name}.relu.s32`, a: 0xffffffff, b: 7, d: pick(0, 7), why: '-1 and 7' },
          { form: `${name}.relu.s32`, a: 0x80000000, b: 0xffffffff, d: 0, why: 'clamped to 0' },
        ],
      }),
    ];
  }),
];

// ── singles ──

const sums = (ir: RowBuilder, rounding: Rounding, a: Value, b: Value): Value =>
  rounding === 'rn' ? ir.fadd(a, b) : sumIn(ir, rounding, a, b);
const differences = (ir: RowBuilder, rounding: Rounding, a: Value, b: Value): Value =>
  rounding === 'rn' ? ir.fsub(a, b) : sumIn(ir, rounding, a, ir.fneg(b));
const products = (ir: RowBuilder, rounding: Rounding, a: Value, b: Value): Value =>
  rounding === 'rn' ? ir.fmul(a, b) : productIn(ir, rounding, a, b);
const fused = (ir: RowBuilder, rounding: Rounding, a: Value, b: Value, c: Value): Value =>
  rounding === 'rn' ? ir.fma(a, b, c) : fusedIn(ir, rounding, a, b, c);

/** Applies a function to both f32 values of 64-bit registers. */
function eachFloat(ir: RowBuilder, operands: readonly Value[], compute: (...singles: Value[]) => Value): Value {
  const upper = ir.const('i64', 32);
  const low = compute(...operands.map((a) => ir.bitcast('f32', ir.trunc('i32', a))));
  const high = compute(...operands.map((a) => ir.bitcast('f32', ir.trunc('i32', ir.lshr(a, upper)))));
  const word = (a: Value): Value => ir.zext('i64', ir.bitcast('i32', a));
  return ir.or(word(low), ir.shl(word(high), upper));
}

/** Two packed f32 values, the upper first. */
const packedFloats = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low);
const f = { one: 0x3f800000, two: 0x40000000, three: 0x40400000, tiny: 1 } as const;

const pairRows = [
  ...(
    [
      { name: 'add', compute: sums, doc: 'Adds', source: '9.7.3.3', plain: 0x40400000, above: 0x3f800001 },
      { name: 'sub', compute: differences, doc: 'Subtracts', source: '9.7.3.4', plain: 0xbf800000, above: 0x3f800000 },
      { name: 'mul', compute: products, doc: 'Multiplies', source: '9.7.3.5', plain: 0x40000000, above: 1 },
    ] as const
  ).map(({ name, compute, doc, source, plain, above }) =>
    row({
      syntax: `${name as 'add'}{.rnd}{.ftz}.f32x2 d, a, b`,
      values: { rnd: roundings },
      types: { d: 'b64', a: 'b64', b: 'b64' },
      since: blackwell,
      doc: `${doc} packed floats.`,
      source,
      status: 'exact',
      lower: ({ a, b }, m, ir) =>
        eachFloat(ir, [a, b], (x, y) =>
          arithmetic(ir, [x!, y!], m.ftz ? { ftz: m.ftz } : {}, (p, q) => compute(ir, m.rnd ?? 'rn', p!, q!)),
        ),
      cases: () => [
        {
          form: `${name}.f32x2`,
          a: packedFloats(f.one, 0),
          b: packedFloats(f.two, 0),
          d: packedFloats(plain, 0),
          why: '1 and 2, and zeros',
        },
        {
          form: `${name}.rp.f32x2`,
          a: packedFloats(0, f.one),
          b: packedFloats(0, f.tiny),
          d: packedFloats(0, above),
          why: '1 and the smallest float, upwards',
        },
        { form: `${name}.ftz.f32x2`, a: packedFloats(f.tiny, f.tiny), b: 0n, d: 0n, why: 'subnormals are treated as 0' },
      ],
    }),
  ),
  row({
    syntax: 'fma.rnd{.ftz}.f32x2 d, a, b, c',
    values: { rnd: roundings },
    types: { d: 'b64', a: 'b64', b: 'b64', c: 'b64' },
    since: blackwell,
    doc: 'Multiplies and adds packed floats with a single rounding.',
    source: '9.7.3.6',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) =>
      eachFloat(ir, [a, b, c], (...each) => arithmetic(ir, each, m.ftz ? { ftz: m.ftz } : {}, (x, y, z) => fused(ir, m.rnd, x!, y!, z!))),
    cases: () => [
      {
        form: 'fma.rn.f32x2',
        a: packedFloats(f.two, f.one),
        b: packedFloats(f.three, f.one),
        c: packedFloats(f.one, f.one),
        d: packedFloats(0x40e00000, f.two),
        why: '2 * 3 + 1 and 1 * 1 + 1',
      },
      {
        form: 'fma.rp.f32x2',
        a: packedFloats(f.tiny, 0),
        b: packedFloats(f.tiny, 0),
        c: packedFloats(f.one, f.one),
        d: packedFloats(0x3f800001, f.one),
        why: 'above 1, and 1',
      },
      { form: 'fma.rz.ftz.f32x2', a: packedFloats(f.tiny, 0), b: packedFloats(f.one, 0), c: 0n, d: 0n, why: 'a subnormal is treated as 0' },
    ],
  }),
];

// ── halves with singles ──

const wide = (ir: RowBuilder, a: Value): Value => ir.fpext('f32', a);
const one: Readonly<Record<Single, number>> = { f16: 0x3c00, bf16: 0x3f80 };

const mixedRows = [
  ...(
    [
      { name: 'add', compute: sums, doc: 'Adds a half to a float.', source: '9.7.5.1', plain: 0x40400000, above: 0x3f800001 },
      { name: 'sub', compute: differences, doc: 'Subtracts a float from a half.', source: '9.7.5.2', plain: 0xbf800000, above: 0x3f800000 },
    ] as const
  ).map(({ name, compute, doc, source, plain, above }) =>
    row({
      syntax: `${name as 'add'}{.rnd}{.sat}.f32.atype d, a, b`,
      values: { rnd: roundings, atype: singles },
      types: { d: 'f32', a: '.atype', b: 'f32' },
      since: blackwell,
      doc,
      source,
      status: 'exact',
      lower: ({ a, b }, m, ir) => saturate(ir, compute(ir, m.rnd ?? 'rn', wide(ir, a), b), m.sat),
      cases: () => [
        { form: `${name}.f32.f16`, a: one.f16, b: f.two, d: plain, why: '1 and 2' },
        { form: `${name}.rp.f32.bf16`, a: one.bf16, b: f.tiny, d: above, why: '1 and the smallest float, upwards' },
        { form: `${name}.sat.f32.f16`, a: 0x7e00, b: f.one, d: 0, why: 'a NaN is +0' },
      ],
    }),
  ),
  row({
    syntax: 'fma.rnd{.sat}.f32.abtype d, a, b, c',
    values: { rnd: roundings, abtype: singles },
    types: { d: 'f32', a: '.abtype', b: '.abtype', c: 'f32' },
    since: blackwell,
    doc: 'Multiplies two halves and adds a float with a single rounding.',
    source: '9.7.5.3',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => saturate(ir, fused(ir, m.rnd, wide(ir, a), wide(ir, b), c), m.sat),
    cases: () => [
      { form: 'fma.rn.f32.f16', a: 0x4000, b: 0x4200, c: f.one, d: 0x40e00000, why: '2 * 3 + 1' },
      { form: 'fma.rm.f32.bf16', a: 0x8001, b: 0x0001, c: f.one, d: 0x3f7fffff, why: 'below 1' },
      { form: 'fma.rn.sat.f32.f16', a: 0x4000, b: 0x4200, c: f.one, d: f.one, why: 'clamped to 1' },
    ],
  }),
];

export const pairedRows = [...shortRows, ...pairRows, ...mixedRows];
