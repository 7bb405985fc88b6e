/**
 * Memory of several devices at one address. There is one device here, whose memory it is, so that a reduction over the devices is what the one has.
 * Source: PTX ISA 9.0, 9.7.9.14.
 */
import type { Value } from '../../ir/index.ts';
import { bytesOf, type ScalarType, vectorOf } from '../../ir/types.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../model/row.ts';
import { registerTypes } from '../model/types.ts';
import { update } from './atomic.ts';
import { type HalfOperation, updateHalf } from './atomic-half.ts';
import { isList } from './memory-access.ts';
import { type FenceWord, fenceAround } from './order.ts';
import { globalOrGeneric, spaceOf } from './spaces.ts';

const since = { ptx: 8.1, sm: 90 } as const;
const source = '9.7.9.14';
const scope = ['cta', 'cluster', 'gpu', 'sys'] as const;
const loads = ['relaxed', 'acquire'] as const;
const stores = ['relaxed', 'release'] as const;
const joins = ['min', 'max', 'add', 'and', 'or', 'xor'] as const;
const integers = ['b32', 'b64', 'u32', 's32', 'u64', 's64'] as const;
const widths = ['v2', 'v4', 'v8'] as const;
const halves = ['f16', 'f16x2', 'bf16', 'bf16x2'] as const;
const accumulators = ['acc::f32', 'acc::f16'] as const;
const one = 'There is one device here.';

const mismatched = [
  { op: ['and', 'or', 'xor'], type: ['u32', 's32', 'u64', 's64'] },
  { op: ['add'], type: ['b32', 'b64', 's64'] },
  { op: ['min', 'max'], type: ['b32', 'b64'] },
] as const;

/** Floats by the register that holds them, with the vectors of 32 to 128 bits. */
const floats = [
  { register: undefined, type: ['f16', 'bf16'], vec: ['v2', 'v4', 'v8'], isSingle: false, acc: ['acc::f32'] },
  { register: undefined, type: ['f16x2', 'bf16x2'], vec: ['v2', 'v4'], isSingle: true, acc: ['acc::f32'] },
  { register: undefined, type: ['f32'], vec: ['v2', 'v4'], isSingle: true, acc: [] },
  { register: undefined, type: ['f64'], vec: [], isSingle: true, acc: [] },
  { register: 'b8', type: ['e5m2', 'e4m3'], vec: ['v4', 'v8'], isSingle: false, acc: ['acc::f16'] },
  { register: 'b16', type: ['e5m2x2', 'e4m3x2'], vec: ['v2', 'v4', 'v8'], isSingle: false, acc: ['acc::f16'] },
  { register: 'b32', type: ['e5m2x4', 'e4m3x4'], vec: ['v2', 'v4'], isSingle: true, acc: ['acc::f16'] },
] as const;
const small = { ptx: 8.6, sm: 100 } as const;

interface Words {
  readonly sem?: string;
  readonly scope?: FenceWord;
  readonly global?: true;
}

const pointerOf = (ir: RowBuilder, a: AddressOperand, m: Words): Value => ir.pointer(a, spaceOf(globalOrGeneric(m).space));
const heldIn = (register: string | undefined, type: string): ScalarType => registerTypes[register ?? type] as ScalarType;

/** Loads one element or several. */
function load(ir: RowBuilder, a: AddressOperand, m: Words, held: ScalarType): Value | Value[] {
  const lanes = ir.lanes ?? 1;
  return fenceAround(ir, m.scope, m.sem, () => {
    const pointer = pointerOf(ir, a, m);
    const align = bytesOf(held) * lanes;
    if (ir.lanes === undefined) return ir.load(held, pointer, { align, volatile: true });
    const each = Math.min(lanes, 4) as 2 | 4;
    return Array.from({ length: lanes / each }, (_, i) => {
      const place = i === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', i * each * bytesOf(held)));
      const whole = ir.load(vectorOf(held, each), place, { align: i === 0 ? align : align / 2, volatile: true });
      return Array.from({ length: each }, (__, lane) => ir.extract(held, whole, { lane }));
    }).flat();
  });
}

