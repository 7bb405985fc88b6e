/**
 * Approximate functions, of single precision most. A device may be off by a few units in the last place: PTX's own bounds hold on the
 * CPU device, which rounds from double precision; on Apple GPUs Metal's bounds for the precise functions hold. The estimates of
 * double precision, which PTX states no bound for, are the same on all of them: exact functions of the upper word, rounded to one.
 * Source: PTX ISA 9.0, 9.7.3; Metal Shading Language Specification 3.2, 8.1.
 */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { flush, orNan } from './compose.ts';

const early = { ptx: 1.4, sm: 10 } as const;

const coarse = { approximate: 'PTX states no bound, and NVIDIA hardware gives other bits; here 2^-19.9 relative' } as const;

/** A double with its lower word cleared. */
const upperWord = (ir: RowBuilder, bits: Value): Value => ir.bitcast('f64', ir.and(bits, ir.const('i64', 0xffff_ffff_0000_0000n)));

/** A function of the upper word of a double, rounded to an upper word; subnormals count as zeros on both sides. */
function estimate(ir: RowBuilder, a: Value, compute: (x: Value) => Value): Value {
  const result = compute(flush(ir, upperWord(ir, ir.bitcast('i64', a)), true));
  const rounded = upperWord(ir, ir.add(ir.bitcast('i64', result), ir.const('i64', 1n << 31n)));
  return orNan(ir, result, result, flush(ir, rounded, true));
}

const reciprocal = (ir: RowBuilder, x: Value): Value => ir.fdiv(ir.const('f64', 0x3ff0_0000_0000_0000n), x);

