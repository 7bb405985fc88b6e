/** Floats of 8 and 6 bits: every one of them as a half, and the nearest of them all to any number. Source: PTX ISA 9.0, 5.2.3. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f32Value } from '../../src/base/float.ts';
import { convertFloat, floatFormats } from '../../src/base/float-exact.ts';
import { splitMix64 } from '../../src/runtime/index.ts';
import { runInstruction } from '../support/one-instruction.ts';

const test = suite('ptx/small-floats');

interface Format {
  readonly name: string;
  readonly exponentBits: number;
  readonly mantissaBits: number;
  readonly bias: number;
  /** Bit patterns without the sign that are no number: infinity and NaNs. */
  readonly isNone: (bits: number) => boolean;
  /** The result for NaN. */
  readonly nan: number;
}

const formats: readonly Format[] = [
  { name: 'e4m3', exponentBits: 4, mantissaBits: 3, bias: 7, isNone: (bits) => bits === 0x7f, nan: 0x7f },
  { name: 'e5m2', exponentBits: 5, mantissaBits: 2, bias: 15, isNone: (bits) => bits >= 0x7c, nan: 0x7f },
  { name: 'e2m3', exponentBits: 2, mantissaBits: 3, bias: 1, isNone: () => false, nan: 0x1f },
  { name: 'e3m2', exponentBits: 3, mantissaBits: 2, bias: 3, isNone: () => false, nan: 0x1f },
];

/** The value of a number by its bits without the sign. */
function numberOf({ mantissaBits, bias }: Format, bits: number): number {
  const [exponent, mantissa] = [bits >> mantissaBits, bits % 2 ** mantissaBits];
  const leading = exponent === 0 ? 0 : 2 ** mantissaBits;
  return (leading + mantissa) * 2 ** (Math.max(exponent, 1) - bias - mantissaBits);
}

const numbersOf = (format: Format): number[] =>
  Array.from({ length: 2 ** (format.exponentBits + format.mantissaBits) }, (_, bits) => bits).filter((bits) => !format.isNone(bits));

/** The bits of the nearest number, the even one of two. */
function nearest(format: Format, numbers: readonly number[], single: number): number {
  const value = f32Value(single);
  if (Number.isNaN(value)) return format.nan;
  const size = Math.min(Math.abs(value), numberOf(format, numbers.at(-1)!));
  const far = (bits: number): number => Math.abs(numberOf(format, bits) - size);
  const best = numbers.reduce((a, b) => (far(b) < far(a) || (far(b) === far(a) && b % 2 === 0) ? b : a));
  const negative = single >= 2 ** 31;
  return best + (negative ? 2 ** (format.exponentBits + format.mantissaBits) : 0);
}

const asBits = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;
const random = splitMix64(8n);

/** Numbers of the format, midpoints, their neighbors, and arbitrary floats. */
function singlesOf(format: Format, numbers: readonly number[]): number[] {
  const values = numbers.map((bits) => numberOf(format, bits));
  const middles = values.slice(1).map((value, i) => (value + values[i]!) / 2);
  const beside = [...values, ...middles].flatMap((value) => [asBits(value), asBits(value) + 1, Math.max(asBits(value) - 1, 0)]);
  const beyond = [values.at(-1)! * 1.04, values.at(-1)! * 2].map(asBits);
  const any = Array.from({ length: 100 }, () => Number(random() % 2n ** 32n));
  const all = [...beside, ...beyond, 0x7f800000, 0x7fc00000, 1, ...any].map((bits) => bits % 2 ** 31);
  return [...all, ...all.map((bits) => bits + 2 ** 31)];
}

for (const format of formats) {
  const numbers = numbersOf(format);

  test(`singles as ${format.name}`, () => {
    const singles = singlesOf(format, numbers);
    const others = [...singles.slice(7), ...singles.slice(0, 7)];
    const sources = ['a', 'b'].map((name) => ({ name, kind: 'b32' as const }));
    for (const relu of ['', '.relu']) {
      const text = `cvt.rn.satfinite${relu}.${format.name}x2.f32 d, a, b`;
      const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: 'b16' }] }, [singles.map(BigInt), others.map(BigInt)]);
      if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
      const isCut = (single: number): boolean => relu !== '' && single >= 2 ** 31 && !Number.isNaN(f32Value(single));
      const one = (single: number): number => (isCut(single) ? 0 : nearest(format, numbers, single));
      const wrong = singles.filter((single, i) => outcome.results[0]![i] !== BigInt(one(single) * 256 + one(others[i]!)));
      assert.equal(wrong.slice(0, 5), []);
    }
  });

  test(`${format.name} as halves`, () => {
    const words = Array.from({ length: 256 }, (_, bits) => (numbers.includes(bits) ? bits * 256 + (255 - bits) : bits));
    const sign = 2 ** (format.exponentBits + format.mantissaBits);
    const text = `cvt.rn.f16x2.${format.name}x2 d, a`;
    const outcome = runInstruction({ text, sources: [{ name: 'a', kind: 'b16' }], results: [{ name: 'd', kind: 'b32' }] }, [
      words.map(BigInt),
    ]);
    if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
    const check = (bits: number, half: bigint): void => {
      const size = bits % sign;
      if (format.isNone(size)) return;
      const single = convertFloat(floatFormats.f16, floatFormats.f32, half);
      const value = numberOf(format, size) * (bits & sign ? -1 : 1);
      assert.ok(Object.is(f32Value(Number(single)), value), `${bits.toString(16)}: ${half.toString(16)}`);
    };
    words.forEach((word, i) => {
      check(word & 0xff, outcome.results[0]![i]! & 0xffffn);
      check(word >> 8, outcome.results[0]![i]! >> 16n);
    });
  });
}

test.run();
