/**
 * Directed rounding against exact integers: the result is the bound of the exact value among the floats. Operands are chosen so that
 * results cancel, overflow, are subnormal, or lie as far apart as floats can.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { floatFormats, fmaFloat, unpackFloat } from '../../src/base/float-exact.ts';
import { SourceFile } from '../../src/base/source.ts';
import { emit } from '../../src/compile/index.ts';
import { splitMix64 } from '../../src/runtime/index.ts';
import { kernelOf, runInstruction } from '../support/one-instruction.ts';

const test = suite('ptx/rounding');
const random = splitMix64(11n);
const draw = (below: number): number => Number(random() % BigInt(below));

interface Format {
  readonly type: 'f32' | 'f64';
  readonly kind: 'b32' | 'b64';
  readonly sign: bigint;
  readonly mantissaBits: bigint;
  /** Of the exponent field. */
  readonly most: number;
  /** Values are counted in units of 2^-unit, the least product. */
  readonly unit: bigint;
  readonly count: number;
}

const formats: readonly Format[] = [
  { type: 'f32', kind: 'b32', sign: 1n << 31n, mantissaBits: 23n, most: 254, unit: 298n, count: 4000 },
  { type: 'f64', kind: 'b64', sign: 1n << 63n, mantissaBits: 52n, most: 2046, unit: 2148n, count: 1000 },
];

const isNegative = ({ sign }: Format, bits: bigint): boolean => (bits & sign) !== 0n;

/** A finite float in units; infinities follow the largest float. */
function inUnits(f: Format, bits: bigint): bigint {
  const value = unpackFloat(floatFormats[f.type], bits & (f.sign - 1n));
  const infinity = 1n << (BigInt((f.most + 2) / 2) + f.unit);
  const magnitude = value.kind === 'finite' ? value.mantissa << (BigInt(value.exponent) + f.unit) : infinity;
  return isNegative(f, bits) ? -magnitude : magnitude;
}

/** A finite float: any, near 1, near the least, near the largest, or with few bits. */
function operand(f: Format): bigint {
  const far = Math.round(f.most / 6);
  const exponents = [draw(f.most + 1), f.most / 2 - 6 + draw(12), draw(far), f.most - draw(far)];
  const mantissa = draw(4) === 0 ? BigInt(draw(8)) << (f.mantissaBits - 3n) : random() % (1n << f.mantissaBits);
  return (draw(2) === 0 ? f.sign : 0n) | (BigInt(exponents[draw(4)]!) << f.mantissaBits) | mantissa;
}

/** A number that nearly cancels a product, if finite. */
function against(f: Format, a: bigint, b: bigint): bigint {
  const product = fmaFloat(floatFormats[f.type], a, b, 0n) ^ f.sign;
  const isSmall = (product & (f.sign - 1n)) >> f.mantissaBits < BigInt(f.most);
  return isSmall ? product + BigInt(draw(5)) : operand(f);
}

type Row = readonly [a: bigint, b: bigint, c: bigint];

function rowOf(f: Format): Row {
  const [a, b] = [operand(f), operand(f)];
  return [a, b, draw(3) === 0 ? against(f, a, b) : operand(f)];
}

/** The exact value, in units times a divisor, and that divisor. */
type Exact = (a: bigint, b: bigint, c: bigint, unit: bigint) => { readonly value: bigint; readonly divisor: bigint };
const whole = (value: bigint) => ({ value, divisor: 1n });
const quotient = (a: bigint, b: bigint, unit: bigint) => ({ value: (b < 0n ? -a : a) << unit, divisor: b < 0n ? -b : b });
const forms: readonly (readonly [string, string, Exact])[] = [
  ['add', 'a, b', (a, b) => whole(a + b)],
  ['sub', 'a, b', (a, b) => whole(a - b)],
  ['mul', 'a, b', (a, b, _, unit) => whole((a * b) >> unit)],
  ['fma', 'a, b, c', (a, b, c, unit) => whole(((a * b) >> unit) + c)],
  ['div', 'a, b', (a, b, _, unit) => quotient(a, b, unit)],
  ['rcp', 'a', (a, _, __, unit) => quotient(1n << unit, a, unit)],
];

