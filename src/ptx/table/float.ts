/** Float arithmetic: single and double precision (9.7.3), half precision and bfloat (9.7.4). Source: PTX ISA 9.0. */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { arithmetic, arithmeticOf, type FlushedOperation, flush, lifting, orNan } from './compose.ts';

const always = { ptx: 1, sm: 10 } as const;
const double = { ptx: 1, sm: 13 } as const;
const half = { ptx: 4.2, sm: 53 } as const;
const bfloat = { ptx: 7.8, sm: 90 } as const;
/** Correctly rounded results satisfy every bound of the manual. */
const correctly = (bound: string) => ({ approximate: `correctly rounded; the manual allows ${bound}` }) as const;

const f = { half: 0x3f000000, one: 0x3f800000, two: 0x40000000, three: 0x40400000, four: 0x40800000, tiny: 0x00000001 } as const;

/**
 * A quotient by an approximate reciprocal. A divisor below 2^-126 is scaled, so that it has a reciprocal; one above 2^126 becomes infinite by the same scale,
 * and its reciprocal 0. A zero needs no scale.
 */
function scaledQuotient(ir: RowBuilder, a: Value, b: Value, size: Value): Value {
  if (ir.floatSpan(b).low >= -126 && ir.floatRange(size).high <= 2 ** 126) return ir.fmul(a, ir.frcp(b));
  const isAbove = ir.fcmp(size, ir.const('f32', 0x00800000), { pred: 'oge' });
  const isBelow = ir.fcmp(size, ir.const('f32', 0x7e800000), { pred: 'ole' });
  const by = ir.select(ir.and(isAbove, isBelow), ir.const('f32', f.one), ir.const('f32', 0x4b800000));
  return ir.fmul(ir.fmul(a, ir.frcp(ir.fmul(b, by))), by);
}

/** 1 / a, approximately. */
const nearReciprocal = (ir: RowBuilder, a: Value, ftz: true | undefined): Value => flush(ir, ir.frcp(flush(ir, a, ftz)), ftz);
/** 1 / a, with flushed subnormals if requested. */
const reciprocal = (ir: RowBuilder, a: Value, ftz: true | undefined): Value =>
  flush(ir, ir.fdiv(ir.const('f32', f.one), flush(ir, a, ftz)), ftz);
/** The square root, which is never subnormal. */
const root = (ir: RowBuilder, a: Value, ftz: true | undefined): Value => ir.fsqrt(flush(ir, a, ftz));

const product: FlushedOperation = { fn: 'cumetal.mul.ftz.f32', compute: (ir, [a, b]) => ir.fmul(a!, b!), lifts: lifting.product };
const fused: FlushedOperation = { fn: 'cumetal.fma.rn.ftz.f32', compute: (ir, [a, b, c]) => ir.fma(a!, b!, c!), lifts: lifting.fused };

