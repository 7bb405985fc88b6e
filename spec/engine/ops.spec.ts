/** Every pure op on every legal type: the CPU device gives the result of `evalOp`, on edge values and random ones. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  argsOf,
  type Builder,
  bitsOf,
  bytesOf,
  elementOf,
  evalOp,
  evaluableOps,
  fcmpPredicates,
  type Inst,
  icmpPredicates,
  isEvaluableInst,
  isFloat,
  isInt,
  isNan,
  isVector,
  lanesOf,
  ops,
  type PureOp,
  type ScalarType,
  scalarTypes,
  type Type,
  type Value,
  vectorOf,
} from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOnCpu } from '../support/cpu.ts';
import { assertSound } from '../support/ir-text.ts';
import { oneBlock, pointerParam } from '../support/kernels.ts';

const test = suite('engine/ops');

// ── operands ──

const floatEdges = {
  f16: [
    0x0000, 0x0001, 0x0002, 0x03ff, 0x0400, 0x1000, 0x1400, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x4100, 0x57ff, 0x7bff, 0x7c00, 0x7e00,
  ],
  bf16: [
    0x0000, 0x0001, 0x0002, 0x007f, 0x0080, 0x2000, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x4020, 0x4f00, 0x5f00, 0x7f7f, 0x7f80, 0x7fc0,
  ],
  f32: [
    0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x33800000, 0x3effffff, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001,
    0x3fc00000, 0x40200000, 0x4affffff, 0x4b000001, 0x4f000000, 0x4f7fffff, 0x5f000000, 0x5f7fffff, 0x7f7fffff, 0x7f800000, 0x7fc00000,
  ],
  f64: [
    0x0000000000000000n,
    0x0000000000000001n,
    0x000fffffffffffffn,
    0x0010000000000000n,
    0x3690000000000001n,
    0x36a0000000000000n,
    0x3810000000000000n,
    0x3ca0000000000000n,
    0x3e70000000000000n,
    0x3fdfffffffffffffn,
    0x3fe0000000000000n,
    0x3fefffffffffffffn,
    0x3ff0000000000000n,
    0x3ff0000000000001n,
    0x3ff0000010000000n,
    0x3ff0000030000000n,
    0x3ff8000000000000n,
    0x4004000000000000n,
    0x40effdffffffffffn,
    0x40effe0000000000n,
    0x41dfffffffc00000n,
    0x41e0000000000000n,
    0x41efffffffffffffn,
    0x432fffffffffffffn,
    0x4330000000000001n,
    0x43e0000000000000n,
    0x43efffffffffffffn,
    0x47efffffefffffffn,
    0x47effffff0000000n,
    0x7fefffffffffffffn,
    0x7ff0000000000000n,
    0x7ff8000000000000n,
  ],
} as const;

/** Both signs of every float; for integers the limits of every width and small numbers. */
function edgesOf(type: Type): bigint[] {
  if (type === 'i1') return [0n, 1n];
  const n = bitsOf(type);
  const bits = BigInt(n);
  if (isFloat(type)) {
    const positive = floatEdges[type as keyof typeof floatEdges].map(BigInt);
    return [...positive, ...positive.map((value) => value | (1n << (bits - 1n)))];
  }
  const values = new Set<bigint>([0n, 1n, 2n, 3n, 7n, bits - 1n, bits, bits + 1n]);
  for (const width of [1, 7, 8, 15, 16, 31, 32, 63, 64])
    if (width <= n) for (const d of [-1n, 0n, 1n]) values.add(BigInt.asUintN(n, (1n << BigInt(width)) + d));
  for (const value of [-1n, -2n, -7n, 0x55555555_55555555n, 1n << (bits - 1n)]) values.add(BigInt.asUintN(n, value));
  return [...values];
}

const wide = (random: () => bigint, type: Type): bigint => {
  let value = 0n;
  for (let have = 0; have < bitsOf(type); have += 64) value = (value << 64n) | random();
  return BigInt.asUintN(bitsOf(type), value);
};

type Row = readonly bigint[];

/** All combinations of edge values, or a random sample where there are too many; then random rows. */
function rowsFor(types: readonly Type[], seed: bigint): Row[] {
  const random = splitMix64(seed);
  const edges = types.map((type) => (isVector(type) ? [0n, wide(random, type)] : edgesOf(type)));
  const count = edges.reduce((n, each) => n * each.length, 1);
  const one = (each: readonly bigint[]): bigint => each[Number(random() % BigInt(each.length))]!;
  const combined = Array.from({ length: Math.min(count, 1200) }, (_, i): Row => {
    if (count > 1200) return edges.map(one);
    let rest = i;
    return edges.map((each) => {
      const value = each[rest % each.length]!;
      rest = Math.floor(rest / each.length);
      return value;
    });
  });
  return [...combined, ...Array.from({ length: 50 }, () => types.map((type) => wide(random, type)))];
}

