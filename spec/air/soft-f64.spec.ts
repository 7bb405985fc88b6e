/**
 * Doubles in integer arithmetic: each expansion on the CPU device against exact BigInt arithmetic with a single rounding, and against
 * JavaScript's doubles where it has the operation. All NaNs are equal; other results are compared bit by bit.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { computedDoubles, emitKernel, raiseModule, targets } from '../../src/air/index.ts';
import { expandedOps } from '../../src/air/legalize/f64/expansions.ts';
import { legalizeF64 } from '../../src/air/legalize/soft-f64.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { f64Bits, f64Value } from '../../src/base/float.ts';
import {
  type Builder,
  bytesOf,
  evalOp,
  fcmpPredicates,
  type InstOf,
  type Kernel,
  operandsOf,
  type PureOp,
  runPasses,
  type ScalarType,
  standardPasses,
  type Value,
} from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOnCpu } from '../support/cpu.ts';
import { assertSound } from '../support/ir-text.ts';
import { oneBlock, pointerParam } from '../support/kernels.ts';

const test = suite('air/soft-f64');

type Row = readonly bigint[];

// ── operands ──

const ones = (bits: number): bigint => (1n << BigInt(bits)) - 1n;
const sign = 1n << 63n;
const bothSigns = (values: readonly bigint[]): bigint[] => values.flatMap((value) => [value, value | sign]);

/** Borders of the format, of integers, of floats and halves, and numbers next to them. */
const edges: readonly bigint[] = bothSigns(
  [
    ...[0, 2 ** -1074, 2 ** -1073, 3 * 2 ** -1074, 2 ** -1022, 2 ** -1021, 2 ** -970, 2 ** -537, 2 ** -511],
    ...[2 ** -150, 2 ** -149, 2 ** -126, 2 ** -133, 2 ** -25, 2 ** -24, 2 ** -14, 2 ** -53, 2 ** -52],
    ...[0.5, 1, 1.5, 2, 2.5, 3, 4, 7, 10, 127.5, 128, 255.5, 256, 32767.5, 65504, 65519.99999999999, 65520, 65535.5],
    ...[2 ** 31 - 0.5, 2 ** 31, 2 ** 32 - 0.5, 2 ** 32, 2 ** 51 + 0.5, 2 ** 52 - 0.5, 2 ** 52 + 1, 2 ** 53, 2 ** 53 + 2],
    ...[2 ** 63 - 1024, 2 ** 63, 2 ** 64 - 2048, 2 ** 64, 2 ** 127, 2 ** 511, 2 ** 512, 2 ** 1023, Number.MAX_VALUE],
    ...[2 ** 128 - 2 ** 103, 2 ** 128 - 2 ** 104, Number.POSITIVE_INFINITY],
  ]
    .map(f64Bits)
    .concat([ones(52), ones(52) - 1n, f64Bits(1) - 1n, f64Bits(1) + 1n, f64Bits(0.5) - 1n, f64Bits(0.5) + 1n, f64Bits(2) - 1n])
    // A quiet NaN and a signalling one.
    .concat([0x7ff8000000000000n, 0x7ff0000000000001n]),
);

interface Draw {
  readonly below: (n: number) => number;
  readonly bits: () => bigint;
  readonly of: <T>(list: readonly T[]) => T;
}

function drawer(seed: bigint): Draw {
  const bits = splitMix64(seed);
  const below = (n: number): number => Number(bits() % BigInt(n));
  return { below, bits, of: (list) => list[below(list.length)]! };
}

/** A double with an exponent near `power`, or any exponent. Few bits at the ends of the significand produce ties. */
function double({ below, bits, of }: Draw, power = below(2047) - 1023): bigint {
  const place = BigInt(below(52));
  const shapes = [0n, 1n, ones(52), 1n << 51n, bits() & ones(52), 1n << place, ones(52) ^ ones(Number(place)), bits() & (ones(26) << 26n)];
  const exponent = BigInt(Math.max(0, Math.min(2046, power + 1023)));
  return (BigInt(below(2)) << 63n) | (exponent << 52n) | of(shapes);
}

