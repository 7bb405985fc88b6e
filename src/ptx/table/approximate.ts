/**
 * Approximate functions, mostly f32. A device may be off by a few units in the last place: PTX's own bounds hold on the CPU device, which
 * rounds from f64, and Metal's bounds for the precise functions hold on Apple GPUs. The f64 estimates, for which PTX has no bound, have the
 * same bits everywhere: exact functions of the upper 32 bits, rounded to the upper 32 bits.
 * Source: PTX ISA 9.0, 9.7.3; Metal Shading Language Specification 3.2, 8.1.
 */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { flush, orNan } from './compose.ts';

const early = { ptx: 1.4, sm: 10 } as const;

const coarse = { approximate: 'PTX states no bound, and NVIDIA hardware gives other bits; 2^-19.9 relative here' } as const;

/** A double with its lower 32 bits cleared. */
const upperWord = (ir: RowBuilder, bits: Value): Value => ir.bitcast('f64', ir.and(bits, ir.const('i64', 0xffff_ffff_0000_0000n)));

/** A function of the upper 32 bits of a double, rounded to the upper 32 bits; subnormals are zeros in operand and result. */
function estimate(ir: RowBuilder, a: Value, compute: (x: Value) => Value): Value {
  const result = compute(flush(ir, upperWord(ir, ir.bitcast('i64', a)), true));
  const rounded = upperWord(ir, ir.add(ir.bitcast('i64', result), ir.const('i64', 1n << 31n)));
  return orNan(ir, result, result, flush(ir, rounded, true));
}

/** On the CPU device the quotient is exact, and what is printed as PTX again may have an estimate for it. */
const reciprocal = (ir: RowBuilder, x: Value): Value => (ir.isForCpu ? ir.frcp(x) : ir.fdiv(ir.const('f64', 0x3ff0_0000_0000_0000n), x));

