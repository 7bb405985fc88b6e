/**
 * Directed rounding of single precision against exact integers: the result is the bound of the exact value among the floats. Operands are
 * drawn where results cancel, overflow, are subnormal, or lie as far apart as floats can.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { floatFormats, unpackFloat } from '../../src/base/float-exact.ts';
import { splitMix64 } from '../../src/runtime/index.ts';
import { runInstruction } from '../support/one-instruction.ts';

const test = suite('ptx/rounding');
const count = 4000;
/** Values are counted in units of 2^-298, the least product. */
const unit = 298;

/** A finite float in units; infinities count as what comes after the largest. */
function inUnits(bits: number): bigint {
  const size = bits & 0x7fffffff;
  const value = unpackFloat(floatFormats.f32, BigInt(size));
  const magnitude = value.kind === 'finite' ? value.mantissa << BigInt(value.exponent + unit) : 1n << BigInt(128 + unit);
  return bits < 0 || bits >= 2 ** 31 ? -magnitude : magnitude;
}

const random = splitMix64(11n);
const draw = (below: number): number => Number(random() % BigInt(below));

/** A finite float: any, near 1, near the least, near the largest, or with few bits. */
function operand(): number {
  const exponents = [draw(255), 121 + draw(12), draw(40), 215 + draw(40)];
  const mantissa = draw(4) === 0 ? draw(8) * 2 ** 20 : draw(2 ** 23);
  return draw(2) * 2 ** 31 + exponents[draw(4)]! * 2 ** 23 + mantissa;
}

const asBits = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;
const asFloat = (bits: number): number => new Float32Array(Uint32Array.of(bits).buffer)[0]!;

/** Nearly what cancels a product, where that is finite. */
function against(a: number, b: number): number {
  const product = asBits(-asFloat(a) * asFloat(b));
  return (product & 0x7fffffff) < 0x7f7ffff0 ? product + draw(5) : operand();
}

const rows = Array.from({ length: count }, () => {
  const [a, b] = [operand(), operand()];
  return [a, b, draw(3) === 0 ? against(a, b) : operand()] as const;
});

/** The float after one in the direction of its magnitude, and before it, in units. */
const outer = (bits: number): bigint => inUnits(bits + 1);

/** What is exact, in units times a divisor, and that divisor. */
type Exact = (a: bigint, b: bigint, c: bigint) => { readonly value: bigint; readonly divisor: bigint };
const whole = (value: bigint) => ({ value, divisor: 1n });
const forms: readonly (readonly [string, string, Exact])[] = [
  ['add', 'a, b', (a, b) => whole(a + b)],
  ['sub', 'a, b', (a, b) => whole(a - b)],
  ['mul', 'a, b', (a, b) => whole((a * b) >> BigInt(unit))],
  ['fma', 'a, b, c', (a, b, c) => whole(((a * b) >> BigInt(unit)) + c)],
  ['div', 'a, b', (a, b) => ({ value: (b < 0n ? -a : a) << BigInt(unit), divisor: b < 0n ? -b : b })],
];

/** What is too large for a float lies between the largest and infinity. */
function limited(value: bigint, divisor: bigint): bigint {
  const most = (1n << BigInt(128 + unit)) * divisor - 1n;
  return value > most ? most : value < -most ? -most : value;
}

/** Whether a float is the exact value, or the nearest in the direction. */
function isBound(rounding: string, bits: number, exact: ReturnType<Exact>): boolean {
  const { divisor } = exact;
  const value = limited(exact.value, divisor);
  const result = inUnits(bits) * divisor;
  if (result === value) return true;
  // Past zero is the least float of the other sign.
  const isDown = rounding === 'rm' || (rounding === 'rz' && value > 0n);
  const negative = bits >= 2 ** 31;
  const size = bits % 2 ** 31;
  const away = isDown !== negative ? outer(bits) : size === 0 ? inUnits(isDown ? 1 : 2 ** 31 + 1) : inUnits(bits - 1);
  return isDown ? result < value && value < away * divisor : result > value && value > away * divisor;
}

for (const [name, operands, exact] of forms)
  for (const rounding of ['rz', 'rm', 'rp'])
    test(`${name}.${rounding}.f32 gives the bound of the exact value`, () => {
      const names = operands.split(', ');
      const sources = names.map((each) => ({ name: each, kind: 'b32' as const }));
      const columns = names.map((_, i) => rows.map((row) => BigInt(row[i]!)));
      const text = `${name}.${rounding}.f32 d, ${operands}`;
      const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: 'b32' }] }, columns);
      if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
      const wrong = rows.filter(([a, b, c], i) => {
        if (name === 'div' && inUnits(b) === 0n) return false;
        const got = Number(outcome.results[0]![i]!);
        return !isBound(rounding, got, exact(inUnits(a), inUnits(b), inUnits(c)));
      });
      assert.equal(wrong.slice(0, 3), []);
      assert.is(outcome.target, 'macos14');
    });

test('an instruction of several blocks keeps the register where its guard fails, in a loop too', () => {
  const text = `.reg .b32 left; mov.b32 left, 3; mov.b32 d, a;
    again: setp.gt.u32 set, left, 1; @set fma.rz.f32 d, d, b, c; sub.u32 left, left, 1; setp.ne.u32 set, left, 0; @set bra again`;
  const sources = ['a', 'b', 'c'].map((name) => ({ name, kind: 'b32' as const }));
  // Twice: 1 * 3 + 1 and 4 * 3 + 1; 2^127 * 3 stays at the largest float, and so does its product with 3.
  const columns = [
    [1, 2 ** 127],
    [3, 3],
    [1, 0],
  ].map((column) => column.map((value) => BigInt(asBits(value))));
  const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: 'b32' }] }, columns);
  assert.is(outcome.kind, 'ran');
  if (outcome.kind === 'ran') assert.equal([...outcome.results[0]!], [BigInt(asBits(13)), 0x7f7fffffn]);
});

test.run();
