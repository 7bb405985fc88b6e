/**
 * Scalar and vector functions of AIR that are only raised: the CPU device follows the Metal Shading Language Specification; expected
 * results are computed here in exact arithmetic.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { airLibrary, airModule, buffer } from '../support/air-text.ts';
import { launchMetallib } from '../support/launch.ts';
import { need } from '../support/need.ts';

const test = suite('air element functions');

const words = [0, 1, 2, 5, 31, 32, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0xdeadbeef];
const threads = 64;
/** Operand `which` of a thread. */
const operand = (thread: number, which: number): number => words[(thread * (which + 1) + which * 5 + (thread >> 3)) % words.length]!;

/**
 * The results of a function of 32-bit integers on each thread's operands; a vector of two has the operands of the thread and of the next
 * one.
 */
function run(name: string, operands: number, fixed: readonly number[], isVector: boolean): Uint32Array {
  const type = isVector ? '<2 x i32>' : 'i32';
  const params = [...Array.from({ length: operands }, () => type), ...fixed.map(() => 'i32')];
  const loads = Array.from({ length: operands }, (_, k) => {
    const one = (lane: number): string => `  %i${k}_${lane} = add i32 %p2, ${k * (threads + 1) + lane}
  %w${k}_${lane} = zext i32 %i${k}_${lane} to i64
  %a${k}_${lane} = getelementptr i32, i32 addrspace(1)* %p1, i64 %w${k}_${lane}
  %v${k}_${lane} = load i32, i32 addrspace(1)* %a${k}_${lane}, align 4`;
    if (!isVector) return `${one(0)}\n  %x${k} = add i32 %v${k}_0, 0`;
    return `${one(0)}\n${one(1)}\n  %h${k} = insertelement <2 x i32> undef, i32 %v${k}_0, i64 0\n  %x${k} = insertelement <2 x i32> %h${k}, i32 %v${k}_1, i64 1`;
  });
  const args = [...Array.from({ length: operands }, (_, k) => `${type} %x${k}`), ...fixed.map((n) => `i32 ${n}`)].join(', ');
  const store = (value: string, lane: number): string => `  %o${lane} = mul i32 %p2, 2
  %q${lane} = add i32 %o${lane}, ${lane}
  %z${lane} = zext i32 %q${lane} to i64
  %t${lane} = getelementptr i32, i32 addrspace(1)* %p0, i64 %z${lane}
  store i32 ${value}, i32 addrspace(1)* %t${lane}, align 4`;
  const stores = isVector
    ? `  %r0 = extractelement <2 x i32> %r, i64 0\n  %r1 = extractelement <2 x i32> %r, i64 1\n${store('%r0', 0)}\n${store('%r1', 1)}`
    : store('%r', 0);
  const body = `${loads.join('\n')}\n  %r = call ${type} @${name}(${args})\n${stores}`;
  const text = airModule(
    [buffer, buffer, { type: 'i32', kind: 'air.thread_position_in_grid' }],
    body,
    `declare ${type} @${name}(${params.join(', ')})`,
  );
  const given = Uint32Array.from({ length: operands * (threads + 1) }, (_, i) => operand(i % (threads + 1), Math.floor(i / (threads + 1))));
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads, args: [new Uint32Array(2 * threads), given] });
  return new Uint32Array(after!.slice().buffer);
}

const s = (x: number): bigint => BigInt.asIntN(32, BigInt(x));
const u = (x: number): bigint => BigInt(x);
const word = (x: bigint): number => Number(BigInt.asUintN(32, x));
const sorted = (...all: bigint[]): bigint[] => all.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

const bounded = (x: bigint, isSigned: boolean): bigint => {
  const [least, most] = isSigned ? [-(2n ** 31n), 2n ** 31n - 1n] : [0n, 2n ** 32n - 1n];
  return x < least ? least : x > most ? most : x;
};

type Row = readonly [name: string, operands: number, fixed: readonly number[], expected: (...args: number[]) => number];

/** Both signs of a function. */
const both = (name: string, operands: number, of: (...args: bigint[]) => bigint): Row[] => [
  [`${name}.s`, operands, [], (...args) => word(of(...args.map(s)))],
  [`${name}.u`, operands, [], (...args) => word(of(...args.map(u)))],
];

/** The bits of a word as a string of digits, the highest first. */
const digits = (x: number): string => x.toString(2).padStart(32, '0');
const extracted = (x: number, from: number, count: number): string => digits(x).slice(32 - from - count, 32 - from);

