/**
 * Float arithmetic rounded towards zero, downwards or upwards (9.7.3). A GPU that flushes subnormals does so here for operands and results
 * as when it rounds to nearest; no intermediate value is subnormal. Source: PTX ISA 9.0.
 */

import { row } from '../model/row.ts';
import { arithmetic, lifting } from './compose.ts';
import { directed, fusedIn, productIn, quotientIn, reciprocalIn, rootIn, sumIn } from './rounding.ts';

const fermi = { ptx: 1.4, sm: 20 } as const;
const double = { ptx: 1.4, sm: 13 } as const;

const f = { half: 0x3f000000, one: 0x3f800000, two: 0x40000000, three: 0x40400000, tiny: 0x00000001, most: 0x7f7fffff } as const;
const d = { one: 0x3ff0000000000000n, tiny: 1n, most: 0x7fefffffffffffffn } as const;

const sumRows = [
  row({
    syntax: 'add.rnd{.ftz}{.sat}.f32 d, a, b',
    values: { rnd: directed },
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: fermi,
    doc: 'Adds with directed rounding.',
    source: '9.7.3.3',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => sumIn(ir, m.rnd, x!, y!)),
    cases: () => [
      { form: 'add.rp.f32', a: 0x4b800000, b: f.one, d: 0x4b800001, why: '2^24 + 1 lies below 2^24 + 2' },
      { form: 'add.rz.f32', a: 0xcb800000, b: 0xc0400000, d: 0xcb800001, why: '-(2^24 + 3) is cut to -(2^24 + 2)' },
      { form: 'add.rm.f32', a: f.most, b: f.most, d: f.most, why: 'no overflow to +infinity downwards' },
      { form: 'add.rm.f32', a: f.one, b: 0xbf800000, d: 0x80000000, why: '1 - 1 is -0 downwards' },
      { form: 'add.rp.sat.f32', a: f.one, b: f.tiny, d: f.one, why: 'clamped to 1' },
    ],
  }),
  row({
    syntax: 'add.rnd.f64 d, a, b',
    values: { rnd: directed },
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'Adds with directed rounding.',
    source: '9.7.3.3',
    status: 'exact',
    lower: ({ a, b }, m, ir) => sumIn(ir, m.rnd, a, b),
    cases: () => [
      { form: 'add.rp.f64', a: d.one, b: d.tiny, d: 0x3ff0000000000001n, why: 'above 1 by any amount' },
      { form: 'add.rz.f64', a: d.one, b: 0x8000000000000001n, d: 0x3fefffffffffffffn, why: 'below 1' },
      {
        form: 'add.rp.f64',
        a: 0xffefffffffffffffn,
        b: 0xffefffffffffffffn,
        d: 0xffefffffffffffffn,
        why: 'the lowest finite number, not -infinity',
      },
    ],
  }),
  row({
    syntax: 'sub.rnd{.ftz}{.sat}.f32 d, a, b',
    values: { rnd: directed },
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: fermi,
    doc: 'Subtracts b from a with directed rounding.',
    source: '9.7.3.4',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => sumIn(ir, m.rnd, x!, ir.fneg(y!))),
    cases: () => [
      { form: 'sub.rm.f32', a: f.one, b: f.tiny, d: 0x3f7fffff, why: 'below 1' },
      { form: 'sub.rp.f32', a: f.one, b: f.tiny, d: f.one, why: '1 is the next number above' },
      { form: 'sub.rm.f32', a: 0, b: 0, d: 0x80000000, why: '0 - 0 is -0 downwards' },
    ],
  }),
  row({
    syntax: 'sub.rnd.f64 d, a, b',
    values: { rnd: directed },
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'Subtracts b from a with directed rounding.',
    source: '9.7.3.4',
    status: 'exact',
    lower: ({ a, b }, m, ir) => sumIn(ir, m.rnd, a, ir.fneg(b)),
    cases: () => [
      { form: 'sub.rm.f64', a: d.one, b: d.tiny, d: 0x3fefffffffffffffn, why: 'below 1' },
      { form: 'sub.rz.f64', a: 0xffefffffffffffffn, b: d.most, d: 0xffefffffffffffffn, why: 'no overflow towards zero' },
      { form: 'sub.rp.f64', a: d.one, b: d.one, d: 0n, why: '1 - 1 is +0' },
    ],
  }),
];

