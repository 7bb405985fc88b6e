/**
 * Legal forms of opcodes that have rows elsewhere, refused by this version. They stand here so that a form which the manual
 * knows is called unsupported, and not wrong. Source: PTX ISA 9.0, chapter 9.
 */
import { type Row, row } from '../row.ts';

const packed = ['f16x2', 'bf16x2'] as const;
const scopes = ['cta', 'cluster', 'gpu', 'sys'] as const;
const spaces = ['global', 'shared', 'shared::cta', 'shared::cluster', 'local', 'const', 'param'] as const;
const types = ['b8', 'b16', 'b32', 'b64', 'b128', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64'] as const;
const vectors = ['v2', 'v4', 'v8'] as const;
const half = { ptx: 4.2, sm: 53 } as const;
const ordered = { ptx: 6, sm: 70 } as const;

const inPairs = { refused: 'two halves in one register' } as const;
const withOrder = { refused: 'memory accesses with an order and a scope' } as const;
const carries = { refused: 'the carry flag' } as const;
const smallFloats = { refused: 'this pair of float formats' } as const;

/** Arithmetic on two halves at once. */
const pairRows: readonly Row[] = [
  row({
    syntax: 'add{.rnd}{.ftz}{.sat}.type d, a, b',
    values: { rnd: ['rn'], type: packed },
    since: half,
    doc: 'Adds halves in pairs.',
    source: '9.7.4.1',
    status: inPairs,
    cases: [],
  }),
  row({
    syntax: 'sub{.rnd}{.ftz}{.sat}.type d, a, b',
    values: { rnd: ['rn'], type: packed },
    since: half,
    doc: 'Subtracts halves in pairs.',
    source: '9.7.4.2',
    status: inPairs,
    cases: [],
  }),
  row({
    syntax: 'mul{.rnd}{.ftz}{.sat}.type d, a, b',
    values: { rnd: ['rn'], type: packed },
    since: half,
    doc: 'Multiplies halves in pairs.',
    source: '9.7.4.3',
    status: inPairs,
    cases: [],
  }),
  row({
    syntax: 'fma.rn{.ftz}{.sat}{.relu}{.oob}.type d, a, b, c',
    values: { type: [...packed, 'f16', 'bf16'] },
    since: half,
    doc: 'Multiplies and adds halves in pairs.',
    source: '9.7.4.4',
    status: inPairs,
    cases: [],
  }),
  row({
    syntax: 'neg{.ftz}.type d, a',
    values: { type: packed },
    since: half,
    doc: 'Negates halves in pairs.',
    source: '9.7.4.5',
    status: inPairs,
    cases: [],
  }),
  row({
    syntax: 'abs{.ftz}.type d, a',
    values: { type: packed },
    since: half,
    doc: 'Absolute values of halves in pairs.',
    source: '9.7.4.6',
    status: inPairs,
    cases: [],
  }),
  row({
    syntax: 'min{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b',
    values: { type: [...packed, 'f32', 'f16', 'bf16'] },
    since: half,
    doc: 'The smaller of halves in pairs, or with the sign of the product.',
    source: '9.7.4.7',
    status: { refused: 'halves in pairs, and the sign of the product' },
    cases: [],
  }),
  row({
    syntax: 'max{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b',
    values: { type: [...packed, 'f32', 'f16', 'bf16'] },
    since: half,
    doc: 'The larger of halves in pairs, or with the sign of the product.',
    source: '9.7.4.8',
    status: { refused: 'halves in pairs, and the sign of the product' },
    cases: [],
  }),
  row({
    syntax: 'setp.cmp{.ftz}.type p|q, a, b',
    values: { cmp: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'], type: packed },
    since: half,
    doc: 'Compares halves in pairs.',
    source: '9.7.7.2',
    status: inPairs,
    cases: [],
  }),
  row({
    syntax: 'set.cmp{.bool}{.ftz}.dtype.stype d, a, b{, c}',
    values: {
      cmp: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'],
      bool: ['and', 'or', 'xor'],
      dtype: ['f16', 'bf16', 'u16', 's16', 'u32', 's32', ...packed],
      stype: ['f16', 'bf16', ...packed],
    },
    types: { d: '.dtype', a: '.stype', b: '.stype', c: 'pred' },
    since: half,
    doc: 'Compares halves.',
    source: '9.7.7.1',
    status: { refused: 'comparisons of halves into a register' },
    cases: [],
  }),
  row({
    syntax: 'add.type d, a, b',
    values: { type: ['u16x2', 's16x2'] },
    since: { ptx: 8, sm: 90 },
    doc: 'Adds 16-bit integers in pairs.',
    source: '9.7.1.1',
    status: { refused: 'two integers in one register' },
    cases: [],
  }),
  row({
    syntax: 'min{.relu}.type d, a, b',
    values: { type: ['u16x2', 's16x2', 's32'] },
    since: { ptx: 8, sm: 90 },
    doc: 'The smaller, in pairs or not below 0.',
    source: '9.7.1.13',
    status: { refused: 'two integers in one register, and `.relu`' },
    cases: [],
  }),
  row({
    syntax: 'max{.relu}.type d, a, b',
    values: { type: ['u16x2', 's16x2', 's32'] },
    since: { ptx: 8, sm: 90 },
    doc: 'The larger, in pairs or not below 0.',
    source: '9.7.1.14',
    status: { refused: 'two integers in one register, and `.relu`' },
    cases: [],
  }),
];

/** Arithmetic with a carry. */
const carryRows: readonly Row[] = [
  row({
    syntax: 'add.cc.type d, a, b',
    values: { type: ['u32', 's32', 'u64', 's64'] },
    since: { ptx: 1.2, sm: 10 },
    doc: 'Adds and keeps the carry.',
    source: '9.7.2.1',
    status: carries,
    cases: [],
  }),
  row({
    syntax: 'sub.cc.type d, a, b',
    values: { type: ['u32', 's32', 'u64', 's64'] },
    since: { ptx: 1.2, sm: 10 },
    doc: 'Subtracts and keeps the borrow.',
    source: '9.7.2.3',
    status: carries,
    cases: [],
  }),
  row({
    syntax: 'mad.half.cc.type d, a, b, c',
    values: { half: ['lo', 'hi'], type: ['u32', 's32', 'u64', 's64'] },
    since: { ptx: 3, sm: 20 },
    doc: 'Multiplies, adds and keeps the carry.',
    source: '9.7.2.5',
    status: carries,
    cases: [],
  }),
];

/** Memory accesses of other kinds. */
const memoryRows: readonly Row[] = [
  row({
    syntax: 'st.param{.func}{.vec}.type [a], b',
    values: { func: ['param::func'], vec: vectors, type: types },
    vectors: { b: 'elements' },
    since: { ptx: 2, sm: 20 },
    doc: 'Hands over an argument of a call.',
    source: '9.7.9.12',
    status: { refused: 'function calls', instead: 'let the CUDA compiler inline the function: `__forceinline__`, or no `-rdc=true`' },
    cases: [],
  }),
  row({
    syntax: 'ld.order{.mmio}{.scope}{.space}{.vec}.type d, [a]',
    values: { order: ['relaxed', 'acquire', 'mmio'], scope: scopes, space: spaces, vec: vectors, type: types },
    vectors: { d: 'elements' },
    since: ordered,
    doc: 'Reads memory with an order.',
    source: '9.7.9.8',
    status: withOrder,
    cases: [],
  }),
  row({
    syntax: 'st.order{.mmio}{.scope}{.space}{.vec}.type [a], b',
    values: { order: ['relaxed', 'release', 'mmio'], scope: scopes, space: spaces, vec: vectors, type: types },
    vectors: { b: 'elements' },
    since: ordered,
    doc: 'Writes memory with an order.',
    source: '9.7.9.12',
    status: withOrder,
    cases: [],
  }),
  row({
    syntax: 'ld{.weak}{.space}{.vec}.type d, [a]',
    values: { space: [...spaces, 'param::func'], vec: vectors, type: types },
    vectors: { d: 'elements' },
    since: { ptx: 7, sm: 70 },
    doc: 'Reads 128 bits at once, eight elements, or memory of the cluster.',
    source: '9.7.9.8',
    status: { refused: 'types of 128 bits, vectors of eight, and memory of other blocks' },
    cases: [],
  }),
  row({
    syntax: 'st{.weak}{.space}{.vec}.type [a], b',
    values: { space: spaces, vec: vectors, type: types },
    vectors: { b: 'elements' },
    since: { ptx: 7, sm: 70 },
    doc: 'Writes 128 bits at once, eight elements, or memory of the cluster.',
    source: '9.7.9.12',
    status: { refused: 'types of 128 bits, vectors of eight, and memory of other blocks' },
    cases: [],
  }),
  row({
    syntax: 'mov.b128 d, a',
    types: { d: 'b128', a: 'b128' },
    since: { ptx: 8.3, sm: 70 },
    doc: 'Copies 128 bits.',
    source: '9.7.9.3',
    status: { refused: 'types of 128 bits' },
    cases: [],
  }),
  row({
    syntax: 'cvta{.to}.shared::cluster.size d, a',
    values: { size: ['u32', 'u64'] },
    types: { d: '.size', a: '.size' },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Addresses of the memory of a cluster.',
    source: '9.7.9.20',
    status: { refused: 'memory of other blocks' },
    cases: [],
  }),
];

/** Conversions between formats that nothing here holds. */
const convertRows: readonly Row[] = [
  row({
    syntax: 'cvt.frnd{.relu}{.satfinite}.dtype.atype d, a{, b}',
    values: {
      frnd: ['rn', 'rz', 'rna', 'rs'],
      dtype: ['f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m1x2', 'e2m3x2', 'e3m2x2', 'ue8m0x2', 'tf32', 'f16', 'bf16'],
      atype: ['f32', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m1x2', 'e2m3x2', 'e3m2x2', 'ue8m0x2'],
    },
    types: { d: 'b32', a: 'b32', b: 'b32' },
    since: { ptx: 7, sm: 80 },
    doc: 'Conversions to packed and small floats.',
    source: '9.7.9.21',
    status: smallFloats,
    cases: [],
  }),
  row({
    syntax: 'cvt{.frnd}{.ftz}{.sat}.dtype.atype d, a',
    values: {
      frnd: ['rn', 'rz', 'rm', 'rp', 'rni', 'rzi', 'rmi', 'rpi'],
      dtype: ['bf16', 'f16', 'f32', 'f64', 'u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64'],
      atype: ['bf16', 'f16', 'f64', 'u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64'],
    },
    types: { d: '.dtype', a: '.atype' },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Other conversions of bfloats.',
    source: '9.7.9.21',
    status: smallFloats,
    cases: [],
  }),
];

/** Barriers for some of the threads, and those that compute. */
const barrierRows: readonly Row[] = [
  row({
    syntax: 'bar.warp.sync a',
    types: { a: 'u32' },
    since: ordered,
    doc: 'Waits for threads of a warp.',
    source: '9.7.13.2',
    status: { refused: 'waiting for a part of a block' },
    cases: [],
  }),
  row({
    syntax: 'bar{.cta}.arrive a, b',
    types: { a: 'u32', b: 'u32' },
    since: { ptx: 2, sm: 20 },
    doc: 'Arrives at a barrier without waiting.',
    source: '9.7.13.1',
    status: { refused: 'waiting for a part of a block' },
    cases: [],
  }),
  row({
    syntax: 'bar{.cta}.red.op.type p, a, b{, c}',
    values: { op: ['and', 'or', 'popc'], type: ['pred', 'u32'] },
    types: { p: '.type', a: 'u32', b: 'pred', c: 'pred' },
    since: { ptx: 2, sm: 20 },
    doc: 'Waits, and reduces a predicate over the block.',
    source: '9.7.13.1',
    status: { refused: 'a reduction over the block' },
    cases: [],
  }),
  row({
    syntax: 'barrier{.cta}.arrive{.aligned} a, b',
    types: { a: 'u32', b: 'u32' },
    since: { ptx: 6, sm: 30 },
    doc: 'Arrives at a barrier without waiting.',
    source: '9.7.13.1',
    status: { refused: 'waiting for a part of a block' },
    cases: [],
  }),
  row({
    syntax: 'barrier{.cta}.red.op{.aligned}.type p, a, b{, c}',
    values: { op: ['and', 'or', 'popc'], type: ['pred', 'u32'] },
    types: { p: '.type', a: 'u32', b: 'pred', c: 'pred' },
    since: { ptx: 6, sm: 30 },
    doc: 'Waits, and reduces a predicate over the block.',
    source: '9.7.13.1',
    status: { refused: 'a reduction over the block' },
    cases: [],
  }),
  row({
    syntax: 'barrier.cluster.what{.order}{.aligned}',
    values: { what: ['arrive', 'wait'], order: ['relaxed', 'acquire', 'release'] },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Waits for the blocks of a cluster.',
    source: '9.7.13.3',
    status: { refused: 'clusters' },
    cases: [],
  }),
];

export const laterRows: readonly Row[] = [...pairRows, ...carryRows, ...memoryRows, ...convertRows, ...barrierRows];