const rows: readonly Row[] = [
  ...both('abs', 1, (x) => (x! < 0n ? -x! : x!)),
  ...both('abs_diff', 2, (x, y) => (x! > y! ? x! - y! : y! - x!)),
  ...both('clamp', 3, (x, low, high) => sorted(sorted(x!, low!)[1]!, high!)[0]!),
  ...both('min3', 3, (x, y, z) => sorted(x!, y!, z!)[0]!),
  ...both('max3', 3, (x, y, z) => sorted(x!, y!, z!)[2]!),
  ...both('median3', 3, (x, y, z) => sorted(x!, y!, z!)[1]!),
  ...both('mad_hi', 3, (x, y, z) => ((x! * y!) >> 32n) + z!),
  ...both('hadd', 2, (x, y) => (x! + y!) >> 1n),
  ...both('rhadd', 2, (x, y) => (x! + y! + 1n) >> 1n),
  ['add_sat.s', 2, [], (x, y) => word(bounded(s(x!) + s(y!), true))],
  ['add_sat.u', 2, [], (x, y) => word(bounded(u(x!) + u(y!), false))],
  ['sub_sat.s', 2, [], (x, y) => word(bounded(s(x!) - s(y!), true))],
  ['sub_sat.u', 2, [], (x, y) => word(bounded(u(x!) - u(y!), false))],
  ['mad_sat.s', 3, [], (x, y, z) => word(bounded(s(x!) * s(y!) + s(z!), true))],
  ['mad_sat.u', 3, [], (x, y, z) => word(bounded(u(x!) * u(y!) + u(z!), false))],
  ['bswap', 1, [], (x) => Number.parseInt(x!.toString(16).padStart(8, '0').match(/../g)!.reverse().join(''), 16)],
  ['rotate', 2, [], (x, n) => Number.parseInt(digits(x!).slice(n! % 32) + digits(x!).slice(0, n! % 32), 2)],
  ...(
    [
      [0, 0],
      [0, 32],
      [3, 7],
      [31, 1],
      [16, 16],
      [5, 0],
    ] as const
  ).flatMap(([from, count]): Row[] => [
    ['extract_bits.u', 1, [from, count], (x) => Number.parseInt(extracted(x!, from, count) || '0', 2)],
    [
      'extract_bits.s',
      1,
      [from, count],
      (x) => {
        const part = extracted(x!, from, count);
        return part === '' ? 0 : Number.parseInt(part.padStart(32, part[0]), 2);
      },
    ],
    ...['insert_bits', 'insert_bits.u'].map(
      (name): Row => [
        name,
        2,
        [from, count],
        (x, y) => Number.parseInt(digits(x!).slice(0, 32 - from - count) + extracted(y!, 0, count) + digits(x!).slice(32 - from), 2),
      ],
    ),
  ]),
  // Of the table, and so on vectors alone here.
  ...both('mul_hi', 2, (x, y) => (x! * y!) >> 32n),
  ['popcount', 1, [], (x) => digits(x!).replaceAll('0', '').length],
];

for (const [name, operands, fixed, expected] of rows)
  for (const isVector of [false, true])
    need(
      test,
      ['llvm-as-14'],
      `air.${name} of ${isVector ? 'two words' : 'a word'}${fixed.length > 0 ? `, ${fixed.join(', ')}` : ''}`,
      () => {
        const found = run(`air.${name}.${isVector ? 'v2' : ''}i32`, operands, fixed, isVector);
        for (let thread = 0; thread < threads; thread++)
          for (const lane of isVector ? [0, 1] : [0]) {
            const args = Array.from({ length: operands }, (_, k) => operand(thread + lane, k));
            assert.is(found[2 * thread + lane], expected(...args), `of ${args.map((x) => x.toString(16))}`);
          }
      },
    );

need(test, ['llvm-as-14'], 'floats: clamp and saturate, of vectors and with NaN', () => {
  const body = `  %wide = zext i32 %p1 to i64
  %base = bitcast i32 addrspace(1)* %p0 to <4 x float> addrspace(1)*
  %at = getelementptr <4 x float>, <4 x float> addrspace(1)* %base, i64 %wide
  %x = load <4 x float>, <4 x float> addrspace(1)* %at, align 16
  %one = call <4 x float> @air.fast_saturate.v4f32(<4 x float> %x)
  %two = call <4 x float> @air.clamp.v4f32(<4 x float> %one, <4 x float> <float 0.25, float 0.25, float 0.25, float 0.25>, <4 x float> <float 0.75, float 0.75, float 0.75, float 0.75>)
  store <4 x float> %two, <4 x float> addrspace(1)* %at, align 16`;
  const text = airModule(
    [buffer, { type: 'i32', kind: 'air.thread_position_in_grid' }],
    body,
    'declare <4 x float> @air.fast_saturate.v4f32(<4 x float>)\ndeclare <4 x float> @air.clamp.v4f32(<4 x float>, <4 x float>, <4 x float>)',
  );
  const given = Float32Array.of(-1, 0.1, 0.5, 2, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.7);
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 2, args: [given] });
  assert.equal(new Float32Array(after!.slice().buffer), Float32Array.of(0.25, 0.25, 0.5, 0.75, 0.25, 0.75, 0.25, Math.fround(0.7)));
});

test.run();