const productRows = [
  row({
    syntax: 'mul.rnd{.ftz}{.sat}.f32 d, a, b',
    values: { rnd: directed },
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: fermi,
    doc: 'Multiplies with directed rounding.',
    source: '9.7.3.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arithmetic(ir, [a, b], m, (x, y) => productIn(ir, m.rnd, x!, y!), lifting.product),
    cases: () => [
      { form: 'mul.rp.f32', a: 0x3f800001, b: 0x3f800001, d: 0x3f800003, why: '1 + 2^-22 + 2^-46, upwards' },
      { form: 'mul.rz.f32', a: f.tiny, b: f.tiny, d: 0, why: '2^-298 towards zero' },
      { form: 'mul.rp.f32', a: f.tiny, b: f.tiny, d: f.tiny, why: '2^-298 upwards is the smallest subnormal' },
      { form: 'mul.rm.f32', a: 0x7f000000, b: 0x7f000000, d: f.most, why: '2^254 downwards is the largest' },
    ],
  }),
  row({
    syntax: 'mul.rnd.f64 d, a, b',
    values: { rnd: directed },
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'Multiplies with directed rounding.',
    source: '9.7.3.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) => productIn(ir, m.rnd, a, b),
    cases: () => [
      { form: 'mul.rp.f64', a: 0x3ff0000000000001n, b: 0x3ff0000000000001n, d: 0x3ff0000000000003n, why: '1 + 2^-51 + 2^-104, upwards' },
      { form: 'mul.rm.f64', a: 0x8000000000000001n, b: d.tiny, d: 0x8000000000000001n, why: '-2^-2148 downwards' },
      { form: 'mul.rz.f64', a: d.most, b: d.most, d: d.most, why: 'no overflow towards zero' },
    ],
  }),
  ...(['fma', 'mad'] as const).flatMap((name) => [
    row({
      syntax: `${name as 'fma'}.rnd{.ftz}{.sat}.f32 d, a, b, c`,
      values: { rnd: directed },
      types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
      since: { ptx: 2, sm: 20 },
      doc: 'a * b + c with a single directed rounding.',
      source: name === 'fma' ? '9.7.3.6' : '9.7.3.7',
      status: 'exact',
      lower: ({ a, b, c }, m, ir) => arithmetic(ir, [a, b, c], m, (x, y, z) => fusedIn(ir, m.rnd, x!, y!, z!), lifting.fused),
      cases: () => [
        { form: `${name}.rm.f32`, a: f.half, b: 0x437c0000, c: 0x4b400001, d: 0x4b40007f, why: '126 + 12582913 is exact' },
        { form: `${name}.rm.f32`, a: 0x3eaaaaab, b: 0x437c0000, c: 0x4b400001, d: 0x4b400055, why: '84.000003 + 12582913, downwards' },
        { form: `${name}.rp.f32`, a: f.tiny, b: f.tiny, c: f.one, d: 0x3f800001, why: '1 + 2^-298 lies above 1' },
        { form: `${name}.rz.f32`, a: f.tiny, b: 0x80000001, c: f.one, d: 0x3f7fffff, why: '1 - 2^-298 lies below 1' },
        { form: `${name}.rm.f32`, a: f.two, b: f.three, c: 0xc0c00000, d: 0x80000000, why: '6 - 6 is -0 downwards' },
        { form: `${name}.rz.f32`, a: f.most, b: f.two, c: 0, d: f.most, why: 'no overflow towards zero' },
        { form: `${name}.rp.f32`, a: 0, b: 0x7f800000, c: 0, d: 0x7fffffff, why: '0 times infinity is NaN' },
      ],
    }),
    row({
      syntax: `${name as 'fma'}.rnd.f64 d, a, b, c`,
      values: { rnd: directed },
      types: { d: 'f64', a: 'f64', b: 'f64', c: 'f64' },
      since: double,
      doc: 'a * b + c with a single directed rounding.',
      source: name === 'fma' ? '9.7.3.6' : '9.7.3.7',
      status: 'exact',
      lower: ({ a, b, c }, m, ir) => fusedIn(ir, m.rnd, a, b, c),
      cases: () => [
        { form: `${name}.rp.f64`, a: d.tiny, b: d.tiny, c: d.one, d: 0x3ff0000000000001n, why: '1 + 2^-2148 lies above 1' },
        { form: `${name}.rm.f64`, a: 0x4000000000000000n, b: d.one, c: 0xc000000000000000n, d: 0x8000000000000000n, why: '2 - 2 is -0' },
        { form: `${name}.rz.f64`, a: d.most, b: d.most, c: d.most, d: d.most, why: 'no overflow towards zero' },
        { form: `${name}.rp.f64`, a: d.tiny, b: 0xbfe0000000000000n, c: 0n, d: 0x8000000000000000n, why: 'above -2^-1075 lies -0' },
      ],
    }),
  ]),
];