/** Rows of doubles for an op: arbitrary ones, and ones whose significands overlap. */
function combined(draw: Draw, arity: number): Row {
  const { below, of } = draw;
  if (below(8) === 0) return Array.from({ length: arity }, () => (below(3) === 0 ? of(edges) : draw.bits()));
  const [a, b] = [below(2047) - 1023, below(2047) - 1023];
  const near = (power: number, by: number): number => power + below(2 * by) - by;
  const [x, y] = of([
    [a, near(a, 3)],
    [a, near(a, 60)],
    // Products and quotients at the borders of the exponents.
    [a, near(-1050 - a, 60)],
    [a, near(1023 - a, 3)],
    [a, near(a - 1023, 3)],
    [a, near(a + 1050, 60)],
    [Math.trunc(a / 3), Math.trunc(b / 3)],
    [Math.trunc(a / 3), Math.trunc(b / 3)],
  ]);
  const [first, second] = [double(draw, x), double(draw, y)];
  // The addend overlaps the product, or cancels all but its lowest places.
  const third =
    below(3) === 0 ? (f64Bits(f64Value(first) * f64Value(second)) ^ sign) + BigInt(below(5) - 2) : double(draw, near(x! + y!, 120));
  return [first, second, BigInt.asUintN(64, third)].slice(0, arity);
}

function rowsOf(arity: number, count: number, seed: bigint): Row[] {
  const draw = drawer(seed);
  const drawn = Array.from({ length: count }, () => combined(draw, arity));
  if (arity === 1) return [...edges.map((a) => [a]), ...drawn];
  if (arity === 2) return [...edges.flatMap((a) => edges.map((b) => [a, b])), ...drawn];
  return [...drawn, ...Array.from({ length: 4000 }, () => [draw.of(edges), draw.of(edges), draw.of(edges)])];
}

// ── one op as a kernel ──

interface Case {
  readonly op: PureOp;
  readonly types: readonly ScalarType[];
  readonly result: ScalarType;
  readonly attrs?: object;
}

const instOf = ({ op, result, attrs }: Case): InstOf<PureOp> => ({ op, type: result, ...attrs }) as unknown as InstOf<PureOp>;
const inMemory = (type: ScalarType): ScalarType => (type === 'i1' ? 'i8' : type);

function emitted(b: Builder, { op, types, result, attrs }: Case, operands: readonly Value[]): Value {
  const emit = (b[op as 'add'] as unknown as (...x: unknown[]) => Value).bind(b);
  const isGiven = op.startsWith('fp') || op.endsWith('tofp');
  assert.is(operands.length, types.length);
  return emit(...(isGiven ? [result] : []), ...operands, ...(attrs ? [attrs] : []));
}

function place(b: Builder, index: number, type: ScalarType): [Value, ScalarType, { align: number; volatile: boolean }] {
  const size = bytesOf(inMemory(type));
  const row = b.zext('i64', b.sreg('i32', { name: 'gid.x' }));
  return [b.ptradd(b.param('ptr.global', { index }), b.mul(row, b.const('i64', size))), inMemory(type), { align: size, volatile: false }];
}

/** Thread i computes row i. */
function kernelOf(c: Case): Kernel {
  const params = [...c.types, c.result].map((type, i) => pointerParam(`p${i}`, i, inMemory(type), 'read_write'));
  return oneBlock('op', params, (b) => {
    const operands = c.types.map((type, i) => {
      const [address, memory, how] = place(b, i, type);
      const loaded = b.load(memory, address, how);
      return type === 'i1' ? b.trunc('i1', loaded) : loaded;
    });
    const value = emitted(b, c, operands);
    const [address, , how] = place(b, c.types.length, c.result);
    b.store(address, c.result === 'i1' ? b.zext('i8', value) : value, how);
  });
}

/** The kernel as AIR without doubles, with its helper functions inlined. */
function softened(given: Kernel): Kernel {
  const diagnostics = new Diagnostics();
  const [raised] = raiseModule(emitKernel(given, targets.macos14, diagnostics), diagnostics);
  assert.equal(diagnostics.list, []);
  const { kernel } = raised!;
  runPasses(kernel, standardPasses);
  assertSound(kernel);
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      assert.not.match(inst.type, /f64/);
      for (const operand of operandsOf(inst)) assert.not.match(kernel.insts[operand]!.type, /f64/);
    }
  return kernel;
}

