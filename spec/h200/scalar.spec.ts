/**
 * Every recorded form of scalar instructions with every recorded input, end to end (PTX, metallib, CPU device) against results of an
 * NVIDIA H200. NaNs are equal; everything else is compared bit for bit.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f32Value, f64Value } from '../../src/base/float.ts';
import { convertFloat, floatFormats } from '../../src/base/float-exact.ts';
import { type Kind, runInstruction } from '../support/one-instruction.ts';
import { areSame } from '../support/same-float.ts';

const test = suite('h200/scalar');

interface Form {
  readonly ptx: string;
  readonly form: string;
  readonly operands: readonly Kind[];
  readonly result: Kind;
  /** Hexadecimal operands and result. */
  readonly cases: readonly string[];
}

const path = join(import.meta.dirname, '../../fixtures/h200/scalar.json');
const { forms } = JSON.parse(readFileSync(path, 'utf8')) as { forms: Form[] };

/** Also run with native doubles, besides the soft ones for Apple GPUs. */
const hasDoubles = (ptx: string): boolean => ptx.includes('f64');
const runs = { macos14: 0, cpu: 0 };

/** The float type of a result, if it is one. */
function floatType(ptx: string): string | undefined {
  const words = ptx.split('.').slice(1);
  const type =
    words[0] === 'lo' || ptx.startsWith('setp') ? '' : ptx.startsWith('cvt') || ptx.startsWith('set') ? words.at(-2) : words.at(-1);
  if (/^(testp|slct|sad)/.test(ptx)) return undefined;
  return type !== undefined && /^(b?f16(x2)?|f32|f64)$/.test(type) ? type : undefined;
}

/**
 * Tolerance of an approximate result: the manual's error bound of the hardware plus ours, in units in the last place or absolute.
 * `sin` and `cos` have a bound between -2 pi and 2 pi, `div.approx` from 2^-126.
 */
const bounds: Readonly<
  Record<string, { readonly ulp: number; readonly absolute?: number; readonly applies?: (row: readonly number[]) => boolean }>
> = {
  'ex2.approx': { ulp: 3, absolute: 2 ** -145 },
  'lg2.approx': { ulp: 3, absolute: 2 ** -21 },
  'sin.approx': { ulp: 0, absolute: 2 ** -20, applies: ([a]) => Math.abs(a!) <= 2 * Math.PI },
  'cos.approx': { ulp: 0, absolute: 2 ** -20, applies: ([a]) => Math.abs(a!) <= 2 * Math.PI },
  'tanh.approx': { ulp: 2 ** 13 },
  'rsqrt.approx': { ulp: 3 },
  'sqrt.approx': { ulp: 3, absolute: 2 ** -145 },
  'rcp.approx': { ulp: 2, absolute: 2 ** -145 },
  'div.approx': { ulp: 3, absolute: 2 ** -145, applies: ([, b]) => Math.abs(b!) >= 2 ** -126 },
  'div.full': { ulp: 3, absolute: 2 ** -145 },
};

/** Relative tolerance of double-precision estimates, for which the manual states no bound. */
const parts: Readonly<Record<string, number>> = {
  'rcp.approx.ftz.f64': 2 ** -18,
  'rsqrt.approx.ftz.f64': 2 ** -18,
  'rsqrt.approx.f64': 2 ** -51,
};

/** Tolerance of an approximate f16 or bf16 result: the manual's bound and one rounding of ours. */
const halfBounds = {
  'ex2.approx': { ulp: 3n, f16: 0, bf16: 0 },
  'tanh.approx': { ulp: 1n, f16: 2 ** -10, bf16: 2 ** -7 },
};

function isHalfNear(name: string, type: 'f16' | 'bf16', want: bigint, got: bigint): boolean {
  if (areSame(type, want, got)) return true;
  const bound = halfBounds[name as keyof typeof halfBounds];
  if ((want ^ got) & 0x8000n) return false;
  const steps = want > got ? want - got : got - want;
  const [x, y] = [want, got].map((bits) => f32Value(Number(convertFloat(floatFormats[type], floatFormats.f32, bits)))) as [number, number];
  return steps <= bound.ulp || Math.abs(x - y) <= bound[type];
}

/** Whether two floats, given as bits, are within the tolerance of an approximate form. */
function isNear(ptx: string, row: readonly bigint[], want: bigint, got: bigint): boolean {
  const part = parts[ptx];
  if (part !== undefined) return Math.abs(f64Value(got) - f64Value(want)) <= part * Math.abs(f64Value(want));
  const name = ptx.split('.').slice(0, 2).join('.');
  const bound = bounds[name];
  if (!bound) return false;
  const half = /\.(b?f16)(x2)?$/.exec(ptx);
  if (half) return [0n, 16n].every((at) => isHalfNear(name, half[1] as 'f16' | 'bf16', (want >> at) & 0xffffn, (got >> at) & 0xffffn));
  const [a, b, x, y] = [row[0]!, row[1]!, want, got].map((bits) => f32Value(Number(bits))) as [number, number, number, number];
  // Without a bound, only infinities and finite values are distinguished.
  if (bound.applies && !bound.applies([a, b]) && Number.isFinite(a)) return Number.isFinite(x) === Number.isFinite(y) || x === 0;
  const order = (bits: bigint): number => (bits & 0x80000000n ? -Number(bits & 0x7fffffffn) : Number(bits));
  return Math.abs(order(want) - order(got)) <= bound.ulp || Math.abs(x - y) <= (bound.absolute ?? 0);
}

/** The first few results that differ from the recording. */
function faultsOf({ ptx, cases }: Form, rows: readonly (readonly bigint[])[], results: BigUint64Array): string[] {
  const type = floatType(ptx);
  const mismatches = rows.flatMap((row, i) => {
    const [want, got] = [row.at(-1)!, results[i]!];
    return areSame(type, want, got) || isNear(ptx, row, want, got) ? [] : [`${cases[i]}, and not ${got.toString(16)}`];
  });
  return mismatches.slice(0, 5);
}

for (const recorded of forms)
  test(recorded.form, () => {
    const { ptx, form, operands, result, cases } = recorded;
    const rows = cases.map((line) => line.split(' ').map((word) => BigInt(`0x${word}`)));
    const sources = operands.map((kind, i) => ({ name: 'abce'[i]!, kind }));
    const columns = operands.map((_, i) => rows.map((row) => row[i]!));
    const instruction = { text: form, sources, results: [{ name: 'd', kind: result }] };
    const targets = hasDoubles(ptx) ? ([undefined, 'cpu'] as const) : ([undefined] as const);
    for (const target of targets) {
      const outcome = runInstruction(instruction, columns, target);
      if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
      runs[outcome.target]++;
      assert.equal(faultsOf(recorded, rows, outcome.results[0]!), [], outcome.target);
    }
  });

test('every compiled form runs on Apple targets, doubles included', () => {
  const doubles = forms.filter(({ ptx }) => hasDoubles(ptx)).length;
  assert.ok(doubles > 50, `${doubles} double-precision forms`);
  assert.equal(runs, { macos14: forms.length, cpu: doubles });
});

test.run();
