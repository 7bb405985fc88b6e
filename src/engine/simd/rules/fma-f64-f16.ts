/**
 * Exact f64 and f16 fused multiply-add, vector by vector.
 *
 * f64: TwoProduct (Dekker) gives the product as an f64 and its exact error, unless either is too small; TwoSum (Knuth) gives the sum of the product
 * and c as an f64 and its exact error. The two errors are added with rounding to odd, so that the last sum rounds once: the midpoints between
 * results are even where the errors' sum ends. Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008); their second sum
 * is only for products that the addend cancels, and then the errors' sum is exact. Products that are 0 or too small, and results that are not
 * finite, are left to a helper.
 *
 * f16: the product is exact in f32; the sum is rounded to odd there, and f32 has more than two bits more than f16.
 */
import { type InstOf, isPointer, type Value } from '../../../ir/index.ts';
import { pushRoundedToOdd, twoSum } from '../../codegen/error-free.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { type LaneGroup, type PartWriter, typeOf } from '../lanes/lane-group.ts';
import { longs, words } from '../lanes/vectors.ts';
import { narrowShort, widenShort } from './f16-conversions.ts';

/** The smallest product whose error is sure to be an f64: 2^-900, with the exponent field 1023 - 900. */
const minProduct = longs(123n << 52n);
/** The low 27 bits of an f64 significand, and half of their range, which rounds the upper 26 bits. */
const splitMask = (1n << 27n) - 1n;
const splitHalf = 1n << 26n;

/** Writes an f64 FMA for one vector. */
export function fusedDoubles(s: LaneGroup, inst: InstOf<'fma'>): PartWriter {
  const { code } = s;
  const get = (...locals: number[]): void => locals.forEach((each) => void code.at('local.get', each));
  const scale = scaleOf(s, inst.a) ?? scaleOf(s, inst.b);
  return (part) => {
    for (const operand of [inst.a, inst.b, inst.c]) s.part(operand, part);
    withScratch(s, 'v128', 6, ([a, b, c, product, result, certain]) => {
      for (const to of [c, b, a]) code.at('local.set', to);
      get(a, b);
      code.op('f64x2.mul');
      code.at('local.set', product);
      if (scale === undefined) sumOfProduct(s, inst, { a, b, c, product, result });
      else {
        get(product, c);
        code.op('f64x2.add');
        code.at('local.set', result);
      }
      pushIsCertain(s, result, scale === undefined || scale < 0 ? product : undefined);
      code.at('local.tee', certain);
      code.op('i64x2.all_true');
      code.op('i32.eqz');
      code.open('if');
      get(a, b, c, result, certain);
      code.at('call', s.simdHelper('fma64'));
      code.at('local.set', result);
      code.end();
      get(result);
    });
  };
}

/** The locals of an f64 FMA. */
type FmaLocals = Readonly<Record<'a' | 'b' | 'c' | 'product' | 'result', number>>;

/** Sets the result: the sum of the product, its error and c, with one rounding. */
function sumOfProduct(s: LaneGroup, inst: InstOf<'fma'>, { a, b, c, product, result }: FmaLocals): void {
  const { code } = s;
  withScratch(s, 'v128', 4, ([sum, sumError, error, rest]) => {
    pushProductError(s, inst, { a, b, product });
    code.at('local.set', error);
    twoSum(code, 'f64x2', [product, c], sum, rest);
    code.at('local.set', sumError);
    twoSum(code, 'f64x2', [sumError, error], result, rest);
    code.at('local.set', error);
    code.at('local.get', sum);
    pushRoundedToOdd(code, 'f64x2', result, error);
    code.op('f64x2.add');
    code.at('local.set', result);
  });
}