/** Does something with each element and its place. */
function eachElement(
  ir: RowBuilder,
  a: AddressOperand,
  b: Value | readonly Value[],
  m: Words & { readonly held: ScalarType },
  act: (place: Value, value: Value, align: number) => void,
): void {
  const values = isList(b) ? b : [b];
  const bytes = bytesOf(m.held);
  fenceAround(ir, m.scope, m.sem, () => {
    const pointer = pointerOf(ir, a, m);
    values.forEach((value, i) => {
      act(i === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', i * bytes)), value, i === 0 ? bytes * values.length : bytes);
    });
  });
}

const storeAll = (ir: RowBuilder, a: AddressOperand, b: Value | readonly Value[], m: Words & { readonly held: ScalarType }): void =>
  eachElement(ir, a, b, m, (place, value, align) => ir.store(place, value, { align, volatile: true }));

/** The words before the space, with an order and without. */
const orders = [
  { at: '.sem.scope', isOrdered: true },
  { at: '{.weak}', isOrdered: false },
] as const;

const ofIntegers = (): readonly Row[] =>
  orders.flatMap(({ at, isOrdered }) => [
    row({
      syntax: `multimem.ld_reduce${at as '.sem.scope'}{.global}.op.type d, [a]`,
      values: { ...(isOrdered ? { sem: loads, scope } : {}), op: joins, type: integers } as {
        sem: typeof loads;
        scope: typeof scope;
        op: typeof joins;
        type: typeof integers;
      },
      excludes: mismatched,
      since,
      doc: `Loads an integer of every device and reduces them. ${one}`,
      source,
      status: 'exact',
      lower: ({ a }, m, ir) => load(ir, a, m, heldIn(undefined, m.type)),
      cases: () => [],
    }),
    row({
      syntax: `multimem.st${at as '.sem.scope'}{.global}.type [a], b`,
      values: { ...(isOrdered ? { sem: stores, scope } : {}), type: integers } as {
        sem: typeof stores;
        scope: typeof scope;
        type: typeof integers;
      },
      since,
      doc: `Stores an integer to every device. ${one}`,
      source,
      status: 'exact',
      lower: ({ a, b }, m, ir) => storeAll(ir, a, b, { ...m, held: heldIn(undefined, m.type) }),
      cases: () => [],
    }),
  ]);

type Kind = (typeof floats)[number];

/** What the rows of a kind of floats share. The types of words that a kind does not have are not looked at. */
function wordsOf({ register, type, vec, isSingle }: Kind, isOrdered: boolean) {
  const given = { ...(isOrdered ? { scope } : {}), ...(vec.length > 0 ? { vec } : {}), type };
  return {
    values: given as unknown as { scope: typeof scope; vec: typeof widths; type: readonly string[] },
    vector: (vec.length === 0 ? '' : '{.vec}') as '{.vec}',
    excludes: isSingle ? [] : [{ vec: [''], type }],
    types: (register === undefined ? {} : { d: register, a: register, b: register }) as { d?: 'b8'; a?: 'b8'; b?: 'b8' },
    since: register === undefined ? since : small,
  };
}

function loadsOf(kind: Kind, { at, isOrdered }: (typeof orders)[number]): Row {
  const { register, type, acc } = kind;
  const { values, vector, types, excludes, since: from } = wordsOf(kind, isOrdered);
  const { b: _, ...loaded } = types;
  const ops = type[0] === 'f32' || type[0] === 'f64' ? ['add'] : ['min', 'max', 'add'];
  const more = { ...(isOrdered ? { sem: loads } : {}), ...(acc.length > 0 ? { acc } : {}), op: ops };
  return row({
    syntax: `multimem.ld_reduce${at as '.sem.scope'}{.global}.op${(acc.length > 0 ? '{.acc}' : '') as '{.acc}'}${vector}.type d, [a]`,
    values: { ...values, ...(more as unknown as { sem: typeof loads; acc: typeof accumulators; op: readonly ['min', 'max', 'add'] }) },
    excludes: [...excludes, ...(acc.length > 0 ? [{ op: ['min', 'max'], acc }] : [])],
    types: loaded,
    vectors: { d: 'elements' },
    since: from,
    doc: `Loads floats of every device and reduces them. ${one}`,
    source,
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, m, heldIn(register, m.type)),
    cases: () => [],
  });
}

