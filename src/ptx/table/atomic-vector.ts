/**
 * Atomics on vectors, each element on its own, and those of halves with a cache policy. The least and greatest of halves are those of `min` and `max`.
 * Source: PTX ISA 9.0, 9.7.13.5 and 9.7.13.6.
 */
import type { Value } from '../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../model/row.ts';
import { anyOrder } from './atomic.ts';
import { type HalfOperation, updateHalf } from './atomic-half.ts';
import { isList } from './memory-access.ts';
import { type FenceWord, fenceAround } from './order.ts';
import { globalOrGeneric, spaceOf } from './spaces.ts';

const hopper = { ptx: 8.1, sm: 90 } as const;
const scope = ['cta', 'cluster', 'gpu', 'sys'] as const;
const release = ['relaxed', 'release'] as const;
const halves = ['f16', 'bf16', 'f16x2', 'bf16x2'] as const;
const widths = ['v2', 'v4', 'v8'] as const;
const tooWide = [{ vec: ['v8'], type: ['f16x2', 'bf16x2'] }] as const;
const policy = { policy: 'L2::cache_hint' } as const;
const each = 'The cache policy does not affect results and is ignored.';

interface Words {
  readonly sem?: string;
  readonly scope?: FenceWord;
  readonly global?: true;
}

const pointerOf = (ir: RowBuilder, a: AddressOperand, m: Words): Value => ir.pointer(a, spaceOf(globalOrGeneric(m).space));

/** Does something with each element and its place; gives the old ones. */
function eachElement(
  ir: RowBuilder,
  a: AddressOperand,
  b: Value | readonly Value[],
  m: Words & { readonly bytes: number },
  update: (pointer: Value, value: Value) => Value,
): Value[] {
  const pointer = pointerOf(ir, a, m);
  const values = isList(b) ? b : [b];
  return fenceAround(ir, m.scope, m.sem, () =>
    values.map((value, i) => update(i === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', i * m.bytes)), value)),
  );
}

const addFloats = (ir: RowBuilder, a: AddressOperand, b: Value | readonly Value[], m: Words): Value[] =>
  eachElement(ir, a, b, { ...m, bytes: 4 }, (pointer, value) => ir.atomic(pointer, value, { rmw: 'fadd' }));

type Half = (typeof halves)[number];

const updateHalves = (
  ir: RowBuilder,
  a: AddressOperand,
  b: Value | readonly Value[],
  { op = 'add', type, ...m }: Words & { readonly op?: HalfOperation; readonly type: Half },
): Value[] =>
  eachElement(ir, a, b, { ...m, bytes: type.endsWith('x2') ? 4 : 2 }, (pointer, value) => updateHalf(ir, pointer, value, { op, type }));

const vectors = (): readonly Row[] => [
  row({
    syntax: 'atom{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32 d, [a], b{, policy}',
    values: { sem: anyOrder, scope, vec: ['v2', 'v4'] },
    types: { a: 'f32', policy: 'b64', d: 'f32', b: 'f32' },
    vectors: { d: 'elements', b: 'elements' },
    onlyWith: policy,
    since: hopper,
    doc: `Adds each float of a vector to memory, atomically each. d has the old values. ${each}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) => addFloats(ir, a, b, m),
    cases: () => [],
  }),
  row({
    syntax: 'red{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32 [a], b{, policy}',
    values: { sem: release, scope, vec: ['v2', 'v4'] },
    types: { a: 'f32', policy: 'b64', b: 'f32' },
    vectors: { b: 'elements' },
    onlyWith: policy,
    since: hopper,
    doc: `Adds each float of a vector to memory, atomically each. ${each}`,
    source: '9.7.13.6',
    status: 'exact',
    lower: ({ a, b }, m, ir) => void addFloats(ir, a, b, m),
    cases: () => [],
  }),
  row({
    syntax: 'atom{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type d, [a], b{, policy}',
    values: { sem: anyOrder, scope, op: ['add', 'min', 'max'], vec: widths, type: halves },
    excludes: tooWide,
    types: { policy: 'b64' },
    vectors: { d: 'elements', b: 'elements' },
    onlyWith: policy,
    since: hopper,
    doc: `Combines each half of a vector with one in memory, atomically each. d has the old values. ${each}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) => updateHalves(ir, a, b, m),
    cases: () => [],
  }),
  row({
    syntax: 'red{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type [a], b{, policy}',
    values: { sem: release, scope, op: ['add', 'min', 'max'], vec: widths, type: halves },
    excludes: tooWide,
    types: { policy: 'b64' },
    vectors: { b: 'elements' },
    onlyWith: policy,
    since: hopper,
    doc: `Combines each half of a vector with one in memory, atomically each. ${each}`,
    source: '9.7.13.6',
    status: 'exact',
    lower: ({ a, b }, m, ir) => void updateHalves(ir, a, b, m),
    cases: () => [],
  }),
];

const hinted = (): readonly Row[] => [
  row({
    syntax: 'atom{.sem}{.scope}{.global}.add.noftz.L2::cache_hint.type d, [a], b, policy',
    values: { sem: anyOrder, scope, type: halves },
    types: { policy: 'b64' },
    since: { ptx: 7.4, sm: 80 },
    doc: `Adds halves to memory, each atomically. d has the old ones. ${each}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) => updateHalves(ir, a, b, m)[0],
    cases: () => [],
  }),
  row({
    syntax: 'red{.sem}{.scope}{.global}.add.noftz.L2::cache_hint.type [a], b, policy',
    values: { sem: release, scope, type: halves },
    types: { policy: 'b64' },
    since: { ptx: 7.4, sm: 80 },
    doc: `Adds halves to memory, each atomically. ${each}`,
    source: '9.7.13.6',
    status: 'exact',
    lower: ({ a, b }, m, ir) => void updateHalves(ir, a, b, m),
    cases: () => [],
  }),
];

export const vectorAtomicRows = (): readonly Row[] => [...vectors(), ...hinted()];
