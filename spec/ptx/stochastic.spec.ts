/**
 * Conversions with stochastic rounding against exact arithmetic: a number is rounded away from zero where the bits that do not fit and the random bits
 * have a carry. Source: PTX ISA 9.0, 9.7.9.21.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { splitMix64 } from '../../src/runtime/index.ts';
import { runInstruction } from '../support/one-instruction.ts';

const test = suite('ptx/stochastic');
const random = splitMix64(5n);
const draw = (bits: number): bigint => random() & ((1n << BigInt(bits)) - 1n);

const singleOf = (bits: bigint): number => new Float32Array(Uint32Array.of(Number(bits)).buffer)[0]!;

/** The positive numbers of a format of 16 bits, by their bits: those up to a limit, and infinity. */
const numberOf = (bits: number, mantissa: number, bias: number): number => {
  const [exponent, rest] = [Math.floor(bits / 2 ** mantissa), bits % 2 ** mantissa];
  return (exponent === 0 ? rest : 2 ** mantissa + rest) * 2 ** (Math.max(exponent, 1) - bias - mantissa);
};

interface Format {
  readonly name: string;
  readonly mantissa: number;
  readonly bias: number;
  readonly infinity: number;
  /** Random bits of a number. */
  readonly random: number;
}
const formats: readonly Format[] = [
  { name: 'bf16x2', mantissa: 7, bias: 127, infinity: 0x7f80, random: 16 },
  { name: 'f16x2', mantissa: 10, bias: 15, infinity: 0x7c00, random: 13 },
];

/** The bits of a number: the greatest that is not above it, or the next if the share of the way there and the random share are 1 or more. */
function rounded({ mantissa, bias, infinity, random: bits }: Format, a: bigint, r: bigint, saturates: boolean): number {
  const value = singleOf(a);
  const sign = a >> 31n ? 0x8000 : 0;
  if (Number.isNaN(value)) return 0x7fff;
  const size = Math.abs(value);
  let [low, high] = [0, infinity];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (numberOf(middle, mantissa, bias) <= size) low = middle;
    else high = middle;
  }
  const [from, to] = [numberOf(low, mantissa, bias), numberOf(low + 1, mantissa, bias)];
  // Shares in units of the random bits; what is below one is cut off.
  const share = Math.floor(((size - from) / (to - from)) * 2 ** bits);
  const result = size >= to ? infinity : low + (share + Number(r) >= 2 ** bits ? 1 : 0);
  return sign | (saturates ? Math.min(result, infinity - 1) : result);
}

for (const format of formats)
  for (const words of ['', '.satfinite', '.relu'])
    test(`cvt.rs${words}.${format.name}`, () => {
      const [exponents, from] = format.name === 'f16x2' ? [44, 98] : [254, 0];
      const single = (): bigint => (draw(1) << 31n) | (BigInt(from + Number(draw(16) % BigInt(exponents))) << 23n) | draw(23);
      const edges = [
        0n,
        0x80000000n,
        0x7f800000n,
        0xff800000n,
        0x7fc00001n,
        0x477fe000n,
        0x477fffffn,
        0x47800000n,
        0x3f800000n,
        0x7f7fffffn,
      ];
      const rows = Array.from({ length: 300 }, (_, i) => [edges[i] ?? single(), single(), draw(32)] as const);
      const sources = ['a', 'b', 'r'].map((name) => ({ name, kind: 'b32' as const }));
      const outcome = runInstruction(
        { text: `cvt.rs${words}.${format.name}.f32 d, a, b, r`, sources, results: [{ name: 'd', kind: 'b32' }], architecture: 'sm_100a' },
        [0, 1, 2].map((i) => rows.map((row) => row[i]!)),
      );
      if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
      const half = (r: bigint): bigint => r & ((1n << BigInt(format.random)) - 1n);
      const isCut = (a: bigint): boolean => words === '.relu' && singleOf(a) <= 0;
      const one = (a: bigint, r: bigint): number => rounded(format, isCut(a) ? 0n : a, half(r), words === '.satfinite');
      const wrong = rows.flatMap(([a, b, r], i) => {
        const wanted = one(a, r >> 16n) * 65536 + one(b, r & 0xffffn);
        const found = Number(outcome.results[0]![i]);
        return found === wanted
          ? []
          : [`${a.toString(16)} ${b.toString(16)} ${r.toString(16)}: ${found.toString(16)}, not ${wanted.toString(16)}`];
      });
      assert.equal(wrong.slice(0, 5), []);
    });

test.run();