export const approximateRows = [
  row({
    syntax: 'rcp.approx.ftz.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 2.1, sm: 20 },
    doc: 'An estimate of the reciprocal of a double, from its upper 32 bits. The lower 32 bits of the result are 0.',
    source: '9.7.3.14',
    status: coarse,
    lower: ({ a }, _, ir) => estimate(ir, a, (x) => reciprocal(ir, x)),
    cases: () => [
      {
        form: 'rcp.approx.ftz.f64',
        a: 0xc010000000000fffn,
        d: 0xbfd0000000000000n,
        why: 'slightly below -4; the lower bits are ignored',
      },
      { form: 'rcp.approx.ftz.f64', a: 0x800fffffffffffffn, d: 0xfff0000000000000n, why: 'a negative subnormal gives minus infinity' },
      { form: 'rcp.approx.ftz.f64', a: 0x7fe0000000000000n, d: 0n, why: '2^1023 gives a subnormal, which is flushed' },
      { form: 'rcp.approx.ftz.f64', a: 0x7ff0000000000000n, d: 0n, why: 'of infinity' },
    ],
  }),
  row({
    syntax: 'rsqrt.approx.ftz.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 4, sm: 20 },
    doc: 'An estimate of the reciprocal square root of a double, from its upper 32 bits. The lower 32 bits of the result are 0.',
    source: '9.7.3.18',
    status: coarse,
    lower: ({ a }, _, ir) => estimate(ir, a, (x) => reciprocal(ir, ir.fsqrt(x))),
    cases: () => [
      { form: 'rsqrt.approx.ftz.f64', a: 0x4010000000000fffn, d: 0x3fe0000000000000n, why: 'slightly above 4' },
      { form: 'rsqrt.approx.ftz.f64', a: 0x8000000000000001n, d: 0xfff0000000000000n, why: 'a negative subnormal is treated as -0' },
      { form: 'rsqrt.approx.ftz.f64', a: 0xbff0000000000000n, d: 0x7fffffffffffffffn, why: '-1 gives NaN' },
    ],
  }),
  row({
    syntax: 'rsqrt.approx.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 1, sm: 13 },
    doc: 'The reciprocal square root of a double, including subnormals.',
    source: '9.7.3.17',
    status: { approximate: 'PTX states no bound; 1 ulp here' },
    lower: ({ a }, _, ir) => reciprocal(ir, ir.fsqrt(a)),
    cases: () => [
      { form: 'rsqrt.approx.f64', a: 0x4010000000000000n, d: 0x3fe0000000000000n, why: 'of 4' },
      { form: 'rsqrt.approx.f64', a: 0x0000000000001000n, d: 0x6120000000000000n, why: 'of 2^-1062, a subnormal, 2^531' },
      { form: 'rsqrt.approx.f64', a: 0x8000000000000000n, d: 0xfff0000000000000n, why: '-0 gives minus infinity' },
    ],
  }),
  row({
    syntax: 'ex2.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: '2 to the power of a.',
    source: '9.7.3.22',
    status: { approximate: '2 ulp in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    // Of a subnormal it is 1.
    lower: ({ a }, { ftz }, ir) => flush(ir, ir.fexp2(a), ftz),
    cases: () => [
      { form: 'ex2.approx.f32', a: 0x40400000, d: 0x41000000, why: '2^3' },
      { form: 'ex2.approx.f32', a: 0xff800000, d: 0, why: 'minus infinity' },
      { form: 'ex2.approx.ftz.f32', a: 1, d: 0x3f800000, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'lg2.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: 'The logarithm to base 2. A negative number gives NaN.',
    source: '9.7.3.21',
    status: { approximate: '2^-22.6 absolute near 1, else 2 ulp in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => ir.flog2(flush(ir, a, ftz)),
    cases: () => [
      { form: 'lg2.approx.f32', a: 0x41000000, d: 0x40400000, why: 'of 8' },
      { form: 'lg2.approx.f32', a: 0, d: 0xff800000, why: 'of 0' },
      { form: 'lg2.approx.f32', a: 0xbf800000, d: 0x7fffffff, why: '-1 gives NaN' },
    ],
  }),
  row({
    syntax: 'sin.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: 'The sine of an angle in radians.',
    source: '9.7.3.19',
    status: { approximate: '2^-20.5 absolute between -2 pi and 2 pi in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    // Of a subnormal it is that subnormal.
    lower: ({ a }, { ftz }, ir) => flush(ir, ir.fsin(a), ftz),
    cases: () => [
      { form: 'sin.approx.f32', a: 0, d: 0, why: 'of 0' },
      { form: 'sin.approx.f32', a: 0x80000000, d: 0x80000000, why: 'of -0' },
      { form: 'sin.approx.f32', a: 0x7f800000, d: 0x7fffffff, why: 'infinity gives NaN' },
    ],
  }),
  row({
    syntax: 'cos.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: 'The cosine of an angle in radians.',
    source: '9.7.3.20',
    status: { approximate: '2^-20.5 absolute between -2 pi and 2 pi in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    // Of a subnormal it is 1, and no angle in single precision has a subnormal cosine.
    lower: ({ a }, _, ir) => ir.fcos(a),
    cases: () => [
      { form: 'cos.approx.f32', a: 0, d: 0x3f800000, why: 'of 0' },
      { form: 'cos.approx.f32', a: 0x80000000, d: 0x3f800000, why: 'of -0' },
      { form: 'cos.approx.f32', a: 0x7f800000, d: 0x7fffffff, why: 'infinity gives NaN' },
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
      { form: 'tanh.approx.f32', a: 0xff800000, d: 0xbf800000, why: 'minus infinity' },
    ],
  }),
  row({
    syntax: 'rsqrt.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: 'The reciprocal square root.',
    source: '9.7.3.17',
    status: { approximate: '2^-22.9 relative in PTX; 2 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => ir.frsqrt(flush(ir, a, ftz)),
    cases: () => [
      { form: 'rsqrt.approx.f32', a: 0x40800000, d: 0x3f000000, why: 'of 4' },
      { form: 'rsqrt.approx.f32', a: 0x80000000, d: 0xff800000, why: 'of -0' },
      { form: 'rsqrt.approx.f32', a: 0xbf800000, d: 0x7fffffff, why: '-1 gives NaN' },
    ],
  }),
];
