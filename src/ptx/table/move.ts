/** Data movement: registers, memory, addresses. Source: PTX ISA 9.0, 9.7.9. */
import type { Space, Value } from '../../ir/index.ts';
import { bitsOf, type IntType, intOf } from '../../ir/types.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { registerTypes } from '../model/types.ts';
import { isList, load, memoryTypes, store, wide } from './memory-access.ts';
import { spaceOf } from './spaces.ts';

const always = { ptx: 1, sm: 10 } as const;
const notGlobal = ['const', 'local', 'param', 'param::entry', 'shared', 'shared::cta'] as const;
const cacheLoads = ['ca', 'cg', 'cs', 'lu', 'cv'] as const;
const cacheStores = ['wb', 'cg', 'cs', 'wt'] as const;
const evictions = ['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] as const;
const prefetches = ['L2::64B', 'L2::128B', 'L2::256B'] as const;

/** Splits a value into parts, lowest bits first. */
function split(ir: RowBuilder, whole: Value, count: number): Value[] {
  const type = ir.typeOf(whole) as IntType;
  const width = bitsOf(type) / count;
  return Array.from({ length: count }, (_, i) => ir.trunc(intOf(width), ir.lshr(whole, ir.const(type, i * width))));
}

function join(ir: RowBuilder, parts: readonly Value[], type: IntType): Value {
  const width = bitsOf(type) / parts.length;
  return parts.map((part, i) => ir.shl(ir.zext(type, part), ir.const(type, i * width))).reduce((whole, part) => ir.or(whole, part));
}

const loadDoc = 'Loads from memory. Cache hints do not affect results and are ignored.';

export const moveRows = [
  row({
    syntax: 'mov.type d, a',
    values: { type: ['pred', 'b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] },
    vectors: { d: 'parts', a: 'parts' },
    takesAddresses: true,
    since: always,
    doc: 'Copies a register, a constant, a special register or the address of a variable; packs parts into a register, or unpacks them.',
    source: '9.7.9.3',
    status: 'exact',
    lower({ a }, { type }, ir) {
      const whole = isList(a) ? join(ir, a, registerTypes[type] as IntType) : a;
      return ir.lanes === undefined ? whole : split(ir, whole, ir.lanes);
    },
    cases: () => [
      { form: 'mov.b32', a: 0xdeadbeef, d: 0xdeadbeef, why: 'a copy' },
      { form: 'mov.b64', a: [0x11111111, 0x22222222], d: 0x2222222211111111n, why: 'packs, lowest part first' },
      { form: 'mov.b32', a: 0xaaaabbbb, d: [0xbbbb, 0xaaaa], why: 'unpacks, lowest part first' },
      { form: 'mov.b64', a: 0x4444333322221111n, d: [0x1111, 0x2222, 0x3333, 0x4444], why: 'unpacks four' },
    ],
  }),
  row({
    syntax: 'mov.vec.type d, a',
    values: { vec: ['v2', 'v4'], type: ['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] },
    excludes: [{ vec: ['v4'], type: wide }],
    vectors: { d: 'elements', a: 'elements' },
    since: always,
    doc: 'Copies several registers. The axes of special registers are read separately.',
    source: '9.7.9.3',
    status: 'exact',
    lower: ({ a }) => a,
    cases: () => [
      { form: 'mov.v2.b32', a: [0xdeadbeef, 1], d: [0xdeadbeef, 1], why: 'a copy of two' },
      { form: 'mov.v4.u16', a: [1, 2, 3, 0xffff], d: [1, 2, 3, 0xffff], why: 'a copy of four' },
      { form: 'mov.v2.f64', a: [0x7ff0000000000001n, 1n], d: [0x7ff0000000000001n, 1n], why: 'a copy keeps the bits of a NaN' },
    ],
  }),
  row({
    syntax: 'ld{.weak}{.space}{.cop}{.evict}{.prefetch}{.vec}.type d, [a]',
    values: {
      space: ['const', 'global', 'local', 'param', 'param::entry', 'shared', 'shared::cta'],
      cop: cacheLoads,
      evict: evictions,
      prefetch: prefetches,
      vec: ['v2', 'v4'],
      type: memoryTypes,
    },
    excludes: [
      { cop: cacheLoads, evict: evictions },
      { space: notGlobal, evict: evictions },
      { space: notGlobal, prefetch: prefetches },
      { space: notGlobal, vec: ['v4'], type: wide },
    ],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: always,
    doc: loadDoc,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, m, false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.global{.cop}.nc{.evict}{.prefetch}{.vec}.type d, [a]',
    values: { cop: ['ca', 'cg', 'cs'], evict: evictions, prefetch: prefetches, vec: ['v2', 'v4'], type: memoryTypes },
    excludes: [{ cop: cacheLoads, evict: evictions }],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: { ptx: 3.1, sm: 32 },
    doc: 'Loads from global memory that is constant while the kernel runs. Cache hints do not affect results and are ignored.',
    source: '9.7.9.9',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, space: 'global' }, false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.volatile{.space}{.vec}.type d, [a]',
    values: { space: ['global', 'shared', 'shared::cta'], vec: ['v2', 'v4'], type: memoryTypes },
    excludes: [{ space: notGlobal, vec: ['v4'], type: wide }],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: { ptx: 1.1, sm: 10 },
    doc: `${loadDoc} The access is neither omitted nor merged.`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, m, true),
    cases: () => [],
  }),
  row({
    syntax: 'ldu{.space}{.vec}.type d, [a]',
    values: { space: ['global'], vec: ['v2', 'v4'], type: memoryTypes },
    excludes: [{ vec: ['v4'], type: wide }],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: { ptx: 2, sm: 20 },
    doc: 'Loads data that is the same for all threads of a warp and that the kernel does not write.',
    source: '9.7.9.10',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, m, false),
    cases: () => [],
  }),
  row({
    syntax: 'st{.weak}{.space}{.cop}{.evict}{.vec}.type [a], b',
    values: {
      space: ['global', 'local', 'shared', 'shared::cta'],
      cop: cacheStores,
      evict: evictions,
      vec: ['v2', 'v4'],
      type: memoryTypes,
    },
    excludes: [
      { cop: cacheStores, evict: evictions },
      { space: notGlobal, evict: evictions },
      { space: notGlobal, vec: ['v4'], type: wide },
    ],
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: always,
    doc: 'Stores to memory. Cache hints do not affect results and are ignored.',
    source: '9.7.9.12',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, m, false),
    cases: () => [],
  }),
  row({
    syntax: 'st.volatile{.space}{.vec}.type [a], b',
    values: { space: ['global', 'shared', 'shared::cta'], vec: ['v2', 'v4'], type: memoryTypes },
    excludes: [{ space: notGlobal, vec: ['v4'], type: wide }],
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: { ptx: 1.1, sm: 10 },
    doc: 'Stores to memory. The access is neither omitted nor merged.',
    source: '9.7.9.12',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, m, true),
    cases: () => [],
  }),
  row({
    syntax: 'ld.space{.vec}.type d, [a]',
    values: { space: ['param::func'], vec: ['v2', 'v4'], type: memoryTypes },
    excludes: [{ vec: ['v4'], type: wide }],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: { ptx: 8.3, sm: 20 },
    doc: 'Loads a parameter of a function, or a result of a call.',
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, m, false),
    cases: () => [],
  }),
  row({
    syntax: 'st.space{.vec}.type [a], b',
    values: { space: ['param'], vec: ['v2', 'v4'], type: memoryTypes },
    excludes: [{ vec: ['v4'], type: wide }],
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: { ptx: 2, sm: 20 },
    doc: 'Stores an argument of a call, or the result of a function.',
    source: '9.7.9.12',
    status: 'exact',
    // Parameters of an entry are read-only.
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, space: 'param::func' }, false),
    cases: () => [],
  }),
  row({
    syntax: 'st.space{.vec}.type [a], b',
    values: { space: ['param::func'], vec: ['v2', 'v4'], type: memoryTypes },
    excludes: [{ vec: ['v4'], type: wide }],
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: { ptx: 8.3, sm: 20 },
    doc: 'Stores an argument of a call, or the result of a function.',
    source: '9.7.9.12',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, m, false),
    cases: () => [],
  }),
  row({
    syntax: 'cvta.space.size d, a',
    values: { space: ['const', 'global', 'local', 'shared', 'shared::cta', 'param', 'param::entry'], size: ['u32', 'u64'] },
    types: { d: '.size', a: '.size' },
    takesAddresses: true,
    since: { ptx: 2, sm: 20 },
    doc: 'Converts an address in a state space to a generic address.',
    source: '9.7.9.20',
    status: 'exact',
    lower: ({ a }, { space }, ir) => ir.convertAddress(a, spaceOf(space), 'generic'),
    cases: () => [],
  }),
  row({
    syntax: 'cvta.to.space.size d, a',
    values: { space: ['const', 'global', 'local', 'shared', 'shared::cta', 'param', 'param::entry'], size: ['u32', 'u64'] },
    types: { d: '.size', a: '.size' },
    since: { ptx: 2, sm: 20 },
    doc: 'Converts a generic address to an address in a state space.',
    source: '9.7.9.20',
    status: 'exact',
    lower: ({ a }, { space }, ir) => ir.convertAddress(a, spaceOf(space), 'space'),
    cases: () => [],
  }),
  row({
    syntax: 'isspacep.space d, a',
    values: { space: ['const', 'global', 'local', 'shared', 'shared::cta', 'param', 'param::entry'] },
    types: { d: 'pred', a: 'b64' },
    since: { ptx: 2, sm: 20 },
    doc: 'Whether a generic address points into a state space.',
    source: '9.7.9.19',
    status: 'exact',
    lower: ({ a }, { space }, ir) => ir.isspace(a, { space: space === 'param::entry' ? 'param' : (spaceOf(space) as Space) }),
    cases: () => [],
  }),
];