/** A value too large for a float is between the largest float and infinity. */
function limited(f: Format, value: bigint, divisor: bigint): bigint {
  const most = inUnits(f, BigInt(f.most + 1) << f.mantissaBits) * divisor - 1n;
  return value > most ? most : value < -most ? -most : value;
}

/** Whether a float is the exact value, or the nearest in the direction. */
function isBound(f: Format, rounding: string, bits: bigint, exact: ReturnType<Exact>): boolean {
  const { divisor } = exact;
  const value = limited(f, exact.value, divisor);
  const result = inUnits(f, bits) * divisor;
  if (result === value) return true;
  // Past zero is the least float of the other sign.
  const isDown = rounding === 'rm' || (rounding === 'rz' && value > 0n);
  const isZero = (bits & (f.sign - 1n)) === 0n;
  const next = isDown !== isNegative(f, bits) ? bits + 1n : isZero ? (isDown ? 1n : f.sign + 1n) : bits - 1n;
  const other = inUnits(f, next) * divisor;
  return isDown ? result < value && value < other : result > value && value > other;
}

for (const [f, target] of [[formats[0]!], [formats[1]!], [formats[1]!, 'cpu']] as const) {
  const rows = Array.from({ length: f.count }, () => rowOf(f));
  for (const [name, operands, exact] of forms)
    for (const rounding of ['rz', 'rm', 'rp'])
      test(`${name}.${rounding}.${f.type} gives the bound of the exact value${target ? ', on the CPU device' : ''}`, () => {
        const names = operands.split(', ');
        const sources = names.map((each) => ({ name: each, kind: f.kind }));
        const columns = names.map((_, i) => rows.map((row) => row[i]!));
        const text = `${name}.${rounding}.${f.type} d, ${operands}`;
        const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: f.kind }] }, columns, target);
        if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
        const wrong = rows.filter(([a, b, c], i) => {
          if (inUnits(f, name === 'div' ? b : name === 'rcp' ? a : 1n) === 0n) return false;
          return !isBound(f, rounding, outcome.results[0]![i]!, exact(inUnits(f, a), inUnits(f, b), inUnits(f, c), f.unit));
        });
        assert.equal(wrong.slice(0, 3), []);
        assert.is(outcome.target, target ?? 'macos14');
      });
}

for (const [f, target] of [[formats[0]!], [formats[1]!], [formats[1]!, 'cpu']] as const)
  test(`sums with a one in ${f.type} give the bound of the exact value${target ? ', on the CPU device' : ''}`, () => {
    const one = BigInt(f.most / 2) << f.mantissaBits;
    const column = Array.from({ length: 1000 }, () =>
      draw(2) === 0 ? operand(f) : (one - 40n + BigInt(draw(80))) ^ (draw(2) === 0 ? f.sign : 0n),
    );
    const literal = `${f.type === 'f32' ? '0f' : '0d'}${one.toString(16).padStart(f.type === 'f32' ? 8 : 16, '0')}`;
    for (const [operands, rounding] of [`a, ${literal}`, `${literal}, a`].flatMap((each) =>
      ['rz', 'rm', 'rp'].map((way) => [each, way] as const),
    )) {
      const text = `add.${rounding}.${f.type} d, ${operands}`;
      const outcome = runInstruction(
        { text, sources: [{ name: 'a', kind: f.kind }], results: [{ name: 'd', kind: f.kind }] },
        [column],
        target,
      );
      if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
      const wrong = column.filter((a, i) => !isBound(f, rounding, outcome.results[0]![i]!, whole(inUnits(f, a) + inUnits(f, one))));
      assert.equal(wrong.slice(0, 3), [], text);
    }
  });

/** An integer of at most 24 bits, of any size. */
const smallInteger = (): number => (draw(2) === 0 ? 1 : -1) * (Number(random() & 0xff_ffffn) >> draw(24));

/** Scales of three operands, and whether nothing of theirs is subnormal. Sums of the small ones are normal, and the parts of their last places subnormal. */
const placesOf = ({ type }: Format): readonly (readonly [readonly number[], boolean])[] => [
  [[2 ** -9, 2 ** -12, 2 ** -21], true],
  [type === 'f32' ? [2 ** -110, 2 ** -140, 2 ** -140] : [2 ** -1010, 2 ** -1060, 2 ** -1060], false],
];

