/** Atomics. Source: PTX ISA 9.0, 9.7.13.5 and 9.7.13.6. Without a word for the order they are relaxed. */
import type { AtomicOp, Value } from '../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { fenceAround, fenceScopes, ofTheSystem } from './order.ts';
import { spaceOf } from './spaces.ts';

const since = { ptx: 1.2, sm: 20 } as const;
const ordered = { ptx: 6, sm: 70 } as const;
const sem = ['relaxed'] as const;
/** Orders that fences around the atomic make. */
const order = ['acquire', 'release', 'acq_rel'] as const;
const scope = fenceScopes;
const space = ['global', 'shared', 'shared::cta'] as const;
const apple = 'Apple GPUs have it for 32 bits; wider ones run on the CPU device alone.';
const inOrder = `In an order with other accesses, which Apple GPUs have from macOS 15 on. ${ofTheSystem}`;

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

const update = (ir: RowBuilder, a: AddressOperand, b: Value, m: Words): Value =>
  ir.atomic(ir.pointer(a, spaceOf(m.space)), b, { rmw: rmwOf(m.op, m.type) });

/** Operations with the types each has. */
const forms = [
  { op: ['add'], type: ['u32', 's32', 'u64', 'f32', 'f64'], doc: 'Adds to memory; singles in global memory without subnormals.' },
  { op: ['and', 'or', 'xor', 'exch'], type: ['b32', 'b64'], doc: 'Combines memory with b bit by bit, or replaces it.' },
  { op: ['min', 'max'], type: ['u32', 's32', 'u64', 's64'], doc: 'Keeps the smaller or the larger in memory.' },
  { op: ['inc', 'dec'], type: ['u32'], doc: 'Counts up to b and starts again at 0, or down to 0 and starts again at b.' },
] as const;

export const atomicRows = (): readonly Row[] => [
  ...forms.flatMap(({ op, type, doc }) => [
    row({
      syntax: 'atom{.sem}{.scope}{.space}.op.type d, [a], b',
      values: { sem, scope, space, op, type },
      since,
      doc: `${doc} d is the value before. ${apple}`,
      source: '9.7.13.5',
      status: 'exact',
      lower: ({ a, b }, m, ir) => update(ir, a, b, m),
      cases: () => [],
    }),
    row({
      syntax: 'atom.order{.scope}{.space}.op.type d, [a], b',
      values: { order, scope, space, op, type },
      since: ordered,
      doc: `${doc} d is the value before. ${inOrder} ${apple}`,
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
    doc: `Puts c in memory where it holds b. d is the value before. ${apple}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => ir.cas(ir.pointer(a, spaceOf(m.space)), b, c),
    cases: () => [],
  }),
  row({
    syntax: 'atom.order{.scope}{.space}.cas.type d, [a], b, c',
    values: { order, scope, space, type: ['b32', 'b64'] },
    since: ordered,
    doc: `Puts c in memory where it holds b. d is the value before. ${inOrder} ${apple}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => fenceAround(ir, m.scope, m.order, () => ir.cas(ir.pointer(a, spaceOf(m.space)), b, c)),
    cases: () => [],
  }),
];