export const floatRows = [
  row({
    syntax: 'add{.rnd}{.ftz}{.sat}.f32 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: always,
    doc: 'Adds, rounded to nearest even.',
    source: '9.7.3.3',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => ir.fadd(x!, y!)),
    cases: () => [
      { form: 'add.f32', a: f.one, b: f.two, d: f.three, why: '1 + 2' },
      { form: 'add.f32', a: 0x4b800000, b: f.one, d: 0x4b800000, why: '2^24 + 1 ties to even' },
      { form: 'add.sat.f32', a: f.one, b: f.two, d: f.one, why: 'clamped to 1' },
      { form: 'add.ftz.f32', a: f.tiny, b: 0, d: 0, why: 'a subnormal is treated as 0' },
      { form: 'add.f32', a: f.tiny, b: f.tiny, d: 2, why: 'subnormals are kept without .ftz' },
    ],
  }),
  row({
    syntax: 'add{.rnd}.f64 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'Adds, rounded to nearest even.',
    source: '9.7.3.3',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.fadd(a, b),
    cases: () => [
      { form: 'add.f64', a: 0x3ff0000000000000n, b: 0x4000000000000000n, d: 0x4008000000000000n, why: '1 + 2' },
      { form: 'add.rn.f64', a: 0x4340000000000000n, b: 0x3ff0000000000000n, d: 0x4340000000000000n, why: '2^53 + 1 ties to even' },
      { form: 'add.f64', a: 0x8000000000000000n, b: 0n, d: 0n, why: '-0 + 0 is +0' },
    ],
  }),
  row({
    syntax: 'add{.rnd}{.ftz}{.sat}.f16 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f16', a: 'f16', b: 'f16' },
    since: half,
    doc: 'Adds, rounded to nearest even.',
    source: '9.7.4.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => ir.fadd(x!, y!)),
    cases: () => [
      { form: 'add.f16', a: 0x3c00, b: 0x4000, d: 0x4200, why: '1 + 2' },
      { form: 'add.f16', a: 0x7bff, b: 0x7bff, d: 0x7c00, why: 'overflows to infinity' },
      { form: 'add.f16', a: 0x6800, b: 0x3c00, d: 0x6800, why: '2^11 + 1 ties to even' },
    ],
  }),
  row({
    syntax: 'add{.rnd}.bf16 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'bf16', a: 'bf16', b: 'bf16' },
    since: bfloat,
    doc: 'Adds, rounded to nearest even.',
    source: '9.7.4.1',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.fadd(a, b),
    cases: () => [
      { form: 'add.bf16', a: 0x3f80, b: 0x4000, d: 0x4040, why: '1 + 2' },
      { form: 'add.bf16', a: 0x4380, b: 0x3f80, d: 0x4380, why: '2^8 + 1 ties to even' },
      { form: 'add.rn.bf16', a: 0x3f80, b: 0xbf80, d: 0, why: '1 - 1 is +0' },
    ],
  }),
  row({
    syntax: 'sub{.rnd}{.ftz}{.sat}.f32 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: always,
    doc: 'Subtracts b from a, rounded to nearest even.',
    source: '9.7.3.4',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => ir.fsub(x!, y!)),
    cases: () => [
      { form: 'sub.f32', a: f.three, b: f.two, d: f.one, why: '3 - 2' },
      { form: 'sub.sat.f32', a: f.two, b: f.three, d: 0, why: 'clamped to 0' },
      { form: 'sub.f32', a: 0x7f800000, b: 0x7f7fffff, d: 0x7f800000, why: 'infinity stays' },
    ],
  }),
  row({
    syntax: 'sub{.rnd}.f64 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'Subtracts b from a, rounded to nearest even.',
    source: '9.7.3.4',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.fsub(a, b),
    cases: () => [
      { form: 'sub.f64', a: 0x4008000000000000n, b: 0x4000000000000000n, d: 0x3ff0000000000000n, why: '3 - 2' },
      { form: 'sub.f64', a: 0n, b: 0n, d: 0n, why: '0 - 0 is +0' },
      { form: 'sub.rn.f64', a: 1n, b: 2n, d: 0x8000000000000001n, why: 'subnormals subtract' },
    ],
  }),
  row({
    syntax: 'sub{.rnd}{.ftz}{.sat}.f16 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f16', a: 'f16', b: 'f16' },
    since: half,
    doc: 'Subtracts b from a, rounded to nearest even.',
    source: '9.7.4.2',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => ir.fsub(x!, y!)),
    cases: () => [
      { form: 'sub.f16', a: 0x4200, b: 0x4000, d: 0x3c00, why: '3 - 2' },
      { form: 'sub.sat.f16', a: 0x4000, b: 0x4200, d: 0, why: 'clamped to 0' },
      { form: 'sub.f16', a: 0xfbff, b: 0x7bff, d: 0xfc00, why: 'overflows to -infinity' },
    ],
  }),
  row({
    syntax: 'sub{.rnd}.bf16 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'bf16', a: 'bf16', b: 'bf16' },
    since: bfloat,
    doc: 'Subtracts b from a, rounded to nearest even.',
    source: '9.7.4.2',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.fsub(a, b),
    cases: () => [
      { form: 'sub.bf16', a: 0x4040, b: 0x4000, d: 0x3f80, why: '3 - 2' },
      { form: 'sub.bf16', a: 0x4380, b: 0xbf80, d: 0x4380, why: '2^8 + 1 ties to even' },
      { form: 'sub.rn.bf16', a: 0x3f80, b: 0x3f80, d: 0, why: '1 - 1 is +0' },
    ],
  }),
  row({
    syntax: 'mul{.rnd}{.ftz}{.sat}.f32 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: always,
    doc: 'Multiplies, rounded to nearest even.',
    source: '9.7.3.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmeticOf(ir, [a, b], m, product),
    cases: () => [
      { form: 'mul.f32', a: f.two, b: f.three, d: 0x40c00000, why: '2 * 3' },
      { form: 'mul.f32', a: f.tiny, b: f.half, d: 0, why: 'half of the smallest subnormal ties to 0' },
      { form: 'mul.ftz.f32', a: 0x00800000, b: f.half, d: 0, why: 'a subnormal result is flushed to 0' },
      { form: 'mul.sat.f32', a: f.two, b: 0xbf800000, d: 0, why: 'clamped to 0' },
    ],
  }),
  row({
    syntax: 'mul{.rnd}.f64 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'Multiplies, rounded to nearest even.',
    source: '9.7.3.5',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.fmul(a, b),
    cases: () => [
      { form: 'mul.f64', a: 0x4000000000000000n, b: 0x4008000000000000n, d: 0x4018000000000000n, why: '2 * 3' },
      { form: 'mul.f64', a: 0x8000000000000000n, b: 0x4008000000000000n, d: 0x8000000000000000n, why: '-0 * 3 is -0' },
      { form: 'mul.rn.f64', a: 0x7fe0000000000000n, b: 0x4000000000000000n, d: 0x7ff0000000000000n, why: 'overflows' },
    ],
  }),
  row({
    syntax: 'mul{.rnd}{.ftz}{.sat}.f16 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'f16', a: 'f16', b: 'f16' },
    since: half,
    doc: 'Multiplies, rounded to nearest even.',
    source: '9.7.4.3',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => ir.fmul(x!, y!), lifting.product),
    cases: () => [
      { form: 'mul.f16', a: 0x4000, b: 0x4200, d: 0x4600, why: '2 * 3' },
      { form: 'mul.f16', a: 0x5c00, b: 0x5c00, d: 0x7c00, why: '2^16 overflows' },
      { form: 'mul.ftz.f16', a: 0x0001, b: 0x3c00, d: 0, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'mul{.rnd}.bf16 d, a, b',
    values: { rnd: ['rn'] },
    types: { d: 'bf16', a: 'bf16', b: 'bf16' },
    since: bfloat,
    doc: 'Multiplies, rounded to nearest even.',
    source: '9.7.4.3',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.fmul(a, b),
    cases: () => [
      { form: 'mul.bf16', a: 0x4000, b: 0x4040, d: 0x40c0, why: '2 * 3' },
      { form: 'mul.bf16', a: 0x8000, b: 0x3f80, d: 0x8000, why: '-0 * 1 is -0' },
      { form: 'mul.rn.bf16', a: 0x7f00, b: 0x4000, d: 0x7f80, why: 'overflows' },
    ],
  }),
  row({
    syntax: 'mad{.ftz}{.sat}.f32 d, a, b, c',
    types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
    since: { ptx: 1, sm: 10 },
    withdrawn: {
      sm: 20,
      refused: 'it has no rounding modifier, which modules for sm_20 and later need',
      instead: 'write `mad.rn.f32`',
    },
    doc: 'a * b + c with flushed subnormals and a single rounding, as GPUs from sm_20 on compute it. Earlier GPUs truncate the product.',
    source: '9.7.3.7',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => arithmeticOf(ir, [a, b, c], { ...m, ftz: true }, fused),
    cases: () => [
      { form: 'mad.f32', a: f.two, b: f.three, c: f.one, d: 0x40e00000, why: '2 * 3 + 1' },
      { form: 'mad.f32', a: 0x3f800001, b: 0x3f800001, c: 0xbf800002, d: 0x28800000, why: 'the product is not rounded' },
      { form: 'mad.f32', a: 0x00000001, b: f.two, c: 0x80000000, d: 0, why: 'a subnormal is flushed to 0' },
      { form: 'mad.sat.f32', a: f.two, b: f.two, c: f.one, d: f.one, why: 'clamped to 1' },
    ],
  }),
  ...['fma', 'mad'].flatMap((name) => [
    row({
      syntax: `${name as 'fma'}.rn{.ftz}{.sat}.f32 d, a, b, c`,
      types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
      since: { ptx: 2, sm: 20 },
      doc: 'a * b + c with a single rounding.',
      source: name === 'fma' ? '9.7.3.6' : '9.7.3.7',
      status: 'exact',
      lower: ({ a, b, c }, m, ir) => arithmeticOf(ir, [a, b, c], m, fused),
      cases: () => [
        { form: `${name}.rn.f32`, a: f.two, b: f.three, c: f.one, d: 0x40e00000, why: '2 * 3 + 1' },
        {
          form: `${name}.rn.f32`,
          a: 0x3f800001,
          b: 0x3f800001,
          c: 0xbf800002,
          d: 0x28800000,
          why: '(1+2^-23)^2 - (1+2^-22) is 2^-46: rounding the product first would give 0',
        },
        { form: `${name}.rn.sat.f32`, a: f.two, b: f.two, c: f.one, d: f.one, why: 'clamped to 1' },
      ],
    }),
    row({
      syntax: `${name as 'fma'}.rn.f64 d, a, b, c`,
      types: { d: 'f64', a: 'f64', b: 'f64', c: 'f64' },
      since: double,
      doc: 'a * b + c with a single rounding.',
      source: name === 'fma' ? '9.7.3.6' : '9.7.3.7',
      status: 'exact',
      lower: ({ a, b, c }, _, ir) => ir.fma(a, b, c),
      cases: () => [
        {
          form: `${name}.rn.f64`,
          a: 0x4000000000000000n,
          b: 0x4008000000000000n,
          c: 0x3ff0000000000000n,
          d: 0x401c000000000000n,
          why: '2 * 3 + 1',
        },
        {
          form: `${name}.rn.f64`,
          a: 0x3ff0000000000001n,
          b: 0x3ff0000000000001n,
          c: 0xbff0000000000002n,
          d: 0x3970000000000000n,
          why: '(1+2^-52)^2 - (1+2^-51) is 2^-104',
        },
        { form: `${name}.rn.f64`, a: 0n, b: 0x7ff0000000000000n, c: 0n, d: 0x7fffffffffffffffn, why: '0 times infinity is NaN' },
      ],
    }),
  ]),
  row({
    syntax: 'fma.rn{.ftz}{.sat}{.relu}.f16 d, a, b, c',
    excludes: [{ sat: ['sat'], relu: ['relu'] }],
    types: { d: 'f16', a: 'f16', b: 'f16', c: 'f16' },
    since: half,
    doc: 'a * b + c with a single rounding.',
    source: '9.7.4.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => arithmetic(ir, [a, b, c], m, (x, y, z) => ir.fma(x!, y!, z!), lifting.fused),
    cases: () => [
      { form: 'fma.rn.f16', a: 0x4000, b: 0x4200, c: 0x3c00, d: 0x4700, why: '2 * 3 + 1' },
      { form: 'fma.rn.f16', a: 0x3c01, b: 0x3c01, c: 0xbc02, d: 0x0010, why: '(1+2^-10)^2 - (1+2^-9) is 2^-20' },
      { form: 'fma.rn.relu.f16', a: 0x4000, b: 0xc200, c: 0x3c00, d: 0, why: 'clamped to 0' },
    ],
  }),
  row({
    syntax: 'div.rn{.ftz}.f32 d, a, b',
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: { ptx: 1.4, sm: 20 },
    doc: 'The quotient, correctly rounded.',
    source: '9.7.3.8',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => ir.fdiv(x!, y!), lifting.quotient),
    cases: () => [
      { form: 'div.rn.f32', a: f.one, b: f.three, d: 0x3eaaaaab, why: '1 / 3, rounded up' },
      { form: 'div.rn.f32', a: f.one, b: 0, d: 0x7f800000, why: 'by zero' },
      { form: 'div.rn.f32', a: 0, b: 0, d: 0x7fffffff, why: '0 / 0 is NaN' },
    ],
  }),
  row({
    syntax: 'div.full{.ftz}.f32 d, a, b',
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: { ptx: 1.4, sm: 10 },
    doc: 'The quotient, approximately, over the full range.',
    source: '9.7.3.8',
    status: correctly('2 ulp'),
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => ir.fdiv(x!, y!)),
    cases: () => [
      { form: 'div.full.f32', a: f.four, b: f.two, d: f.two, why: '4 / 2' },
      { form: 'div.full.f32', a: f.one, b: 0x7f000000, d: 0x00400000, why: '2^-127, a subnormal' },
      { form: 'div.full.f32', a: f.one, b: 0, d: 0x7f800000, why: 'by zero' },
    ],
  }),
  row({
    syntax: 'div.approx{.ftz}.f32 d, a, b',
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: { ptx: 1.4, sm: 10 },
    doc: 'The quotient, approximately. A divisor above 2^126 gives zero, or NaN if a is infinite.',
    source: '9.7.3.8',
    status: { approximate: '2 ulp in PTX; 2^-22 relative on Apple GPUs; correctly rounded on the CPU device' },
    lower: ({ a, b }, m, ir) =>
      arithmetic(ir, [a, b], m, (x, y) => {
        // The reciprocal of a divisor above 2^126 is subnormal, and flushed.
        if (m.ftz && !ir.isForCpu) return ir.fmul(x!, flush(ir, ir.frcp(y!), true));
        const size = ir.fabs(y!);
        if (!ir.isForCpu) return scaledQuotient(ir, x!, y!, size);
        const sign = ir.bitcast('f32', ir.and(ir.bitcast('i32', y!), ir.const('i32', 0x80000000)));
        const isLarge = ir.fcmp(size, ir.const('f32', 0x7e800000), { pred: 'ogt' });
        return ir.select(isLarge, ir.fmul(x!, sign), ir.fdiv(x!, y!));
      }),
    cases: () => [
      { form: 'div.approx.f32', a: f.one, b: f.two, d: f.half, why: '1 / 2' },
      { form: 'div.approx.f32', a: 0xc0400000, b: 0x7f000000, d: 0x80000000, why: 'a divisor above 2^126' },
      { form: 'div.approx.f32', a: 0x7f800000, b: 0x7f000000, d: 0x7fffffff, why: 'infinity by such a divisor' },
    ],
  }),
  row({
    syntax: 'div.rn.f64 d, a, b',
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'The quotient, correctly rounded.',
    source: '9.7.3.8',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.fdiv(a, b),
    cases: () => [
      { form: 'div.rn.f64', a: 0x3ff0000000000000n, b: 0x4008000000000000n, d: 0x3fd5555555555555n, why: '1 / 3' },
      { form: 'div.rn.f64', a: 0xbff0000000000000n, b: 0n, d: 0xfff0000000000000n, why: 'by zero' },
      { form: 'div.rn.f64', a: 0x4008000000000000n, b: 0x4000000000000000n, d: 0x3ff8000000000000n, why: '3 / 2' },
    ],
  }),
  row({
    syntax: 'rcp.rn{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: { ptx: 1.4, sm: 20 },
    doc: 'The reciprocal, correctly rounded.',
    source: '9.7.3.13',
    status: 'exact',
    lower: ({ a }, m, ir) => reciprocal(ir, a, m.ftz),
    cases: () => [
      { form: 'rcp.rn.f32', a: f.two, d: f.half, why: '1 / 2' },
      { form: 'rcp.rn.f32', a: f.three, d: 0x3eaaaaab, why: '1 / 3' },
      { form: 'rcp.rn.ftz.f32', a: 0x7f000000, d: 0, why: '2^-127 is subnormal' },
    ],
  }),
  row({
    syntax: 'rcp.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: { ptx: 1.4, sm: 10 },
    doc: 'The reciprocal, approximately.',
    source: '9.7.3.13',
    status: { approximate: '1 ulp in PTX and on Apple GPUs; correctly rounded on the CPU device' },
    lower: ({ a }, m, ir) => nearReciprocal(ir, a, m.ftz),
    cases: () => [
      { form: 'rcp.approx.f32', a: f.four, d: 0x3e800000, why: '1 / 4' },
      { form: 'rcp.approx.f32', a: 0x80000000, d: 0xff800000, why: 'of -0' },
      { form: 'rcp.approx.ftz.f32', a: f.tiny, d: 0x7f800000, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'rcp.rn.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: double,
    doc: 'The reciprocal, correctly rounded.',
    source: '9.7.3.13',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.fdiv(ir.const('f64', 0x3ff0000000000000n), a),
    cases: () => [
      { form: 'rcp.rn.f64', a: 0x4000000000000000n, d: 0x3fe0000000000000n, why: '1 / 2' },
      { form: 'rcp.rn.f64', a: 0x4008000000000000n, d: 0x3fd5555555555555n, why: '1 / 3' },
      { form: 'rcp.rn.f64', a: 0x7ff0000000000000n, d: 0n, why: 'of infinity' },
    ],
  }),
  row({
    syntax: 'sqrt.rn{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: { ptx: 1.4, sm: 20 },
    doc: 'The square root, correctly rounded.',
    source: '9.7.3.15',
    status: 'exact',
    lower: ({ a }, m, ir) => root(ir, a, m.ftz),
    cases: () => [
      { form: 'sqrt.rn.f32', a: f.four, d: f.two, why: 'of 4' },
      { form: 'sqrt.rn.f32', a: f.two, d: 0x3fb504f3, why: 'of 2' },
      { form: 'sqrt.rn.f32', a: 0x80000000, d: 0x80000000, why: 'of -0' },
    ],
  }),
  row({
    syntax: 'sqrt.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: { ptx: 1.4, sm: 10 },
    doc: 'The square root, approximately.',
    source: '9.7.3.15',
    status: correctly('2^-23 relative'),
    lower: ({ a }, m, ir) => root(ir, a, m.ftz),
    cases: () => [
      { form: 'sqrt.approx.f32', a: f.four, d: f.two, why: 'of 4' },
      { form: 'sqrt.approx.ftz.f32', a: f.tiny, d: 0, why: 'a subnormal is treated as 0' },
      { form: 'sqrt.approx.f32', a: 0xbf800000, d: 0x7fffffff, why: '-1 gives NaN' },
    ],
  }),
  row({
    syntax: 'sqrt.rn.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: double,
    doc: 'The square root, correctly rounded.',
    source: '9.7.3.15',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.fsqrt(a),
    cases: () => [
      { form: 'sqrt.rn.f64', a: 0x4010000000000000n, d: 0x4000000000000000n, why: 'of 4' },
      { form: 'sqrt.rn.f64', a: 0x4000000000000000n, d: 0x3ff6a09e667f3bcdn, why: 'of 2' },
      { form: 'sqrt.rn.f64', a: 0xbff0000000000000n, d: 0x7fffffffffffffffn, why: '-1 gives NaN' },
    ],
  }),
  row({
    syntax: 'abs{.ftz}.type d, a',
    values: { type: ['f32', 'f64'] },
    excludes: [{ ftz: ['ftz'], type: ['f64'] }],
    since: always,
    doc: 'The absolute value.',
    source: '9.7.3.9',
    status: 'exact',
    lower: ({ a }, { ftz }, ir) => ir.fabs(flush(ir, a, ftz)),
    cases: () => [
      { form: 'abs.f32', a: 0xc0400000, d: f.three, why: 'of -3' },
      { form: 'abs.f64', a: 0x8000000000000000n, d: 0n, why: 'of -0' },
      { form: 'abs.ftz.f32', a: 0x80000001, d: 0, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'neg{.ftz}.type d, a',
    values: { type: ['f32', 'f64'] },
    excludes: [{ ftz: ['ftz'], type: ['f64'] }],
    since: always,
    doc: 'Negates.',
    source: '9.7.3.10',
    status: 'exact',
    lower: ({ a }, { ftz }, ir) => ir.fneg(flush(ir, a, ftz)),
    cases: () => [
      { form: 'neg.f32', a: f.three, d: 0xc0400000, why: 'of 3' },
      { form: 'neg.f64', a: 0n, d: 0x8000000000000000n, why: 'of 0' },
      { form: 'neg.ftz.f32', a: f.tiny, d: 0x80000000, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'min{.ftz}{.NaN}.type d, a, b',
    values: { type: ['f32', 'f64'] },
    excludes: [
      { ftz: ['ftz'], type: ['f64'] },
      { NaN: ['NaN'], type: ['f64'] },
    ],
    since: always,
    doc: 'The smaller operand. If one operand is NaN, the other one, or NaN with `.NaN`. -0 is less than +0.',
    source: '9.7.3.11',
    status: 'exact',
    lower({ a, b }, { ftz, NaN: keepsNan }, ir) {
      const [x, y] = [flush(ir, a, ftz), flush(ir, b, ftz)];
      return keepsNan ? orNan(ir, x, y, ir.fmin(x, y)) : ir.fmin(x, y);
    },
    cases: () => [
      { form: 'min.f32', a: f.one, b: f.two, d: f.one, why: '1 and 2' },
      { form: 'min.f32', a: 0x7fc00000, b: f.two, d: f.two, why: 'the number, if the other is NaN' },
      { form: 'min.f32', a: 0, b: 0x80000000, d: 0x80000000, why: '-0 is less than +0' },
      { form: 'min.NaN.f32', a: f.one, b: 0x7fc00000, d: 0x7fffffff, why: 'NaN is propagated' },
    ],
  }),
  row({
    syntax: 'max{.ftz}{.NaN}.type d, a, b',
    values: { type: ['f32', 'f64'] },
    excludes: [
      { ftz: ['ftz'], type: ['f64'] },
      { NaN: ['NaN'], type: ['f64'] },
    ],
    since: always,
    doc: 'The larger operand. If one operand is NaN, the other one, or NaN with `.NaN`. -0 is less than +0.',
    source: '9.7.3.12',
    status: 'exact',
    lower({ a, b }, { ftz, NaN: keepsNan }, ir) {
      const [x, y] = [flush(ir, a, ftz), flush(ir, b, ftz)];
      return keepsNan ? orNan(ir, x, y, ir.fmax(x, y)) : ir.fmax(x, y);
    },
    cases: () => [
      { form: 'max.f32', a: f.one, b: f.two, d: f.two, why: '1 and 2' },
      { form: 'max.f32', a: 0x7fc00000, b: f.two, d: f.two, why: 'the number, if the other is NaN' },
      { form: 'max.f32', a: 0x80000000, b: 0, d: 0, why: '+0 is greater than -0' },
      { form: 'max.NaN.f32', a: f.one, b: 0x7fc00000, d: 0x7fffffff, why: 'NaN is propagated' },
    ],
  }),
];