function packed(type: ScalarType, column: readonly bigint[]): Uint8Array {
  const size = bytesOf(inMemory(type));
  const bytes = new Uint8Array(column.length * size);
  column.forEach((value, i) => {
    for (let at = 0, rest = value; at < size; at++, rest >>= 8n) bytes[i * size + at] = Number(rest & 0xffn);
  });
  return bytes;
}

function unpacked(type: ScalarType, bytes: Uint8Array): bigint[] {
  const size = bytesOf(inMemory(type));
  return Array.from({ length: bytes.length / size }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size).reduceRight((rest, byte) => (rest << 8n) | BigInt(byte), 0n),
  );
}

const nanAbove: Partial<Record<ScalarType, bigint>> = { f16: 0x7c00n, bf16: 0x7f80n, f32: 0x7f800000n, f64: 0x7ffn << 52n };

/** The bits of a NaN become those of the quiet one; the quiet bit itself has to be set. */
function canonical(type: ScalarType, bits: bigint): bigint | string {
  const above = nanAbove[type];
  if (above === undefined) return bits;
  const size = bits & (type === 'f64' ? ones(63) : type === 'f32' ? ones(31) : ones(15));
  if (size <= above) return bits;
  const quiet = type === 'f64' ? 51n : type === 'f32' ? 22n : type === 'f16' ? 9n : 6n;
  return (size >> quiet) & 1n ? 'a quiet NaN' : 'a NaN that signals';
}

const hex = (bits: bigint | string): string => (typeof bits === 'string' ? bits : `0x${bits.toString(16)}`);

const approximate: readonly string[] = ['frcp', 'frsqrt'];

/** Runs every row and compares it with exact arithmetic and with the op's other reference. */
function check(c: Case, rows: readonly Row[], native?: (...x: number[]) => number): void {
  const columns = c.types.map((type, i) =>
    packed(
      type,
      rows.map((row) => row[i]!),
    ),
  );
  const out = new Uint8Array(rows.length * bytesOf(inMemory(c.result)));
  const threads = 256;
  const full = Math.ceil(rows.length / threads) * threads;
  const grown = (bytes: Uint8Array): Uint8Array => {
    const more = new Uint8Array((bytes.length / rows.length) * full);
    more.set(bytes);
    return more;
  };
  const buffers = runOnCpu(softened(kernelOf(c)), [...columns, out].map(grown), { grid: [full / threads, 1, 1], block: [threads, 1, 1] });
  const got = unpacked(c.result, buffers.at(-1)!);
  const wrong: string[] = [];
  rows.forEach((row, i) => {
    const found = canonical(c.result, got[i]!);
    const also = native && canonical(c.result, f64Bits(native(...row.map(f64Value))));
    // The IR does not say what approximations give.
    const wanted = approximate.includes(c.op) ? also! : canonical(c.result, evalOp(instOf(c), row, c.types));
    if (found !== wanted || found !== (also ?? wanted))
      wrong.push(`${c.op} of ${row.map(hex).join(', ')}: ${hex(found)}, not ${hex(wanted)}`);
  });
  assert.equal(wrong.slice(0, 5), [], `${wrong.length} of ${rows.length}`);
}

// ── arithmetic ──

const arithmetic: Partial<Record<PureOp | 'frcp' | 'frsqrt', { arity: number; native?: (...x: number[]) => number }>> = {
  fadd: { arity: 2, native: (a, b) => a! + b! },
  fsub: { arity: 2, native: (a, b) => a! - b! },
  fmul: { arity: 2, native: (a, b) => a! * b! },
  fdiv: { arity: 2, native: (a, b) => a! / b! },
  fsqrt: { arity: 1, native: (a) => Math.sqrt(a!) },
  fma: { arity: 3 },
  frcp: { arity: 1, native: (a) => 1 / a! },
  frsqrt: { arity: 1, native: (a) => 1 / Math.sqrt(a!) },
  fmin: { arity: 2 },
  fmax: { arity: 2 },
  frint: { arity: 1 },
  ftrunc: { arity: 1, native: (a) => Math.trunc(a!) },
  ffloor: { arity: 1, native: (a) => Math.floor(a!) },
  fceil: { arity: 1, native: (a) => Math.ceil(a!) },
};