function storesOf(kind: Kind, { at, isOrdered }: (typeof orders)[number]): Row {
  const { values, vector, types, excludes, since: from } = wordsOf(kind, isOrdered);
  const { d: _, ...stored } = types;
  return row({
    syntax: `multimem.st${at as '.sem.scope'}{.global}${vector}.type [a], b`,
    values: { ...values, ...((isOrdered ? { sem: stores } : {}) as { sem: typeof stores }) },
    excludes,
    types: stored,
    vectors: { b: 'elements' },
    since: from,
    doc: `Stores floats to every device. ${one}`,
    source,
    status: 'exact',
    lower: ({ a, b }, m, ir) => storeAll(ir, a, b, { ...m, held: heldIn(kind.register, m.type) }),
    cases: () => [],
  });
}

const ofFloats = (): readonly Row[] => orders.flatMap((order) => floats.flatMap((kind) => [loadsOf(kind, order), storesOf(kind, order)]));

const unscoped = [
  { sem: [''], scope },
  { sem: stores, scope: [''] },
] as const;

const reductions = (): readonly Row[] => [
  row({
    syntax: 'multimem.red{.sem}{.scope}{.global}.op.type [a], b',
    values: { sem: stores, scope, op: joins, type: integers },
    excludes: [...mismatched, ...unscoped],
    since,
    doc: `Reduces an integer into the memory of every device. ${one}`,
    source,
    status: 'exact',
    lower: ({ a, b }, m, ir) => void fenceAround(ir, m.scope, m.sem, () => update(ir, a, b, { ...m, ...globalOrGeneric(m) })),
    cases: () => [],
  }),
  row({
    syntax: 'multimem.red{.sem}{.scope}{.global}.op{.vec}.type [a], b',
    values: { sem: stores, scope, op: ['min', 'max', 'add'], vec: widths, type: halves },
    excludes: [
      { vec: [''], type: ['f16', 'bf16'] },
      { vec: [''], type: ['f16x2', 'bf16x2'], op: ['min', 'max'] },
      { vec: ['v8'], type: ['f16x2', 'bf16x2'] },
      ...unscoped,
    ],
    vectors: { b: 'elements' },
    since,
    doc: `Reduces halves into the memory of every device. ${one}`,
    source,
    status: 'exact',
    lower: ({ a, b }, { op, type, ...m }, ir) =>
      eachElement(ir, a, b, { ...m, held: type.endsWith('x2') ? 'i32' : 'i16' }, (place, value) =>
        updateHalf(ir, place, value, { op: op as HalfOperation, type }),
      ),
    cases: () => [],
  }),
  row({
    syntax: 'multimem.red{.sem}{.scope}{.global}.add{.vec}.type [a], b',
    values: { sem: stores, scope, vec: ['v2', 'v4'], type: ['f32', 'f64'] },
    excludes: [{ vec: ['v2', 'v4'], type: ['f64'] }, ...unscoped],
    vectors: { b: 'elements' },
    since,
    doc: `Adds floats to the memory of every device. ${one}`,
    source,
    status: 'exact',
    lower: ({ a, b }, m, ir) =>
      eachElement(ir, a, b, { ...m, held: heldIn(undefined, m.type) }, (place, value) => ir.atomic(place, value, { rmw: 'fadd' })),
    cases: () => [],
  }),
];

export const multimemRows = (): readonly Row[] => [...ofIntegers(), ...ofFloats(), ...reductions()];
