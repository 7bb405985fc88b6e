/**
 * Approximate functions of single precision. A device may be off by a few units in the last place: PTX's own bounds hold on the
 * CPU device, which rounds from double precision; on Apple GPUs Metal's bounds for the precise functions hold.
 * Source: PTX ISA 9.0, 9.7.3; Metal Shading Language Specification 3.2, 8.1.
 */
import { row } from '../row.ts';
import { flush } from './compose.ts';

const early = { ptx: 1.4, sm: 10 } as const;

export const approximateRows = [
  row({
    syntax: 'ex2.approx{.ftz}.f32 d, a',
    types: { d: 'f32', a: 'f32' },
    since: early,
    doc: '2 to the power of a.',
    source: '9.7.3.22',
    status: { approximate: '2 ulp in PTX; 4 ulp on Apple GPUs, 1 on the CPU device' },
    lower: ({ a }, { ftz }, ir) => flush(ir, ir.fexp2(flush(ir, a, ftz)), ftz),
    cases: [
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
    cases: [
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
    cases: [
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
    cases: [
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
    cases: [
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
    cases: [
      { form: 'rsqrt.approx.f32', a: 0x40800000, d: 0x3f000000, why: 'of 4' },
      { form: 'rsqrt.approx.f32', a: 0x80000000, d: 0xff800000, why: 'of -0' },
      { form: 'rsqrt.approx.f32', a: 0xbf800000, d: 0x7fffffff, why: 'of -1 is no number' },
    ],
  }),
];