for (const [op, { arity, native }] of Object.entries(arithmetic))
  test(`${op}, at the edges and by chance`, () => {
    const types = Array.from({ length: arity }, () => 'f64' as const);
    check({ op: op as PureOp, types, result: 'f64' }, rowsOf(arity, 6000, BigInt(arity)), native);
  });

test('fused sums: zeros of both signs, and a last bit that decides far below a tie', () => {
  const few = bothSigns([0, 2 ** -1074, 1, 3, Number.MAX_VALUE, Number.POSITIVE_INFINITY].map(f64Bits));
  const small = few.flatMap((a) => few.flatMap((b) => few.map((c) => [a, b, c])));
  const odd = f64Bits(1 + 2 ** -52);
  // (2^j + 1) 2^-m + 1: bits at two places of any distance, one of them at the middle between two doubles for many.
  const places = Array.from({ length: 110 }, (_, m) =>
    Array.from({ length: 52 }, (_, j) => [f64Bits(1), odd].map((c) => [f64Bits(2 ** (j + 1) + 1), f64Bits(2 ** -m), c])).flat(),
  ).flat();
  // (2^k + 1)(2^2k - 2^k + 1) is 2^3k + 1: a middle and one unit, more bits apart than a word has.
  const cubes = Array.from({ length: 10 }, (_, i) => i + 17).flatMap((k) =>
    [-2, -1, 0, 1, 2, 64, 128].flatMap((by) =>
      [f64Bits(1), odd].map((c) => [f64Bits(2 ** k + 1), f64Bits(2 ** (2 * k) - 2 ** k + 1), c + (BigInt(3 * k + 53 + by) << 52n)]),
    ),
  );
  const types = ['f64', 'f64', 'f64'] as const;
  const rows = [...places, ...cubes];
  check({ op: 'fma', types, result: 'f64' }, [...small, ...rows, ...rows.map(([a, b, c]) => [a! | sign, b!, c!])]);
});

test('integral values: halves on both sides of every power of two', () => {
  const draw = drawer(5n);
  const rows = Array.from({ length: 56 }, (_, power) => power - 2).flatMap((power) =>
    Array.from({ length: 40 }, () => {
      const whole = double(draw, power);
      const units = BigInt(Math.max(0, Math.min(52, 51 - power)));
      // A half, or the number next to one.
      return [(((whole >> units) | 1n) << units) + BigInt(draw.below(3) - 1)];
    }),
  );
  for (const op of ['frint', 'ftrunc', 'ffloor', 'fceil'] as const) check({ op, types: ['f64'], result: 'f64' }, rows);
});

test('quotients and roots that are exact, or next to it', () => {
  const draw = drawer(6n);
  const short = (): number => Number((draw.bits() & ones(26)) | 1n) * 2 ** (draw.below(600) - 300);
  const nudged = (value: number): bigint => f64Bits(value) + BigInt(draw.below(3) - 1);
  const quotients = Array.from({ length: 4000 }, () => {
    const [a, b] = [short(), short()];
    return [nudged(a * b), f64Bits(b)];
  });
  const roots = Array.from({ length: 4000 }, () => [nudged(short() ** 2)]);
  const powers = Array.from({ length: 2046 }, (_, i) => BigInt(i + 1) << 52n);
  check({ op: 'fdiv', types: ['f64', 'f64'], result: 'f64' }, [...quotients, ...powers.map((p) => [draw.bits() & ones(62), p])]);
  check({ op: 'fsqrt', types: ['f64'], result: 'f64' }, [...roots, ...powers.flatMap((p) => [[p], [p + 1n], [p - 1n]])]);
});

