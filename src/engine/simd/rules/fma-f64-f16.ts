/**
 * a * b + c of doubles and of halves with one rounding, vector by vector.
 *
 * Doubles: the product is a double and an error that is one too (Dekker), as long as neither is too small; the sum of the double and c is a double
 * and an error again (Knuth). The two errors are added with rounding to odd, so that the last sum rounds once: what it lies between, halves of a
 * unit of the result, are even numbers where the errors end. Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008);
 * their second sum is only for products that the addend cancels, and then the errors' sum is exact. Products that are 0 or too small, and
 * results that are no number, are for a helper.
 *
 * Halves: the product is exact as a single; the sum is rounded to odd there, and a single has more than two bits more than a half.
 */
import { type InstOf, isPointer, type Value } from '../../../ir/index.ts';
import { type LaneGroup, type PartWriter, typeOf } from '../lanes/lane-group.ts';
import { longs, words } from '../lanes/vectors.ts';
import { narrowShort, widenShort } from './f16-conversions.ts';

/** The least product whose error is a double for certain: 2^-900. */
const leastProduct = longs(123n << 52n);
/** Half a unit of the upper half of a double's 52 bits, and what that leaves. */
const halfOfLow = 1n << 26n;
const lowBits = (1n << 27n) - 1n;

/** Scratch locals of these rules. */
const first = 170;

type Push = () => void;

/** Writes a fused operation of doubles for one vector. */
export function fusedDoubles(s: LaneGroup, inst: InstOf<'fma'>): PartWriter {
  const { code } = s;
  const local = (which: number): number => s.temp('v128', first + which);
  const [a, b, c, p, sum, sumError, low, result] = [0, 1, 2, 3, 4, 5, 6, 7].map(local) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const get = (...locals: number[]): void => locals.forEach((each) => void code.at('local.get', each));
  const set = (to: number): void => code.at('local.set', to);
  const op = (name: string): void => code.op(`f64x2.${name}`);
  const scale = scaleOf(s, inst.a) ?? scaleOf(s, inst.b);
  return (part) => {
    // An operand may be an expression of the same kind, whose locals are the same.
    for (const operand of [inst.a, inst.b, inst.c]) s.part(operand, part);
    for (const to of [c, b, a]) set(to);
    get(a, b);
    op('mul');
    set(p);
    if (scale !== undefined) {
      get(p, c);
      op('add');
      set(result);
    } else {
      // What the product lacks: al * bl - (((p - ah * bh) - al * bh) - ah * bl).
      const [aHigh, aLow] = halves(s, inst.a, a, 8);
      const [bHigh, bLow] = halves(s, inst.b, b, 10);
      const times = (x: Push, y: Push): void => {
        x();
        y();
        op('mul');
      };
      times(aLow, bLow);
      get(p);
      for (const [x, y] of [
        [aHigh, bHigh],
        [aLow, bHigh],
        [aHigh, bLow],
      ] as const) {
        times(x, y);
        op('sub');
      }
      op('sub');
      set(low);
      errorOfSum(s, 'f64x2', p, c, sum, local(12));
      set(sumError);
      errorOfSum(s, 'f64x2', sumError, low, result, local(12));
      set(low);
      get(sum);
      toOdd(s, 'i64x2', result, low);
      op('add');
      set(result);
    }
    isCertain(result, p);
    const certain = s.temp('v128', first + 13);
    code.at('local.tee', certain);
    code.op('i64x2.all_true');
    code.op('i32.eqz');
    code.open('if');
    get(a, b, c, result, certain);
    code.at('call', s.simdHelper('fma64'));
    set(result);
    code.end();
    get(result);
  };

  /** Where nothing was lost that the result depends on: a product that is large enough, or no smaller than what it scales; and a number. */
  function isCertain(sum: number, product: number): void {
    if (scale === undefined || scale < 0) {
      get(product);
      op('abs');
      code.v128(leastProduct);
      op('ge');
    }
    get(sum, sum);
    op('sub');
    code.v128(words(0));
    op('eq');
    if (scale === undefined || scale < 0) code.op('v128.and');
  }
}

