/**
 * Atomics on f16 and bf16, packed and scalar, and on 16 bits: each updates the 32-bit word that contains the operand. Source: PTX ISA 9.0,
 * 9.7.13.5 and 9.7.13.6.
 */
import type { Value } from '../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../model/row.ts';
import { eachHalf } from './halves.ts';
import { type FenceWord, fenceAround, fenceScopes, systemScopeNote } from './order.ts';
import { spaceOf } from './spaces.ts';

const sem = ['relaxed', 'acquire', 'release', 'acq_rel'] as const;
const scope = fenceScopes;
const space = ['global', 'shared', 'shared::cta'] as const;
const inOrder = `Memory orders need fences, which Apple GPUs have from macOS 15 on. ${systemScopeNote}`;

/** Packed and scalar half-precision types. */
export const halfForms = [
  { type: ['f16x2'], since: { ptx: 6.2, sm: 60 }, doc: 'Adds two halves to two in memory' },
  { type: ['bf16x2'], since: { ptx: 7.8, sm: 90 }, doc: 'Adds two bfloats to two in memory' },
  { type: ['f16'], since: { ptx: 6.3, sm: 70 }, doc: 'Adds a half to one in memory' },
  { type: ['bf16'], since: { ptx: 7.8, sm: 90 }, doc: 'Adds a bfloat to one in memory' },
] as const;

interface Words {
  readonly scope?: FenceWord;
  readonly sem?: string;
  readonly space?: string;
  readonly type: 'f16' | 'bf16' | 'f16x2' | 'bf16x2';
}

export const addHalf = (ir: RowBuilder, a: AddressOperand, b: Value, { type, scope, sem, space }: Words): Value => {
  const pointer = ir.pointer(a, spaceOf(space));
  return fenceAround(ir, scope, sem, () => updateHalf(ir, pointer, b, { op: 'add', type }));
};

export type HalfOperation = 'add' | 'min' | 'max';
const operations = { add: 'fadd', min: 'fmin', max: 'fmax' } as const;

/** The NaN of the manual, of halves and bfloats. Source: PTX ISA 9.0, 9.7.4. */
const halfNaN = 0x7fff;

/** Two halves or bfloats combined; a NaN is that of the manual. */
export function joinHalves(ir: RowBuilder, op: HalfOperation, x: Value, y: Value): Value {
  const joined = ir[operations[op]](x, y);
  const type = ir.typeOf(joined) as 'f16' | 'bf16';
  return ir.select(ir.fcmp(joined, joined, { pred: 'uno' }), ir.const(type, halfNaN), joined);
}

/** Combines one half, or each of two, with what memory has; gives what it had. */
export function updateHalf(
  ir: RowBuilder,
  pointer: Value,
  b: Value,
  { op, type }: { readonly op: HalfOperation; readonly type: Words['type'] },
): Value {
  const join = (x: Value, y: Value): Value => joinHalves(ir, op, x, y);
  if (type === 'f16x2' || type === 'bf16x2')
    return ir.update(pointer, (old) => eachHalf(ir, type, [old, b], (x, y) => join(x!, y!)) as Value);
  const before = updateShort(ir, pointer, (old) => ir.bitcast('i16', join(ir.bitcast(type, old), b)));
  return ir.bitcast(type, before);
}

/** Replaces 16 bits of memory within a 32-bit word. Returns the old ones. */
export function updateShort(ir: RowBuilder, pointer: Value, compute: (old: Value) => Value): Value {
  const within = ir.and(ir.ptrtoint('i64', pointer), ir.const('i64', 2));
  const word = ir.ptradd(pointer, ir.sub(ir.const('i64', 0), within));
  const place = ir.shl(ir.trunc('i32', within), ir.const('i32', 3));
  const mask = ir.shl(ir.const('i32', 0xffff), place);
  const partOf = (whole: Value): Value => ir.trunc('i16', ir.lshr(whole, place));
  const before = ir.update(word, (old) => {
    const made = ir.shl(ir.zext('i32', compute(partOf(old))), place);
    return ir.or(ir.and(old, ir.xor(mask, ir.const('i32', -1))), made);
  });
  return partOf(before);
}

/** Stores c in 16 bits of memory if they equal b. Returns the old ones. */
export function swapShort(ir: RowBuilder, pointer: Value, b: Value, c: Value, m: Pick<Words, 'scope' | 'sem'>): Value {
  const swap = (old: Value): Value => ir.select(ir.icmp(old, b, { pred: 'eq' }), c, old);
  return fenceAround(ir, m.scope, m.sem, () => updateShort(ir, pointer, swap));
}

export const halfAtomicRows = (): readonly Row[] => [
  ...halfForms.flatMap(({ type, since, doc }) => [
    row({
      syntax: 'atom{.sem}{.scope}{.space}.add.noftz.type d, [a], b',
      values: { sem, scope, space, type },
      since,
      doc: `${doc}, each atomically. d is the old value. ${inOrder}`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b }, m, ir) => addHalf(ir, a, b, m),
      cases: () => [],
    }),
    row({
      syntax: 'red{.sem}{.scope}{.space}.add.noftz.type [a], b',
      values: { sem: ['relaxed', 'release'], scope, space, type },
      since,
      doc: `${doc}, each atomically. ${inOrder}`,
      source: '9.7.13.6',
      status: 'exact',
      lower: ({ a, b }, m, ir) => void addHalf(ir, a, b, m),
      cases: () => [],
    }),
  ]),
  row({
    syntax: 'atom{.sem}{.scope}{.space}.cas.b16 d, [a], b, c',
    values: { sem, scope, space },
    types: { d: 'b16', a: 'b16', b: 'b16', c: 'b16' },
    since: { ptx: 6.3, sm: 70 },
    doc: `Stores c in memory if memory equals b, in 16 bits. d is the old value. ${inOrder}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => swapShort(ir, ir.pointer(a, spaceOf(m.space)), b, c, m),
    cases: () => [],
  }),
];