test('quotients by divisors at the ends of the range of the estimate', () => {
  const draw = drawer(7n);
  const ends = Array.from({ length: 600 }, (_, i) => (1023n << 52n) | (i % 2 === 0 ? BigInt(i >> 1) : ones(52) - BigInt(i >> 1)));
  const rows = ends.flatMap((d) => ends.filter((_, i) => i % 40 < 2).map((n) => [n, d]));
  const drawn = ends.flatMap((d) => Array.from({ length: 10 }, () => [double(draw, 0), d]));
  check({ op: 'fdiv', types: ['f64', 'f64'], result: 'f64' }, [...rows, ...drawn], (a, b) => a! / b!);
});

for (const pred of fcmpPredicates)
  test(`fcmp ${pred}`, () => {
    const draw = drawer(8n);
    const close = Array.from({ length: 1000 }, () => double(draw)).map((a) => [a, BigInt.asUintN(64, a + BigInt(draw.below(3) - 1))]);
    check({ op: 'fcmp', types: ['f64', 'f64'], result: 'i1', attrs: { pred } }, [...rowsOf(2, 500, 9n), ...close]);
  });

// ── conversions ──

const integers = ['i1', 'i8', 'i16', 'i32', 'i64'] as const;
const widthOf = (type: string): number => Number(type.replace(/\D+/, ''));

test('to integers of every width, with and without a sign', () => {
  const draw = drawer(10n);
  for (const result of integers) {
    const near = [0, 1, widthOf(result) - 1, widthOf(result)].flatMap((power) =>
      Array.from({ length: 60 }, () => {
        const border = f64Bits(draw.of([1, -1]) * (2 ** power + draw.of([-1, -0.5, 0, 0.5, 1])));
        return [BigInt.asUintN(64, border + BigInt(draw.below(5) - 2))];
      }),
    );
    const drawn = Array.from({ length: 2000 }, () => [double(draw, draw.below(80) - 8)]);
    for (const op of ['fptosi', 'fptoui'] as const) check({ op, types: ['f64'], result }, [...rowsOf(1, 500, 11n), ...near, ...drawn]);
  }
});

test('from integers of every width, with and without a sign', () => {
  const draw = drawer(12n);
  for (const type of integers) {
    const width = widthOf(type);
    const powers = Array.from({ length: width }, (_, i) =>
      [-2n, -1n, 0n, 1n, 2n].map((by) => [BigInt.asUintN(width, (1n << BigInt(i)) + by)]),
    ).flat();
    // Ties at 53 bits and numbers next to them.
    const ties = Array.from({ length: 3000 }, () => {
      const places = BigInt(draw.below(11));
      const tie = ((draw.bits() >> (11n - places)) | 1n) << places;
      return [BigInt.asUintN(width, tie + BigInt(draw.below(3) - 1) - (draw.below(2) ? 0n : draw.bits() & ones(Number(places))))];
    });
    for (const op of ['sitofp', 'uitofp'] as const) check({ op, types: [type], result: 'f64' }, [[0n], ...powers, ...ties]);
  }
});

/** Every half and bfloat; of floats the edges and thousands by chance. */
function narrowFloats(type: 'f16' | 'bf16' | 'f32'): Row[] {
  if (type !== 'f32') return Array.from({ length: 65536 }, (_, i) => [BigInt(i)]);
  const { bits, below } = drawer(13n);
  const borders = Array.from({ length: 256 }, (_, e) => [0n, 1n, ones(23), ones(22)].map((m) => [(BigInt(e) << 23n) | m])).flat();
  const subnormal = Array.from({ length: 500 }, () => [bits() & ones(below(24)) & ones(32)]);
  return [
    ...borders,
    ...borders.map(([a]) => [a! | (1n << 31n)]),
    ...subnormal,
    ...Array.from({ length: 2000 }, () => [bits() & ones(32)]),
  ];
}

test('from narrower floats, exactly', () => {
  for (const type of ['f16', 'bf16', 'f32'] as const) check({ op: 'fpext', types: [type], result: 'f64' }, narrowFloats(type));
});