export const approximateRows = [
  row({
    syntax: 'rcp.approx.ftz.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 2.1, sm: 20 },
    doc: 'An estimate of the reciprocal of a double, from its upper word; the lower word of the result is 0.',
    source: '9.7.3.14',
    status: coarse,
    lower: ({ a }, _, ir) => estimate(ir, a, (x) => reciprocal(ir, x)),
    cases: () => [
      {
        form: 'rcp.approx.ftz.f64',
        a: 0xc010000000000fffn,
        d: 0xbfd0000000000000n,
        why: 'of -4 and a little more, which is not looked at',
      },
      { form: 'rcp.approx.ftz.f64', a: 0x800fffffffffffffn, d: 0xfff0000000000000n, why: 'of a negative subnormal minus infinity' },
      { form: 'rcp.approx.ftz.f64', a: 0x7fe0000000000000n, d: 0n, why: 'of 2^1023 a subnormal, which is flushed' },
      { form: 'rcp.approx.ftz.f64', a: 0x7ff0000000000000n, d: 0n, why: 'of infinity' },
    ],
  }),
  row({
    syntax: 'rsqrt.approx.ftz.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 4, sm: 20 },
    doc: 'An estimate of 1 over the square root of a double, from its upper word; the lower word of the result is 0.',
    source: '9.7.3.18',
    status: coarse,
    lower: ({ a }, _, ir) => estimate(ir, a, (x) => reciprocal(ir, ir.fsqrt(x))),
    cases: () => [
      { form: 'rsqrt.approx.ftz.f64', a: 0x4010000000000fffn, d: 0x3fe0000000000000n, why: 'of 4 and a little more' },
      { form: 'rsqrt.approx.ftz.f64', a: 0x8000000000000001n, d: 0xfff0000000000000n, why: 'of a negative subnormal, as of -0' },
      { form: 'rsqrt.approx.ftz.f64', a: 0xbff0000000000000n, d: 0x7fffffffffffffffn, why: 'of -1 is no number' },
    ],
  }),
  row({
    syntax: 'rsqrt.approx.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 1, sm: 13 },
    doc: '1 over the square root of a double, subnormal ones included.',
    source: '9.7.3.17',
    status: { approximate: 'PTX states no bound; here 1 ulp' },
    lower: ({ a }, _, ir) => reciprocal(ir, ir.fsqrt(a)),
    cases: () => [
      { form: 'rsqrt.approx.f64', a: 0x4010000000000000n, d: 0x3fe0000000000000n, why: 'of 4' },
      { form: 'rsqrt.approx.f64', a: 0x0000000000001000n, d: 0x6120000000000000n, why: 'of 2^-1062, a subnormal, 2^531' },
      { form: 'rsqrt.approx.f64', a: 0x8000000000000000n, d: 0xfff0000000000000n, why: 'of -0 minus infinity' },
    ],
  }),
  row({
    syntax: 'ex2.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: '2 to the power of a.',
    source: '9.7.3.22',
    status: { approximate: '2 ulp in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => flush(ir, ir.fexp2(flush(ir, a, ftz)), ftz),
    cases: () => [
      { form: 'ex2.approx.f32', a: 0x40400000, d: 0x41000000, why: '2^3' },
      { form: 'ex2.approx.f32', a: 0xff800000, d: 0, why: 'of minus infinity' },
      { form: 'ex2.approx.ftz.f32', a: 1, d: 0x3f800000, why: 'a subnormal counts as 0' },
    ],
  }),
  row({
    syntax: 'lg2.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: 'The logarithm to base 2; of a negative number no number.',
    source: '9.7.3.21',
    status: { approximate: '2^-22.6 absolute near 1, else 2 ulp in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => ir.flog2(flush(ir, a, ftz)),
    cases: () => [
      { form: 'lg2.approx.f32', a: 0x41000000, d: 0x40400000, why: 'of 8' },
      { form: 'lg2.approx.f32', a: 0, d: 0xff800000, why: 'of 0' },
      { form: 'lg2.approx.f32', a: 0xbf800000, d: 0x7fffffff, why: 'of -1 is no number' },
    ],
  }),
  row({
    syntax: 'sin.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: 'The sine of an angle in radians.',
    source: '9.7.3.19',
    status: { approximate: '2^-20.5 absolute between -2 pi and 2 pi in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => flush(ir, ir.fsin(flush(ir, a, ftz)), ftz),
    cases: () => [
      { form: 'sin.approx.f32', a: 0, d: 0, why: 'of 0' },
      { form: 'sin.approx.f32', a: 0x80000000, d: 0x80000000, why: 'of -0' },
      { form: 'sin.approx.f32', a: 0x7f800000, d: 0x7fffffff, why: 'of infinity is no number' },
    ],
  }),
  row({
    syntax: 'cos.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: 'The cosine of an angle in radians.',
    source: '9.7.3.20',
    status: { approximate: '2^-20.5 absolute between -2 pi and 2 pi in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => flush(ir, ir.fcos(flush(ir, a, ftz)), ftz),
    cases: () => [
      { form: 'cos.approx.f32', a: 0, d: 0x3f800000, why: 'of 0' },
      { form: 'cos.approx.f32', a: 0x80000000, d: 0x3f800000, why: 'of -0' },
      { form: 'cos.approx.f32', a: 0x7f800000, d: 0x7fffffff, why: 'of infinity is no number' },
    ],
  }),
  row({
    syntax: 'tanh.approx.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: { ptx: 7, sm: 75 },
    doc: 'The hyperbolic tangent.',
    source: '9.7.3.23',
    status: { approximate: '2^-11 relative in PTX; 5 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, _, ir) => ir.ftanh(a),
    cases: () => [
      { form: 'tanh.approx.f32', a: 0, d: 0, why: 'of 0' },
      { form: 'tanh.approx.f32', a: 0x7f800000, d: 0x3f800000, why: 'of infinity' },
      { form: 'tanh.approx.f32', a: 0xff800000, d: 0xbf800000, why: 'of minus infinity' },
    ],
  }),
  row({
    syntax: 'rsqrt.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: '1 over the square root.',
    source: '9.7.3.17',
    status: { approximate: '2^-22.9 relative in PTX; 2 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => ir.frsqrt(flush(ir, a, ftz)),
    cases: () => [
      { form: 'rsqrt.approx.f32', a: 0x40800000, d: 0x3f000000, why: 'of 4' },
      { form: 'rsqrt.approx.f32', a: 0x80000000, d: 0xff800000, why: 'of -0' },
      { form: 'rsqrt.approx.f32', a: 0xbf800000, d: 0x7fffffff, why: 'of -1 is no number' },
    ],
  }),
];