/** Operands that are integers with a scale, as the kernel makes them: no product, remainder or error of theirs is subnormal, which spares a slow way. */
for (const f of formats)
  for (const target of f.type === 'f32' ? [undefined] : [undefined, 'cpu' as const])
    for (const [scales, isStraight] of placesOf(f))
      test(`operands of ${f.type} times ${scales[0]} give the bound of the exact value${target ? ', on the CPU device' : ''}`, () => {
        const rows = Array.from({ length: f.count / 2 }, (): readonly number[] => {
          const [a, b] = [smallInteger() >> draw(12), smallInteger() >> draw(12)];
          const near = -a * b + draw(5) - 2;
          return [a, b, draw(3) > 0 && Math.abs(near) < 2 ** 31 ? near : smallInteger()];
        });
        const bitsOf = (value: number): bigint =>
          f.type === 'f32' ? asBits(value) : new BigUint64Array(Float64Array.of(value).buffer)[0]!;
        const whole = (value: number): number => (f.type === 'f32' ? Math.fround(value) : value);
        const floats = rows.map((row) => row.map((value, i) => bitsOf(whole(value) * scales[i]!)) as unknown as Row);
        const prefix = f.type === 'f32' ? '0f' : '0d';
        const made = ['a', 'b', 'c'].map(
          (name, i) =>
            `cvt.rn.${f.type}.s32 f${name}, ${name}; mul.rn.${f.type} f${name}, f${name}, ${prefix}${bitsOf(scales[i]!)
              .toString(16)
              .padStart(f.type === 'f32' ? 8 : 16, '0')};`,
        );
        for (const [name, operands, exact] of forms)
          for (const rounding of ['rz', 'rm', 'rp']) {
            const call = `${name}.${rounding}.${f.type} d, ${operands.replace(/\b[abc]\b/g, 'f$&')}`;
            const text = `.reg .${f.kind} fa, fb, fc; ${made.join(' ')} ${call}`;
            const sources = ['a', 'b', 'c'].map((each) => ({ name: each, kind: 'b32' as const }));
            const instruction = { text, sources, results: [{ name: 'd', kind: f.kind }] };
            const columns = [0, 1, 2].map((i) => rows.map((row) => BigInt.asUintN(32, BigInt(row[i]!))));
            const outcome = runInstruction(instruction, columns, target);
            if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
            const wrong = floats.filter(([a, b, c], i) => {
              if (inUnits(f, name === 'div' ? b : name === 'rcp' ? a : 1n) === 0n) return false;
              return !isBound(f, rounding, outcome.results[0]![i]!, exact(inUnits(f, a), inUnits(f, b), inUnits(f, c), f.unit));
            });
            assert.equal(wrong.slice(0, 3), [], call);
            const air = emit(new SourceFile('form.ptx', kernelOf(instruction)), 'air-ll', target ? { target } : {}, new Diagnostics());
            // The guard of the kernel is the only branch.
            if (isStraight) assert.is(String(air).match(/br i1/g)?.length, 1, call);
          }
      });

const asBits = (value: number): bigint => BigInt(new Uint32Array(Float32Array.of(value).buffer)[0]!);

test('an instruction of several blocks keeps the register where its guard fails, in a loop too', () => {
  const text = `.reg .b32 left; mov.b32 left, 3; mov.b32 d, a;
    again: setp.gt.u32 set, left, 1; @set fma.rz.f32 d, d, b, c; sub.u32 left, left, 1; setp.ne.u32 set, left, 0; @set bra again`;
  const sources = ['a', 'b', 'c'].map((name) => ({ name, kind: 'b32' as const }));
  // Twice: 1 * 3 + 1 and 4 * 3 + 1; 2^127 * 3 stays at the largest float, and so does its product with 3.
  const columns = [
    [1, 2 ** 127],
    [3, 3],
    [1, 0],
  ].map((column) => column.map(asBits));
  const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: 'b32' }] }, columns);
  assert.is(outcome.kind, 'ran');
  if (outcome.kind === 'ran') assert.equal([...outcome.results[0]!], [asBits(13), 0x7f7fffffn]);
});

test.run();