test('to narrower floats, rounded once', () => {
  const draw = drawer(14n);
  const formats = { f16: [-14, 15, 10], bf16: [-126, 127, 7], f32: [-126, 127, 23] } as const;
  for (const [result, [least, most, places]] of Object.entries(formats)) {
    // Around the middle between two neighbours, of normal and of subnormal numbers.
    const ties = Array.from({ length: 6000 }, () => {
      const power = least - places - 3 + draw.below(most - least + places + 6);
      const kept = BigInt(52 - Math.min(places, places - (least - power)));
      const tie =
        kept > 0n && kept <= 52n
          ? (((double(draw, power) >> (kept - 1n)) | 1n) << (kept - 1n)) + BigInt(draw.below(3) - 1)
          : double(draw, power);
      return [BigInt.asUintN(64, tie)];
    });
    check({ op: 'fptrunc', types: ['f64'], result: result as ScalarType }, [...rowsOf(1, 1500, 15n), ...ties]);
  }
});

// ── bits that only move, and the remaining kernel ──

test('signs are changed in the bits, of NaN too', () => {
  const rows = rowsOf(1, 500, 16n);
  for (const [op, wanted] of [
    ['fneg', (a: bigint) => a ^ sign],
    ['fabs', (a: bigint) => a & ones(63)],
  ] as const) {
    const column = packed(
      'f64',
      rows.map(([a]) => a!),
    );
    const out = runOnCpu(softened(kernelOf({ op, types: ['f64'], result: 'f64' })), [column, column], { grid: [rows.length, 1, 1] });
    assert.equal(
      unpacked('f64', out[1]!),
      rows.map(([a]) => wanted(a!)),
    );
  }
});

test('every op that has an expansion is checked here', () => {
  const checked = [...Object.keys(arithmetic), 'fcmp', 'fneg', 'fabs', 'fptosi', 'fptoui', 'sitofp', 'uitofp', 'fpext', 'fptrunc'];
  assert.equal([...expandedOps].sort(), checked.sort());
});

const sizeOf = (kernel: Kernel): number =>
  kernel.blocks.reduce((sum, { body }) => sum + body.filter((value) => kernel.insts[value]!.op !== 'const').length, 0);

test('expansions stay short, and in one block', () => {
  const most: Partial<Record<PureOp, number>> = { fadd: 80, fmul: 90, fma: 220, fdiv: 150, fsqrt: 105 };
  for (const [op, limit] of Object.entries(most)) {
    const { arity } = arithmetic[op as PureOp]!;
    const kernel = softened(kernelOf({ op: op as PureOp, types: Array.from({ length: arity }, () => 'f64' as const), result: 'f64' }));
    assert.is(kernel.blocks.length, 1);
    assert.ok(sizeOf(kernel) <= limit, `${op} has ${sizeOf(kernel)} instructions`);
  }
});

test('arithmetic, comparisons and extremes are calls of one function each', () => {
  const kernel = oneBlock('many', [pointerParam('p', 0, 'f64', 'read_write')], (b) => {
    const at = (byte: number): Value => b.ptradd(b.param('ptr.global', { index: 0 }), b.const('i64', byte));
    const how = { align: 8, volatile: false };
    for (let i = 0; i < 16; i++) {
      const [x, y] = [b.load('f64', at(16 * i), how), b.load('f64', at(16 * i + 8), how)];
      b.store(at(16 * i), b.select(b.fcmp(x, y, { pred: i % 2 === 0 ? 'olt' : 'une' }), b.fadd(x, y), b.fmax(x, y)), how);
    }
  });
  const before = sizeOf(kernel);
  assert.is(legalizeF64(kernel, 'macos14', new Diagnostics()), false);
  assert.is(sizeOf(kernel), before);
  const names = ['fadd', 'fcmp.olt', 'fcmp.une', 'fmax'].map((name) => `cumetal.f64.${name}`);
  assert.equal([...kernel.functions!.keys()].sort(), names);
});

test('a kernel without doubles is left alone', () => {
  const kernel = kernelOf({ op: 'fadd', types: ['f32', 'f32'], result: 'f32' });
  const before = structuredClone(kernel.insts);
  assert.is(legalizeF64(kernel, 'macos14', new Diagnostics()), false);
  assert.equal(kernel.insts, before);
  assert.equal(computedDoubles(kernel), []);
});

test.run();
