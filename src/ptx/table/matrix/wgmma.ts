/** Products by warp groups (`wgmma`). Source: PTX ISA 9.0, 9.7.15. */
import { type Row, type RowBuilder, row } from '../../model/row.ts';
import { multiplied, type Operands } from './warp-group.ts';
import {
  byEight,
  bySixteen,
  byType,
  byte,
  common,
  descriptors,
  eighth,
  four,
  held,
  inRegisters,
  inWords,
  mixed,
  order,
  orders,
  product,
  registers,
  rounded,
  roundedEighths,
  shapes,
  signs,
  since,
  type32,
  vectors,
} from './wgmma-forms.ts';
import { sparseGroupRows } from './wgmma-sparse.ts';

const halfRows = (): Row[] =>
  (['f16', 'f32'] as const).flatMap((d) => [
    row({
      ...common,
      syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.f16.f16 d, a, b, s, x, y, u, v',
      values: { shape: shapes(byEight, 16), dtype: [d] },
      types: { ...descriptors, d: held[d] },
      constants: orders,
      vectors,
      lanes: byType,
      since,
      status: rounded[d],
      doc: `${product}halves.`,
      lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'f16', b: 'f16', d }),
    }),
    row({
      ...common,
      syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.f16.f16 d, a, b, s, x, y, v',
      values: { shape: shapes(byEight, 16), dtype: [d] },
      types: { ...registers, d: held[d] },
      constants: order,
      vectors: inRegisters,
      lanes: { ...byType, a: four },
      since,
      status: rounded[d],
      doc: `${mixed}halves.`,
      lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'f16', b: 'f16', d }),
    }),
    row({
      ...common,
      syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, a, b, s, x, y',
      values: { shape: shapes(byEight, 32), dtype: [d], atype: eighth, btype: eighth },
      types: { ...descriptors, d: held[d] },
      constants: signs,
      vectors,
      lanes: byType,
      since,
      status: roundedEighths[d],
      doc: `${product}8-bit floats.`,
      lower: (operands, m, ir) => multiplied(ir, operands as Operands, { shape: m.shape, a: m.atype, b: m.btype, d }),
    }),
    row({
      ...common,
      syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, a, b, s, x, y',
      values: { shape: shapes(byEight, 32), dtype: [d], atype: eighth, btype: eighth },
      types: { ...registers, d: held[d] },
      constants: signs,
      vectors: inRegisters,
      lanes: { ...byType, a: four },
      since,
      status: roundedEighths[d],
      doc: `${mixed}8-bit floats.`,
      lower: (operands, m, ir) => multiplied(ir, operands as Operands, { shape: m.shape, a: m.atype, b: m.btype, d }),
    }),
  ]);

const singleRows = (): Row[] => [
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16 d, a, b, s, x, y, u, v',
    values: { shape: shapes(byEight, 16) },
    types: { ...descriptors, ...type32 },
    constants: orders,
    vectors,
    lanes: inWords,
    since,
    status: rounded.f32,
    doc: `${product}bfloats.`,
    lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'bf16', b: 'bf16', d: 'f32' }),
  }),
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16 d, a, b, s, x, y, v',
    values: { shape: shapes(byEight, 16) },
    types: { ...registers, ...type32 },
    constants: order,
    vectors: inRegisters,
    lanes: { ...inWords, a: four },
    since,
    status: rounded.f32,
    doc: `${mixed}bfloats.`,
    lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'bf16', b: 'bf16', d: 'f32' }),
  }),
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32 d, a, b, s, x, y',
    values: { shape: shapes(byEight, 8) },
    types: { ...descriptors, ...type32 },
    constants: signs,
    vectors,
    lanes: inWords,
    since,
    status: rounded.f32,
    doc: `${product}short floats.`,
    lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'tf32', b: 'tf32', d: 'f32' }),
  }),
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32 d, a, b, s, x, y',
    values: { shape: shapes(byEight, 8) },
    types: { ...registers, ...type32 },
    constants: signs,
    vectors: inRegisters,
    lanes: { ...inWords, a: four },
    since,
    status: rounded.f32,
    doc: `${mixed}short floats.`,
    lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'tf32', b: 'tf32', d: 'f32' }),
  }),
];

const integerRows = (): Row[] => [
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype d, a, b, s',
    values: { shape: shapes(bySixteen, 32), atype: byte, btype: byte },
    types: { ...descriptors, d: 's32' },
    vectors,
    lanes: inWords,
    since,
    status: 'exact',
    doc: `${product}bytes.`,
    lower: (operands, m, ir) =>
      multiplied(ir, operands as Operands, { shape: m.shape, a: m.atype, b: m.btype, d: 's32', isSaturated: m.satfinite ?? false }),
  }),
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype d, a, b, s',
    values: { shape: shapes(bySixteen, 32), atype: byte, btype: byte },
    types: { ...registers, d: 's32' },
    vectors: inRegisters,
    lanes: { ...inWords, a: four },
    since,
    status: 'exact',
    doc: `${mixed}bytes.`,
    lower: (operands, m, ir) =>
      multiplied(ir, operands as Operands, { shape: m.shape, a: m.atype, b: m.btype, d: 's32', isSaturated: m.satfinite ?? false }),
  }),
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc d, a, b, s',
    values: { shape: shapes(bySixteen, 256) },
    types: { ...descriptors, d: 's32' },
    vectors,
    lanes: inWords,
    since,
    status: 'exact',
    doc: `${product}bits, counting those set in both.`,
    lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'b1', b: 'b1', d: 's32' }),
  }),
  row({
    ...common,
    syntax: 'wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc d, a, b, s',
    values: { shape: shapes(bySixteen, 256) },
    types: { ...registers, d: 's32' },
    vectors: inRegisters,
    lanes: { ...inWords, a: four },
    since,
    status: 'exact',
    doc: `${mixed}bits, counting those set in both.`,
    lower: (operands, { shape }, ir) => multiplied(ir, operands as Operands, { shape, a: 'b1', b: 'b1', d: 's32' }),
  }),
];

const orderCommon = { source: '9.7.15.7', isCollective: true, since, status: 'exact', cases: () => [] } as const;

/** The threads of the warp group wait for each other: products are computed where they are issued, so that nothing else is left to wait for. */
function meet(_: unknown, __: unknown, ir: RowBuilder): void {
  ir.orderPoint();
  ir.groupBarrier();
}

const orderRows = (): Row[] => [
  row({
    ...orderCommon,
    syntax: 'wgmma.fence.sync.aligned',
    doc: `Orders accesses to registers and shared memory before a product that uses them. The threads of the warp group wait for each other.`,
    lower: meet,
  }),
  row({
    ...orderCommon,
    syntax: 'wgmma.commit_group.sync.aligned',
    doc: `Closes the group of the products so far. Products are computed where they are issued.`,
    lower: (_, __, ir) => ir.orderPoint(),
  }),
  row({
    ...orderCommon,
    syntax: 'wgmma.wait_group.sync.aligned a',
    types: { a: 's32' },
    constants: { a: [0, 7] },
    doc: `Waits until at most \`a\` groups are incomplete. The threads of the warp group wait for each other.`,
    lower: meet,
  }),
];

export const wgmmaRows = (): readonly Row[] => [...orderRows(), ...halfRows(), ...singleRows(), ...integerRows(), ...sparseGroupRows()];
