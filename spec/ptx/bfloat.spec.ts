/** Bfloats computed in single precision are rounded only once: against exact integers. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { convertFloat, floatFormats, floatOfInteger, fmaFloat } from '../../src/base/float-exact.ts';
import { splitMix64 } from '../../src/runtime/index.ts';
import { type Kind, runInstruction } from '../support/one-instruction.ts';
import { areSame } from '../support/same-float.ts';

const test = suite('ptx/bfloat');
const { bf16, f64 } = floatFormats;
const random = splitMix64(5n);
const draw = (below: number): number => Number(random() % BigInt(below));

/** Runs an instruction on rows of operands named a, b and c, and compares each result with the one expected. */
function check(text: string, kinds: readonly Kind[], rows: readonly (readonly bigint[])[], expected: (row: readonly bigint[]) => bigint) {
  const sources = kinds.map((kind, i) => ({ name: 'abc'[i]!, kind }));
  const columns = kinds.map((_, i) => rows.map((row) => row[i]!));
  const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: 'b16' }] }, columns);
  if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
  const wrong = rows.filter((row, i) => !areSame('bf16', expected(row), outcome.results[0]![i]!));
  assert.equal(wrong.slice(0, 3), []);
}

/** Bfloats of an exponent below `exponents`, most of them with all bits of the mantissa. */
const bfloat = (exponents: number): number => draw(2) * 2 ** 15 + draw(exponents) * 2 ** 7 + (draw(4) === 0 ? 0 : draw(2 ** 7));

/** Products around the middle of two bfloats with an addend that decides, subnormal ones, ones that overflow, and any. */
function operands(): readonly bigint[] {
  const near = (): number => (127 - 4 + draw(8)) * 2 ** 7 + draw(2 ** 7);
  const tiny = (60 + draw(8)) * 2 ** 7 + draw(2 ** 7);
  const rows = [
    [near(), near(), bfloat(130)],
    [tiny, tiny - draw(2 ** 10), bfloat(12)],
    [near() + 60 * 2 ** 7, near() + 64 * 2 ** 7, 0x8000 + 0x7f00 + draw(2 ** 7)],
    [bfloat(256), bfloat(256), bfloat(256)],
  ];
  return rows[draw(4)]!.map(BigInt);
}

test('a * b + c', () => {
  const rows = Array.from({ length: 20000 }, operands);
  check('fma.rn.bf16 d, a, b, c', ['b16', 'b16', 'b16'], rows, ([a, b, c]) => fmaFloat(bf16, a!, b!, c!));
});

/** Integers on and beside the middle of two bfloats. */
function integer(bits: number): bigint {
  const shift = BigInt(draw(bits - 10));
  const middle = (256n + BigInt(draw(512))) << shift;
  return BigInt.asUintN(bits, [middle, middle + 1n, middle - 1n, -middle, random()][draw(5)]!);
}

for (const bits of [32, 64] as const)
  test(`an integer of ${bits} bits`, () => {
    const rows = Array.from({ length: 2000 }, () => [integer(bits)]);
    check(`cvt.rn.bf16.u${bits} d, a`, [`b${bits}`], rows, ([a]) => floatOfInteger(bf16, a!));
    check(`cvt.rn.bf16.s${bits} d, a`, [`b${bits}`], rows, ([a]) => floatOfInteger(bf16, BigInt.asIntN(bits, a!)));
  });

test('a double', () => {
  const rows = Array.from({ length: 4000 }, () => {
    const high = BigInt(draw(2) * 2 ** 19 + (1023 - 140 + draw(280)) * 2 ** 8 + draw(2 ** 8)) << 44n;
    return [high + [0n, 1n, -1n, 1n << 43n, random() >> 20n][draw(5)]!];
  });
  check('cvt.rn.bf16.f64 d, a', ['b64'], rows, ([a]) => convertFloat(f64, bf16, a!));
});

test.run();
