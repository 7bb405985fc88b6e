/**
 * Multiplication and addition of halves of which some are the NaN that tensor copies write outside of a tensor, which makes the result 0. Source: PTX ISA
 * 9.0, 9.7.4.4.
 */
import type { Value } from '../../ir/index.ts';
import { type Row, type RowBuilder, row } from '../model/row.ts';
import { arithmetic, lifting, rectify } from './compose.ts';
import { eachHalf, fusedBfloats, halfOf } from './halves.ts';

/** The NaN, whose sign does not count. Source: recorded on an NVIDIA H200. */
const outside = 0x7ff7;

function isOutside(ir: RowBuilder, a: Value): Value {
  const bits = ir.and(ir.bitcast('i16', a), ir.const('i16', 0x7fff));
  return ir.icmp(bits, ir.const('i16', outside), { pred: 'eq' });
}

export const outOfBoundsRows = (): readonly Row[] => [
  row({
    syntax: 'fma.rn.oob{.relu}.type d, a, b, c',
    values: { type: ['f16', 'bf16', 'f16x2', 'bf16x2'] },
    since: { ptx: 8.1, sm: 90 },
    doc: 'a * b + c of halves, scalar or packed. The result is 0 if a or b is the NaN that tensor copies use as padding.',
    source: '9.7.4.4',
    status: 'exact',
    lower: ({ a, b, c }, { type, relu }, ir) =>
      eachHalf(ir, type, [a, b, c], (...x) => {
        const [p, q, r] = x as [Value, Value, Value];
        const sum =
          halfOf(type) === 'f16'
            ? arithmetic(ir, x, relu ? { relu } : {}, (s, t, u) => ir.fma(s!, t!, u!), lifting.fused)
            : rectify(ir, fusedBfloats(ir, p, q, r), relu);
        return ir.select(ir.or(isOutside(ir, p), isOutside(ir, q)), ir.const(halfOf(type), 0), sum);
      }),
    cases: () => [
      { form: 'fma.rn.oob.f16', a: 0x4000, b: 0x4200, c: 0x3c00, d: 0x4700, why: '2 * 3 + 1' },
      { form: 'fma.rn.oob.f16x2', a: 0x40007ff7, b: 0x42004000, c: 0x3c003c00, d: 0x47000000, why: '2 * 3 + 1, and padding' },
      { form: 'fma.rn.oob.f16', a: 0x4000, b: 0xfff7, c: 0x3c00, d: 0, why: 'padding with a sign' },
      { form: 'fma.rn.oob.f16', a: 0x4000, b: 0x4000, c: 0x7ff7, d: 0x7fff, why: 'the term is no padding' },
      { form: 'fma.rn.oob.bf16', a: 0x4000, b: 0x7ff7, c: 0x3f80, d: 0, why: 'padding' },
      { form: 'fma.rn.oob.relu.bf16x2', a: 0x40004000, b: 0xc0404040, c: 0x3f803f80, d: 0x000040e0, why: 'limited to 0, and 7' },
    ],
  }),
];
