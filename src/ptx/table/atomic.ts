/** Atomics. Source: PTX ISA 9.0, 9.7.13.5 and 9.7.13.6. The default order is relaxed. */
import type { AtomicOp, Value } from '../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { type FenceWord, fenceAround, fenceScopes, systemScopeNote } from './order.ts';
import { globalOrGeneric, spaceOf } from './spaces.ts';

const since = { ptx: 1.2, sm: 20 } as const;
const ordered = { ptx: 6, sm: 70 } as const;
const sem = ['relaxed'] as const;
/** Orders that are implemented by fences around the atomic. */
const order = ['acquire', 'release', 'acq_rel'] as const;
export const anyOrder = ['relaxed', ...order] as const;
const hinted = { ptx: 7.4, sm: 80 } as const;
const scope = fenceScopes;
const space = ['global', 'shared', 'shared::cta'] as const;
const apple =
  'Apple GPUs have 32-bit atomics only: 64-bit ones are compiled in two halves if all of them are the same sum or bitwise operation without an old value, and with locks from macOS 15 on otherwise.';
const inOrder = `Memory orders need fences, which Apple GPUs have from macOS 15 on. ${systemScopeNote}`;

/** The IR's name of an operation on a type. */
function rmwOf(op: string, type: string): AtomicOp {
  if (op === 'min' || op === 'max') return `${isSignedType(type) ? 's' : 'u'}${op}`;
  return op === 'add' && type.startsWith('f') ? 'fadd' : (op as AtomicOp);
}

interface Words {
  readonly space?: string;
  readonly op: string;
  readonly type: string;
}

interface Ordered {
  readonly scope?: FenceWord;
  readonly sem?: string;
  readonly global?: true;
}

export const update = (ir: RowBuilder, a: AddressOperand, b: Value, m: Words): Value =>
  ir.atomic(ir.pointer(a, spaceOf(m.space)), b, { rmw: rmwOf(m.op, m.type) });

/** An atomic of global memory with a cache policy. */
export const hintedUpdate = (ir: RowBuilder, a: AddressOperand, b: Value, m: Words & Ordered): Value =>
  fenceAround(ir, m.scope, m.sem, () => update(ir, a, b, { ...m, ...globalOrGeneric(m) }));

/** Operations with their types. */
export const forms = [
  {
    op: ['add'],
    type: ['u32', 's32', 'u64', 'f32', 'f64'],
    doc: 'Adds to memory. Single-precision sums in global memory flush subnormals.',
  },
  { op: ['and', 'or', 'xor', 'exch'], type: ['b32', 'b64'], doc: 'Combines memory with b bit by bit, or exchanges them.' },
  { op: ['min', 'max'], type: ['u32', 's32', 'u64', 's64'], doc: 'Stores the minimum or the maximum of memory and b.' },
  { op: ['inc', 'dec'], type: ['u32'], doc: 'Increments up to b and then wraps to 0, or decrements to 0 and then wraps to b.' },
] as const;

export const atomicRows = (): readonly Row[] => [
  ...forms.flatMap(({ op, type, doc }) => [
    row({
      syntax: 'atom{.sem}{.scope}{.space}.op.type d, [a], b',
      values: { sem, scope, space, op, type },
      since,
      doc: `${doc} d is the old value. ${apple}`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b }, m, ir) => update(ir, a, b, m),
      cases: () => [],
    }),
    row({
      syntax: 'atom{.sem}{.scope}{.global}.op.L2::cache_hint.type d, [a], b, policy',
      values: { sem: anyOrder, scope, op, type },
      types: { policy: 'b64' },
      since: hinted,
      doc: `${doc} d is the old value. The cache policy does not affect results and is ignored. ${inOrder} ${apple}`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b }, m, ir) => hintedUpdate(ir, a, b, m),
      cases: () => [],
    }),
    row({
      syntax: 'red{.sem}{.scope}{.global}.op.L2::cache_hint.type [a], b, policy',
      values: { sem: ['relaxed', 'release'], scope, op: op.filter((each) => each !== 'exch'), type },
      types: { policy: 'b64' },
      since: hinted,
      doc: `${doc} The cache policy does not affect results and is ignored. ${inOrder} ${apple}`,
      source: '9.7.13.6',
      status: 'exact',
      lower: ({ a, b }, m, ir) => void hintedUpdate(ir, a, b, m),
      cases: () => [],
    }),
    row({
      syntax: 'atom.order{.scope}{.space}.op.type d, [a], b',
      values: { order, scope, space, op, type },
      since: ordered,
      doc: `${doc} d is the old value. ${inOrder} ${apple}`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b }, m, ir) => fenceAround(ir, m.scope, m.order, () => update(ir, a, b, m)),
      cases: () => [],
    }),
    row({
      syntax: 'red.release{.scope}{.space}.op.type [a], b',
      values: { scope, space, op: op.filter((each) => each !== 'exch'), type },
      since: ordered,
      doc: `${doc} ${inOrder} ${apple}`,
      source: '9.7.13.6',
      status: 'exact',
      lower: ({ a, b }, m, ir) => void fenceAround(ir, m.scope, 'release', () => update(ir, a, b, m)),
      cases: () => [],
    }),
    row({
      syntax: 'red{.sem}{.scope}{.space}.op.type [a], b',
      values: { sem, scope, space, op: op.filter((each) => each !== 'exch'), type },
      since,
      doc: `${doc} ${apple}`,
      source: '9.7.13.6',
      status: 'exact',
      lower: ({ a, b }, m, ir) => void update(ir, a, b, m),
      cases: () => [],
    }),
  ]),
  row({
    syntax: 'atom{.sem}{.scope}{.space}.cas.type d, [a], b, c',
    values: { sem, scope, space, type: ['b32', 'b64'] },
    since,
    doc: `Stores c in memory if memory equals b. d is the old value. ${apple}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => ir.cas(ir.pointer(a, spaceOf(m.space)), b, c),
    cases: () => [],
  }),
  row({
    syntax: 'atom.order{.scope}{.space}.cas.type d, [a], b, c',
    values: { order, scope, space, type: ['b32', 'b64'] },
    since: ordered,
    doc: `Stores c in memory if memory equals b. d is the old value. ${inOrder} ${apple}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => fenceAround(ir, m.scope, m.order, () => ir.cas(ir.pointer(a, spaceOf(m.space)), b, c)),
    cases: () => [],
  }),
];