/** Pushes the error of a product (TwoProduct): al * bl - (((product - ah * bh) - al * bh) - ah * bl). */
function pushProductError(s: LaneGroup, inst: InstOf<'fma'>, { a, b, product }: Pick<FmaLocals, 'a' | 'b' | 'product'>): void {
  const { code } = s;
  const times = (x: Push, y: Push): void => {
    x();
    y();
    code.op('f64x2.mul');
  };
  withSplit(s, inst.a, a, (aHigh, aLow) =>
    withSplit(s, inst.b, b, (bHigh, bLow) => {
      times(aLow, bLow);
      code.at('local.get', product);
      for (const [x, y] of [
        [aHigh, bHigh],
        [aLow, bHigh],
        [aHigh, bLow],
      ] as const) {
        times(x, y);
        code.op('f64x2.sub');
      }
      code.op('f64x2.sub');
    }),
  );
}

/** Pushes the lanes whose result is certain: the sum is finite, and the product, if it is to be tested, large enough that its error is an f64. */
function pushIsCertain({ code }: LaneGroup, sum: number, product: number | undefined): void {
  if (product !== undefined) {
    code.at('local.get', product);
    code.op('f64x2.abs');
    code.v128(minProduct);
    code.op('f64x2.ge');
  }
  code.at('local.get', sum);
  code.at('local.get', sum);
  code.op('f64x2.sub');
  code.v128(words(0));
  code.op('f64x2.eq');
  if (product !== undefined) code.op('v128.and');
}

/** The exponent of an operand that is a constant power of two, whose products are exact. */
function scaleOf({ kernel }: LaneGroup, operand: Value): number | undefined {
  const inst = kernel.insts[operand]!;
  if (inst.op !== 'const') return undefined;
  const power = Number((inst.bits >> 52n) & 0x7ffn) - 1023;
  return (inst.bits & ((1n << 52n) - 1n)) === 0n && Math.abs(power) <= 900 ? power : undefined;
}

type Push = () => void;

/**
 * Splits an f64 operand, which is in a local, into a high and a low part of at most 26 bits each (after Veltkamp and Dekker); the low part has a sign
 * of its own. `body` gets what pushes them.
 */
function withSplit(s: LaneGroup, operand: Value, local: number, body: (pushHigh: Push, pushLow: Push) => void): void {
  const { code } = s;
  const inst = s.kernel.insts[operand]!;
  if (inst.op === 'const' && !isPointer(inst.type)) {
    const bits = BigInt.asUintN(64, (inst.bits + splitHalf) & ~splitMask);
    const [whole, high] = new Float64Array(new BigUint64Array([inst.bits, bits]).buffer) as unknown as [number, number];
    const low = new BigUint64Array(Float64Array.of(whole - high).buffer)[0]!;
    return body(
      () => code.v128(longs(bits)),
      () => code.v128(longs(low)),
    );
  }
  withScratch(s, 'v128', 2, ([high, low]) => {
    code.at('local.get', local);
    code.at('local.get', local);
    code.v128(longs(splitHalf));
    code.op('i64x2.add');
    code.v128(longs(BigInt.asUintN(64, ~splitMask)));
    code.op('v128.and');
    code.at('local.tee', high);
    code.op('f64x2.sub');
    code.at('local.set', low);
    body(
      () => code.at('local.get', high),
      () => code.at('local.get', low),
    );
  });
}

/** Writes an f16 FMA for one vector; undefined for bf16. */
export function fusedHalves(s: LaneGroup, inst: InstOf<'fma'>): PartWriter | undefined {
  if (typeOf(s, inst.a) !== 'f16') return undefined;
  const { code } = s;
  return (part) => {
    for (const operand of [inst.a, inst.b]) {
      s.part(operand, part);
      widenShort(s, 'f16');
    }
    code.op('f32x4.mul');
    s.part(inst.c, part);
    widenShort(s, 'f16');
    withScratch(s, 'v128', 5, ([product, c, sum, error, rest]) => {
      code.at('local.set', c);
      code.at('local.set', product);
      twoSum(code, 'f32x4', [product, c], sum, rest);
      code.at('local.set', error);
      pushRoundedToOdd(code, 'f32x4', sum, error);
    });
    narrowShort(s, 'f16');
  };
}