// ── one op as a kernel ──

interface Case {
  readonly op: PureOp;
  readonly types: readonly Type[];
  readonly result: Type;
  readonly attrs?: object;
}

const nameOf = ({ op, types, result, attrs }: Case): string => `${op} ${types.join(' ')} -> ${result} ${JSON.stringify(attrs ?? {})}`;
const isGiven = (op: PureOp): boolean => (ops[op].type as string) === 'given';

/** The type in memory: a byte for an i1, the address for a pointer. */
const inMemory = (type: Type): Type => (type === 'i1' ? 'i8' : type.startsWith('ptr.') ? 'i64' : type);
const alignOf = (type: Type): { align: number; volatile: boolean } => ({ align: Math.max(1, bytesOf(elementOf(type))), volatile: false });

function emitCase(b: Builder, { op, types, result, attrs }: Case, operand: (type: Type, i: number) => Value): Value {
  const emit = (b[op as 'add'] as unknown as (...x: unknown[]) => Value).bind(b);
  return emit(...(isGiven(op) ? [result] : []), ...types.map(operand), ...(attrs ? [attrs] : []));
}

function at(b: Builder, index: number, type: Type, row: Value): Value {
  return b.ptradd(b.param('ptr.global', { index }), b.mul(row, b.const('i64', bytesOf(type))));
}

function loadOperand(b: Builder, type: Type, index: number, row: Value): Value {
  const memory = inMemory(type);
  const loaded = b.load(memory, at(b, index, memory, row), alignOf(memory));
  if (type === 'i1') return b.trunc('i1', loaded);
  return memory === type ? loaded : b.inttoptr(type, loaded);
}

function storeResult(b: Builder, type: Type, index: number, row: Value, value: Value): void {
  const memory = inMemory(type);
  const whole = type === 'i1' ? b.zext('i8', value) : memory === type ? value : b.ptrtoint('i64', value);
  b.store(at(b, index, memory, row), whole, alignOf(memory));
}

function pack(type: Type, values: readonly bigint[]): Uint8Array {
  const size = bytesOf(inMemory(type));
  const bytes = new Uint8Array(values.length * size);
  values.forEach((value, i) => {
    for (let byte = 0, rest = value; byte < size; byte++, rest >>= 8n) bytes[i * size + byte] = Number(rest & 0xffn);
  });
  return bytes;
}

function unpack(type: Type, bytes: Uint8Array): bigint[] {
  const size = bytesOf(inMemory(type));
  return Array.from({ length: bytes.length / size }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size).reduceRight((rest, byte) => (rest << 8n) | BigInt(byte), 0n),
  );
}

const instOf = ({ op, result, attrs }: Case): Inst => ({ op, type: result, ...attrs }) as unknown as Inst;

function expected(c: Case, row: Row): bigint {
  const inst = instOf(c);
  assert.ok(isEvaluableInst(inst));
  return evalOp(inst as never, row, c.types);
}

/** NaNs are equal, except for the ops whose NaN bits are specified. */
function isSame(c: Case, got: bigint, want: bigint): boolean {
  if (got === want) return true;
  return /^f/.test(c.op) && c.op !== 'fneg' && c.op !== 'fabs' && isNan(c.result, want) && isNan(c.result, got);
}

function assertRows(c: Case, rows: readonly Row[], got: readonly bigint[]): void {
  assert.is(got.length, rows.length);
  rows.forEach((row, i) => {
    const want = expected(c, row);
    const hex = (bits: bigint): string => `0x${bits.toString(16)}`;
    if (!isSame(c, got[i]!, want)) assert.unreachable(`${nameOf(c)} of ${row.map(hex).join(', ')} is ${hex(got[i]!)}, not ${hex(want)}`);
  });
}

/** Operands from memory: one thread for each row, in blocks of one thread and in blocks that are vectorized. */
function checkFromMemory(c: Case, rows: readonly Row[]): void {
  checkInBlocks(c, rows, 1);
  const more = (vectorizedThreads - (rows.length % vectorizedThreads)) % vectorizedThreads;
  checkInBlocks(c, [...rows, ...Array.from({ length: more }, (_, i) => rows[(i * 7) % rows.length]!)], vectorizedThreads);
}

const vectorizedThreads = 64;

