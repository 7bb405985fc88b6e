/** Changes of tensor maps by kernels, and copies of them. Source: PTX ISA 9.0, 9.7.9.26 and 9.7.13.16. */
import type { Value } from '../../../ir/index.ts';
import { tensorMap, tensorMapMagic, tensorTypes } from '../../../ir/tensor-map.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { fence } from '../order.ts';
import { spaceOf } from '../spaces.ts';
import { copyBytes } from './bulk-copy.ts';

const since = { ptx: 8.3, sm: 90 } as const;
const space = ['global', 'shared::cta'] as const;
const source = '9.7.9.26.1';

/** The address of a field of a tensor map. */
function fieldOf(ir: RowBuilder, a: AddressOperand, space: string | undefined, offset: number): Value {
  return ir.ptradd(ir.pointer(a, spaceOf(space)), ir.const('i64', offset));
}

const put = (ir: RowBuilder, at: Value, value: Value, bytes: number): void =>
  void ir.store(at, bytes < 4 ? ir.trunc(bytes === 1 ? 'i8' : 'i16', value) : value, { align: bytes, volatile: false });

/** Fields of an axis, with their bytes. */
const ofAxis = {
  box_dim: { at: tensorMap.box, bytes: 2 },
  global_dim: { at: tensorMap.dims, bytes: 4 },
  element_stride: { at: tensorMap.steps, bytes: 1 },
} as const;

const known = (ir: RowBuilder, value: Value): number => {
  const inst = ir.kernel.insts[value]!;
  return inst.op === 'const' ? Number(inst.bits) : -1;
};

/** Types of `tensormap.replace` by their numbers, which are not those of the driver. Source: PTX ISA 9.0, 9.7.9.26.1, "elemtype". */
const typeNames = ['u8', 'u16', 'u32', 's32', 'u64', 's64', 'f16', 'f32', undefined, 'f64', 'bf16'] as const;

function replaceKind(ir: RowBuilder, a: AddressOperand, m: { readonly field: string; readonly space?: string }, value: number): void {
  const set = (offset: number, word: number): void => put(ir, fieldOf(ir, a, m.space, offset), ir.const('i32', word), 4);
  if (m.field === 'elemtype') {
    const name = typeNames[value];
    const number = tensorTypes.findIndex((each) => each.name === name);
    if (name === undefined || number < 0) return ir.refuse('elements of this type: how they are converted is not documented');
    set(tensorMap.type, number);
    set(tensorMap.shift, Math.log2(tensorTypes[number]!.bytes));
  } else if (m.field === 'interleave_layout') {
    if (value !== 0) return ir.refuse('an interleaved layout: only tensors with plain channels are copied');
    set(tensorMap.interleave, 0);
  } else if (m.field === 'swizzle_mode') {
    if (value > 3) return ir.refuse('a swizzle of 96 bytes, which is not documented for rows of other sizes');
    set(tensorMap.swizzle, value);
  } else if (m.field === 'fill_mode') set(tensorMap.fill, value === 0 ? 0 : 1);
  else if (value === 2) ir.refuse('a swizzle that exchanges 8 bytes');
  else set(tensorMap.atom, value === 3 ? 2 : value);
}

export const tensorMapRows = (): readonly Row[] => [
  row({
    syntax: 'tensormap.replace.tile.global_address{.space}.b1024.b64 [a], value',
    values: { space },
    types: { a: 'b8', value: 'b64' },
    since,
    doc: `Sets the address in a tensor map.`,
    source,
    status: 'exact',
    lower: ({ a, value }, m, ir) => put(ir, fieldOf(ir, a, m.space, tensorMap.address), value, 8),
    cases: () => [],
  }),
  row({
    syntax: 'tensormap.replace.tile.rank{.space}.b1024.b32 [a], value',
    values: { space },
    types: { a: 'b8', value: 'b32' },
    since,
    doc: `Sets the number of dimensions in a tensor map, given less one.`,
    source,
    status: 'exact',
    lower({ a, value }, m, ir) {
      put(ir, fieldOf(ir, a, m.space, tensorMap.rank), ir.add(value, ir.const('i32', 1)), 4);
      // Kernels that make a map from nothing but zeros set its rank, too.
      put(ir, fieldOf(ir, a, m.space, tensorMap.magic), ir.const('i32', tensorMapMagic), 4);
    },
    cases: () => [],
  }),
  row({
    syntax: 'tensormap.replace.tile.field{.space}.b1024.b32 [a], index, value',
    values: { field: ['box_dim', 'global_dim', 'element_stride'], space },
    types: { a: 'b8', index: 'b32', value: 'b32' },
    constants: { index: [0, 4] },
    since,
    doc: `Sets a size in a tensor map.`,
    source,
    status: 'exact',
    lower({ a, index, value }, { field, space }, ir) {
      const { at, bytes } = ofAxis[field];
      put(ir, fieldOf(ir, a, space, at + known(ir, index) * bytes), value, bytes);
    },
    cases: () => [],
  }),
  row({
    syntax: 'tensormap.replace.tile.global_stride{.space}.b1024.b64 [a], index, value',
    values: { space },
    types: { a: 'b8', index: 'b32', value: 'b64' },
    constants: { index: [0, 4] },
    since,
    doc: `Sets a stride in a tensor map.`,
    source,
    status: 'exact',
    lower({ a, index, value }, m, ir) {
      const axis = known(ir, index);
      if (axis > 3) return ir.refuse('a stride of a sixth axis');
      put(ir, fieldOf(ir, a, m.space, tensorMap.strides + 8 * axis), value, 8);
    },
    cases: () => [],
  }),
  row({
    syntax: 'tensormap.replace.tile.field{.space}.b1024.b32 [a], constant',
    values: { field: ['elemtype', 'interleave_layout', 'swizzle_mode', 'fill_mode', 'swizzle_atomicity'], space },
    types: { a: 'b8', constant: 'b32' },
    constants: { constant: [0, 15] },
    since,
    doc: `Sets a kind in a tensor map.`,
    source,
    status: 'exact',
    lower: ({ a, constant }, m, ir) => replaceKind(ir, a, m, known(ir, constant)),
    cases: () => [],
  }),
  row({
    syntax: 'tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [a], size',
    values: { scope: ['cta', 'cluster', 'gpu', 'sys'] },
    types: { to: 'b8', a: 'b8', size: 'b32' },
    constants: { size: [128, 128] },
    spaces: { to: 'global', a: 'shared' },
    isCollective: true,
    since,
    doc: 'Copies a tensor map to where copies read it.',
    source: '9.7.13.16',
    status: 'exact',
    lower({ to, a, size }, { scope }, ir) {
      // It is of the whole warp: the map may be that of another lane.
      ir.warpsync(ir.const('i32', -1), { isFence: true });
      copyBytes(ir, ir.pointer(to, 'global'), ir.pointer(a, 'shared'), size);
      fence(ir, scope === 'cta' ? 'cta' : 'gpu');
      // No lane changes the map before each other one has copied it.
      ir.warpsync(ir.const('i32', -1), { isFence: true });
    },
    cases: () => [],
  }),
  row({
    syntax: 'prefetch{.space}.tensormap [a]',
    values: { space: ['const', 'param'] },
    types: { a: 'b8' },
    since: { ptx: 8, sm: 90 },
    doc: 'Prefetches a tensor map. Ignored, because it has no effect on results.',
    source: '9.7.9.15',
    status: 'exact',
    lower: () => {},
    cases: () => [],
  }),
];