const quotientRows = [
  row({
    syntax: 'div.rnd{.ftz}.f32 d, a, b',
    values: { rnd: directed },
    types: { d: 'f32', a: 'f32', b: 'f32' },
    since: fermi,
    doc: 'The quotient with directed rounding.',
    source: '9.7.3.8',
    status: 'exact',
    lower: ({ a, b }, m, ir) =>
      arithmetic(ir, [a, b], { ...(m.ftz ? { ftz: m.ftz } : {}) }, (x, y) => quotientIn(ir, m.rnd, x!, y!), lifting.quotient),
    cases: () => [
      { form: 'div.rm.f32', a: f.one, b: f.three, d: 0x3eaaaaaa, why: '1 / 3, downwards' },
      { form: 'div.rp.f32', a: f.tiny, b: f.most, d: f.tiny, why: 'above 0 by any amount' },
      { form: 'div.rz.f32', a: f.most, b: 0x80000001, d: 0xff7fffff, why: 'no overflow towards zero' },
      { form: 'div.rz.f32', a: f.one, b: 0, d: 0x7f800000, why: 'by zero' },
    ],
  }),
  row({
    syntax: 'div.rnd.f64 d, a, b',
    values: { rnd: directed },
    types: { d: 'f64', a: 'f64', b: 'f64' },
    since: double,
    doc: 'The quotient with directed rounding.',
    source: '9.7.3.8',
    status: 'exact',
    lower: ({ a, b }, m, ir) => quotientIn(ir, m.rnd, a, b),
    cases: () => [
      { form: 'div.rp.f64', a: d.one, b: 0x4008000000000000n, d: 0x3fd5555555555556n, why: '1 / 3, upwards' },
      { form: 'div.rm.f64', a: d.tiny, b: 0x4000000000000000n, d: 0n, why: '2^-1075, downwards' },
      { form: 'div.rz.f64', a: d.most, b: 0x8000000000000001n, d: 0xffefffffffffffffn, why: 'no overflow towards zero' },
    ],
  }),
  row({
    syntax: 'rcp.rnd{.ftz}.f32 d, a',
    values: { rnd: directed },
    types: { d: 'f32', a: 'f32' },
    since: fermi,
    doc: 'The reciprocal with directed rounding.',
    source: '9.7.3.13',
    status: 'exact',
    lower: ({ a }, m, ir) =>
      arithmetic(ir, [a], { ...(m.ftz ? { ftz: m.ftz } : {}) }, (x) => reciprocalIn(ir, m.rnd, x!), lifting.reciprocal),
    cases: () => [
      { form: 'rcp.rz.f32', a: 0xc0400000, d: 0xbeaaaaaa, why: '-1 / 3, towards zero' },
      { form: 'rcp.rm.f32', a: f.tiny, d: f.most, why: '2^149 downwards is the largest' },
      { form: 'rcp.rp.f32', a: 0x80000000, d: 0xff800000, why: 'of -0' },
    ],
  }),
  row({
    syntax: 'rcp.rnd.f64 d, a',
    values: { rnd: directed },
    types: { d: 'f64', a: 'f64' },
    since: double,
    doc: 'The reciprocal with directed rounding.',
    source: '9.7.3.13',
    status: 'exact',
    lower: ({ a }, m, ir) => reciprocalIn(ir, m.rnd, a),
    cases: () => [
      { form: 'rcp.rm.f64', a: 0xc008000000000000n, d: 0xbfd5555555555556n, why: '-1 / 3, downwards' },
      { form: 'rcp.rz.f64', a: d.tiny, d: d.most, why: '2^1074 towards zero is the largest' },
      { form: 'rcp.rp.f64', a: 0x8000000000000000n, d: 0xfff0000000000000n, why: 'of -0' },
    ],
  }),
  row({
    syntax: 'sqrt.rnd{.ftz}.f32 d, a',
    values: { rnd: directed },
    types: { d: 'f32', a: 'f32' },
    since: fermi,
    doc: 'The square root with directed rounding.',
    source: '9.7.3.15',
    status: 'exact',
    lower: ({ a }, m, ir) => arithmetic(ir, [a], { ...(m.ftz ? { ftz: m.ftz } : {}) }, (x) => rootIn(ir, m.rnd, x!)),
    cases: () => [
      { form: 'sqrt.rm.f32', a: f.two, d: 0x3fb504f3, why: '2: the nearest is below' },
      { form: 'sqrt.rp.f32', a: f.two, d: 0x3fb504f4, why: '2: the next number above' },
      { form: 'sqrt.rz.f32', a: f.tiny, d: 0x1a3504f3, why: '2^-149 gives 2^-75 times the square root of 2' },
      { form: 'sqrt.rp.f32', a: 0x80000000, d: 0x80000000, why: 'of -0' },
    ],
  }),
  row({
    syntax: 'sqrt.rnd.f64 d, a',
    values: { rnd: directed },
    types: { d: 'f64', a: 'f64' },
    since: double,
    doc: 'The square root with directed rounding.',
    source: '9.7.3.15',
    status: 'exact',
    lower: ({ a }, m, ir) => rootIn(ir, m.rnd, a),
    cases: () => [
      { form: 'sqrt.rz.f64', a: 0x4000000000000000n, d: 0x3ff6a09e667f3bccn, why: '2: the nearest is above' },
      { form: 'sqrt.rp.f64', a: 0x4000000000000000n, d: 0x3ff6a09e667f3bcdn, why: '2: and it is the result' },
      { form: 'sqrt.rm.f64', a: 0x7ff0000000000000n, d: 0x7ff0000000000000n, why: 'of infinity' },
    ],
  }),
];

/** In the order of the manual. */
export const directedRows = [...sumRows, ...productRows, ...quotientRows];