function checkInBlocks(c: Case, rows: readonly Row[], threads: number): void {
  const params = [...c.types, c.result].map((_, i) => pointerParam(`p${i}`, i, undefined, 'read_write'));
  const kernel = oneBlock('op', params, (b) => {
    const row = b.zext('i64', b.sreg('i32', { name: 'gid.x' }));
    const value = emitCase(b, c, (type, i) => loadOperand(b, type, i, row));
    storeResult(b, c.result, c.types.length, row, value);
  });
  assertSound(kernel);
  const columns = c.types.map((type, i) =>
    pack(
      type,
      rows.map((row) => row[i]!),
    ),
  );
  const out = new Uint8Array(rows.length * bytesOf(inMemory(c.result)));
  const buffers = runOnCpu(kernel, [...columns, out], { grid: [rows.length / threads, 1, 1], block: [threads, 1, 1] });
  assertRows(c, rows, unpack(c.result, buffers.at(-1)!));
}

/** A constant second operand, for which back-ends have special cases. */
function checkConstants(c: Case): void {
  const [first, second] = c.types.map(edgesOf) as [bigint[], bigint[]];
  const kernel = oneBlock('op', [pointerParam('in', 0, undefined, 'read'), pointerParam('out', 1, undefined, 'write')], (b) => {
    const gid = b.zext('i64', b.sreg('i32', { name: 'gid.x' }));
    const x = loadOperand(b, c.types[0]!, 0, gid);
    second.forEach((bits, i) => {
      const value = emitCase(b, c, (type, operand) => (operand === 0 ? x : b.const(type, bits)));
      storeResult(b, c.result, 1, b.add(gid, b.const('i64', i * first.length)), value);
    });
  });
  const rows = second.flatMap((b) => first.map((a): Row => [a, b]));
  const out = new Uint8Array(rows.length * bytesOf(inMemory(c.result)));
  const buffers = runOnCpu(kernel, [pack(c.types[0]!, first), out], { grid: [first.length, 1, 1] });
  assertRows(c, rows, unpack(c.result, buffers.at(-1)!));
}

// ── which types an op takes ──

const ints = scalarTypes.filter(isInt);
const floats = scalarTypes.filter(isFloat);
const pairs = <A extends Type, B extends Type>(from: readonly A[], to: readonly B[], fits: (a: A, b: B) => boolean): [A, B][] =>
  from.flatMap((a) => to.filter((b) => fits(a, b)).map((b): [A, B] => [a, b]));
const any = (): boolean => true;
const wider = (a: Type, b: Type): boolean => bitsOf(b) > bitsOf(a);
const narrower = (a: Type, b: Type): boolean => bitsOf(b) < bitsOf(a);
const stored = scalarTypes.filter((type) => type !== 'i1');
const vectors = stored.flatMap((type) => [vectorOf(type, 2), vectorOf(type, 4)]);

const conversions: Partial<Record<PureOp, [Type, Type][]>> = {
  trunc: pairs(ints, ints, narrower),
  zext: pairs(ints, ints, wider),
  sext: pairs(ints, ints, wider),
  bitcast: pairs(scalarTypes, scalarTypes, (a, b) => bitsOf(a) === bitsOf(b)),
  fptosi: pairs(floats, ints, any),
  fptoui: pairs(floats, ints, any),
  sitofp: pairs(ints, floats, any),
  uitofp: pairs(ints, floats, any),
  fpext: pairs(floats, floats, wider),
  fptrunc: pairs(floats, floats, narrower),
  ptrtoint: [['ptr.global', 'i64']],
  inttoptr: [['i64', 'ptr.global']],
};

function casesOf(op: PureOp): Case[] {
  const converted = conversions[op];
  if (converted) return converted.map(([from, to]) => ({ op, types: [from], result: to }));
  const special: Partial<Record<PureOp, () => Case[]>> = {
    icmp: () => ints.flatMap((type) => icmpPredicates.map((pred): Case => ({ op, types: [type, type], result: 'i1', attrs: { pred } }))),
    fcmp: () => floats.flatMap((type) => fcmpPredicates.map((pred): Case => ({ op, types: [type, type], result: 'i1', attrs: { pred } }))),
    select: () => [...scalarTypes, ...vectors, 'ptr.global' as Type].map((type) => ({ op, types: ['i1', type, type], result: type })),
    vec2: () => stored.map((type) => ({ op, types: [type, type], result: vectorOf(type, 2) })),
    vec4: () => stored.map((type) => ({ op, types: [type, type, type, type], result: vectorOf(type, 4) })),
    extract: () =>
      vectors.flatMap((type) =>
        Array.from({ length: lanesOf(type) }, (_, lane): Case => ({ op, types: [type], result: elementOf(type), attrs: { lane } })),
      ),
    ptradd: () => [{ op, types: ['ptr.global', 'i64'], result: 'ptr.global' }],
    const: () => [],
  };
  const own = special[op];
  if (own) return own();
  const { a } = ops[op].args as Record<string, string>;
  const domain: readonly ScalarType[] = a === 'f32' ? [a] : a === 'float' ? floats : ints;
  return domain.map((type) => ({ op, types: argsOf(op).map(() => type), result: type }));
}

