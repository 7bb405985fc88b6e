/** What instructions on constants compute. Instructions that trap, and float results that are NaN, are not folded. */
import { bitsOfFloat, floatOfBits } from './float-bits.ts';

/** Constant operands by their bits, unsigned. */
type Fold = (args: readonly bigint[]) => bigint | undefined;

type Integer = (a: bigint, b: bigint, width: number) => bigint | boolean | undefined;

const signed = BigInt.asIntN;
const count = (b: bigint, width: number): bigint => b & BigInt(width - 1);
const lengthOf = (a: bigint): number => (a === 0n ? 0 : a.toString(2).length);

/** Of i32 and i64: operands are unsigned, results are wrapped. */
const integer: Readonly<Record<string, Integer>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b, width) => a << count(b, width),
  shr_u: (a, b, width) => a >> count(b, width),
  shr_s: (a, b, width) => signed(width, a) >> count(b, width),
  rotl: (a, b, width) => (a << count(b, width)) | (a >> (BigInt(width) - count(b, width))),
  rotr: (a, b, width) => (a >> count(b, width)) | (a << (BigInt(width) - count(b, width))),
  div_u: (a, b) => (b === 0n ? undefined : a / b),
  rem_u: (a, b) => (b === 0n ? undefined : a % b),
  // The quotient of the least number and -1 traps.
  div_s: (a, b, width) => (b === 0n || signed(width, b) === -1n ? undefined : signed(width, a) / signed(width, b)),
  rem_s: (a, b, width) => (b === 0n ? undefined : signed(width, a) % signed(width, b)),
  clz: (a, _, width) => BigInt(width - lengthOf(a)),
  ctz: (a, _, width) => (a === 0n ? BigInt(width) : BigInt(lengthOf(a & -a) - 1)),
  popcnt: (a) => BigInt(a.toString(2).replaceAll('0', '').length),
  extend8_s: (a) => signed(8, a),
  extend16_s: (a) => signed(16, a),
  extend32_s: (a) => signed(32, a),
  extend_i32_s: (a) => signed(32, a),
  extend_i32_u: (a) => a,
  wrap_i64: (a) => a,
  reinterpret_f32: (a) => a,
  reinterpret_f64: (a) => a,
  eqz: (a) => a === 0n,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt_u: (a, b) => a < b,
  gt_u: (a, b) => a > b,
  le_u: (a, b) => a <= b,
  ge_u: (a, b) => a >= b,
  lt_s: (a, b, width) => signed(width, a) < signed(width, b),
  gt_s: (a, b, width) => signed(width, a) > signed(width, b),
  le_s: (a, b, width) => signed(width, a) <= signed(width, b),
  ge_s: (a, b, width) => signed(width, a) >= signed(width, b),
};

/** Of f32 and f64. A result of f32 that is computed in f64 and then rounded is the rounded exact one. */
const float: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  sqrt: (a) => Math.sqrt(a),
  ceil: (a) => Math.ceil(a),
  floor: (a) => Math.floor(a),
  trunc: (a) => Math.trunc(a),
  promote_f32: (a) => a,
  demote_f64: (a) => a,
};

/** Comparisons of floats. */
const ordered: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  gt: (a, b) => a > b,
  le: (a, b) => a <= b,
  ge: (a, b) => a >= b,
};

function foldOf(name: string): Fold | undefined {
  const [type = '', op = ''] = name.split('.');
  const width = Number(type.slice(1));
  if (type === 'i32' || type === 'i64') {
    const compute = integer[op];
    return compute && (([a = 0n, b = 0n]) => wrapped(compute(a, b, width), width));
  }
  if (type !== 'f32' && type !== 'f64') return undefined;
  if (op.startsWith('reinterpret')) return ([a]) => a;
  const sign = 1n << BigInt(width - 1);
  if (op === 'neg') return ([a]) => a! ^ sign;
  if (op === 'abs') return ([a]) => a! & ~sign;
  const compare = ordered[op];
  if (compare) return ([a, b]) => (compare(floatOfBits(a!, width), floatOfBits(b!, width)) ? 1n : 0n);
  const compute = float[op];
  const from = op === 'promote_f32' ? 32 : op === 'demote_f64' ? 64 : width;
  return (
    compute &&
    (([a = 0n, b = 0n]) => {
      const result = compute(floatOfBits(a, from), floatOfBits(b, from));
      return Number.isNaN(result) ? undefined : bitsOfFloat(result, width);
    })
  );
}

const wrapped = (result: bigint | boolean | undefined, width: number): bigint | undefined =>
  typeof result === 'bigint' ? BigInt.asUintN(width, result) : result === undefined ? undefined : result ? 1n : 0n;

const folds = new Map<string, Fold | undefined>();

/** The bits of the result of an instruction on constant numbers; undefined where it is not computed here. */
export function foldNumbers(name: string, args: readonly bigint[]): bigint | undefined {
  if (!folds.has(name)) folds.set(name, foldOf(name));
  return folds.get(name)?.(args);
}