/** The exponent of an operand that is a power of two: products with it are exact. */
function scaleOf({ kernel }: LaneGroup, operand: Value): number | undefined {
  const inst = kernel.insts[operand]!;
  if (inst.op !== 'const') return undefined;
  const power = Number((inst.bits >> 52n) & 0x7ffn) - 1023;
  return (inst.bits & ((1n << 52n) - 1n)) === 0n && Math.abs(power) <= 900 ? power : undefined;
}

/** A double as two of 26 bits, the second with a sign of its own. */
function halves(s: LaneGroup, operand: Value, local: number, which: number): [Push, Push] {
  const { code } = s;
  const inst = s.kernel.insts[operand]!;
  if (inst.op === 'const' && !isPointer(inst.type)) {
    const bits = BigInt.asUintN(64, (inst.bits + halfOfLow) & ~lowBits);
    const rest = new Float64Array(new BigUint64Array([inst.bits, bits]).buffer);
    const low = new BigUint64Array(Float64Array.of(rest[0]! - rest[1]!).buffer)[0]!;
    return [() => code.v128(longs(bits)), () => code.v128(longs(low))];
  }
  const [high, low] = [s.temp('v128', first + which), s.temp('v128', first + which + 1)];
  code.at('local.get', local);
  code.at('local.get', local);
  code.v128(longs(halfOfLow));
  code.op('i64x2.add');
  code.v128(longs(BigInt.asUintN(64, ~lowBits)));
  code.op('v128.and');
  code.at('local.tee', high);
  code.op('f64x2.sub');
  code.at('local.set', low);
  return [() => code.at('local.get', high), () => code.at('local.get', low)];
}

/** Sets the sum of two floats and leaves what it lacks, exactly: (x - (sum - y')) + (y - y') with y' = sum - x. */
function errorOfSum({ code }: LaneGroup, shape: 'f32x4' | 'f64x2', x: number, y: number, sum: number, rest: number): void {
  const get = (...locals: number[]): void => locals.forEach((each) => void code.at('local.get', each));
  get(x, y);
  code.op(`${shape}.add`);
  code.at('local.set', sum);
  get(x, sum, sum, x);
  code.op(`${shape}.sub`);
  code.at('local.tee', rest);
  code.op(`${shape}.sub`);
  code.op(`${shape}.sub`);
  get(y, rest);
  code.op(`${shape}.sub`);
  code.op(`${shape}.add`);
}

/** A sum cut off towards 0, its last bit set where anything was lost: an error of another sign says that it was too large. */
function toOdd({ code }: LaneGroup, shape: 'i32x4' | 'i64x2', sum: number, error: number): void {
  const get = (...locals: number[]): void => locals.forEach((each) => void code.at('local.get', each));
  const float = shape === 'i32x4' ? 'f32x4' : 'f64x2';
  const isInexact = (): void => {
    // False of a NaN, which the error of an infinite sum is.
    get(error);
    code.op(`${float}.abs`);
    code.v128(words(0));
    code.op(`${float}.gt`);
  };
  get(error, sum);
  code.op('v128.xor');
  code.v128(words(0));
  code.op(`${shape}.lt_s`);
  isInexact();
  code.op('v128.and');
  get(sum);
  code.op(`${shape}.add`);
  isInexact();
  code.v128(shape === 'i32x4' ? words(1) : longs(1n));
  code.op('v128.and');
  code.op('v128.or');
}

/** Writes a fused operation of halves for one vector. */
export function fusedHalves(s: LaneGroup, inst: InstOf<'fma'>): PartWriter | undefined {
  if (typeOf(s, inst.a) !== 'f16') return undefined;
  const { code } = s;
  const [p, c, sum, error, rest] = [0, 1, 2, 3, 4].map((which) => s.temp('v128', first + which)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return (part) => {
    for (const operand of [inst.a, inst.b]) {
      s.part(operand, part);
      widenShort(s, 'f16');
    }
    code.op('f32x4.mul');
    s.part(inst.c, part);
    widenShort(s, 'f16');
    code.at('local.set', c);
    code.at('local.set', p);
    errorOfSum(s, 'f32x4', p, c, sum, rest);
    code.at('local.set', error);
    toOdd(s, 'i32x4', sum, error);
    narrowShort(s, 'f16');
  };
}