for (const op of evaluableOps) {
  const cases = casesOf(op);
  if (op === 'const') continue;
  test(`${op} on ${cases.length} types`, () => {
    assert.ok(cases.length > 0);
    cases.forEach((c, i) => void checkFromMemory(c, rowsFor(c.types, BigInt(i))));
  });
  if (argsOf(op).join() === 'a,b' && !op.startsWith('vec') && op !== 'ptradd')
    test(`${op} with a constant operand`, () => {
      for (const c of cases) checkConstants(c);
    });
}

test('constants of every type keep their bits', () => {
  for (const type of scalarTypes) {
    const values = edgesOf(type);
    const kernel = oneBlock('op', [pointerParam('out', 0, undefined, 'write')], (b) =>
      values.forEach((bits, i) => void storeResult(b, type, 0, b.const('i64', i), b.const(type, bits))),
    );
    const [out] = runOnCpu(kernel, [new Uint8Array(values.length * bytesOf(inMemory(type)))]);
    assert.equal(unpack(type, out!), values, type);
  }
});

// ── fused multiply-add whose result differs with two roundings ──

/** Operands whose exact sum is near the midpoint of two floats, so that its rounding depends on all bits of the product. */
function fmaRows(type: ScalarType, mantissa: number, exponent: number, count: number): Row[] {
  const random = splitMix64(BigInt(mantissa));
  const below = (n: number): bigint => random() % BigInt(n);
  const bias = 2 ** (exponent - 1) - 1;
  const floatNear = (power: number): bigint => {
    const limited = BigInt(Math.max(0, Math.min(2 * bias, power + bias)));
    // Significands with few bits set make ties and near-ties.
    const shapes = [
      0n,
      1n,
      (1n << BigInt(mantissa)) - 1n,
      1n << BigInt(mantissa - 1),
      random() % (1n << BigInt(mantissa)),
      1n << below(mantissa),
    ];
    const significand = shapes[Number(below(shapes.length))]!;
    return (below(2) << BigInt(mantissa + exponent)) | (limited << BigInt(mantissa)) | significand;
  };
  return Array.from({ length: count }, (_, i): Row => {
    const [a, b] = [Number(below(2 * bias)) - bias, Number(below(2 * bias)) - bias];
    const power = i % 4 === 0 ? a : Math.trunc(a / 3);
    const other = i % 4 === 0 ? Math.max(-bias, -bias - a + Number(below(8))) : Math.trunc(b / 3);
    const distance = Number(below(3 * mantissa + 8)) - mantissa - 4;
    assert.ok(bitsOf(type) === 1 + mantissa + exponent);
    return [floatNear(power), floatNear(other), floatNear(power + other - distance)];
  });
}

for (const [type, mantissa, exponent, count] of [
  ['f16', 10, 5, 4000],
  ['bf16', 7, 8, 4000],
  ['f32', 23, 8, 12000],
  ['f64', 52, 11, 2000],
] as const)
  test(`fma ${type} rounds once`, () => {
    checkFromMemory({ op: 'fma', types: [type, type, type], result: type }, fmaRows(type, mantissa, exponent, count));
  });

test('fma rounds once, by hand', () => {
  // (1 + 2^-23)(1 - 2^-24) + 2^-60: the exact product 1 + 2^-24 - 2^-47 is below the midpoint of 1 and the next float.
  const one = 0x3f800000n;
  const rows: [bigint, bigint, bigint, bigint][] = [
    [one + 1n, 0x3f7fffffn, 0x21800000n, one],
    // 2^12 + 1 squared is 2^24 + 2^13 + 1, the midpoint of two floats; an addend of 2^-100 decides.
    [0x45800800n, 0x45800800n, 0x0d800000n, 0x4b801001n],
    [0x45800800n, 0x45800800n, 0x8d800000n, 0x4b801000n],
    [0x45800800n, 0x45800800n, 0n, 0x4b801000n],
    // Half of the smallest float: a tie to even, with and without an odd addend; a little more than half rounds up.
    [1n, 0x3f000000n, 0n, 0n],
    [1n, 0x3f000000n, 1n, 2n],
    [1n, 0x3f000001n, 0n, 1n],
    // The largest float doubled minus itself is finite.
    [0x7f7fffffn, 0x40000000n, 0xff7fffffn, 0x7f7fffffn],
    // inf * 0 + 1 is a NaN.
    [0x7f800000n, 0n, one, 0x7fc00000n],
  ];
  const c: Case = { op: 'fma', types: ['f32', 'f32', 'f32'], result: 'f32' };
  for (const [a, b, add, result] of rows) assert.is(expected(c, [a, b, add]), result, 'the expectation itself');
  checkFromMemory(
    c,
    rows.map(([a, b, add]) => [a, b, add]),
  );
});

test.run();
