/**
 * Fused multiply-add of pairs of doubles as a WebAssembly function, for products of matrices. It is that of `simd/rules/fma-f64-f16.ts`: TwoProduct
 * and TwoSum, whose errors are added with rounding to odd; what is too small or not finite is left to the host. Native code has an instruction.
 */
import type { Code, WasmModule } from '../../wasm/index.ts';
import { pushRoundedToOdd, twoSum } from './error-free.ts';
import type { Host } from './host.ts';

const longs = (bits: bigint): number[] => {
  const [low, high] = [Number(BigInt.asIntN(32, bits)), Number(BigInt.asIntN(32, bits >> 32n))];
  return [low, high, low, high];
};

/** The low 27 bits of an f64 significand, half of their range, and the smallest product whose error is sure to be an f64: 2^-900. */
const splitMask = (1n << 27n) - 1n;
const splitHalf = 1n << 26n;
const minProduct = 123n << 52n;

/** Writes the function (a, b, c) of vectors of two doubles that gives a * b + c, and returns its index. */
export function writeFusedDoubles(module: WasmModule, { functions: host, target }: Host): number {
  const { index, code } = module.fn({ params: ['v128', 'v128', 'v128'], results: ['v128'] });
  const [a, b, c] = [0, 1, 2] as const;
  if (target) {
    for (const param of [a, b, c]) code.at('local.get', param);
    code.op('f64x2.relaxed_madd');
    return index;
  }
  const [aHigh, bHigh, product, sum, sumError, error, result, rest] = Array.from({ length: 8 }, () => code.local('v128')) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const get = (...each: number[]): void => each.forEach((local) => void code.at('local.get', local));
  for (const [whole, high] of [
    [a, aHigh],
    [b, bHigh],
  ] as const) {
    get(whole);
    code.v128(longs(splitHalf));
    code.op('i64x2.add');
    code.v128(longs(BigInt.asUintN(64, ~splitMask)));
    code.op('v128.and');
    code.at('local.set', high);
  }
  writeProduct(code, { a, b, aHigh, bHigh, product, error });
  twoSum(code, 'f64x2', [product, c], sum, rest);
  code.at('local.set', sumError);
  twoSum(code, 'f64x2', [sumError, error], result, rest);
  code.at('local.set', error);
  get(sum);
  pushRoundedToOdd(code, 'f64x2', result, error);
  code.op('f64x2.add');
  code.at('local.set', result);
  pushIsCertain(code, { a, b, product, result });
  code.op('i64x2.all_true');
  code.op('i32.eqz');
  code.open('if');
  writeByHost(code, host, [a, b, c], result);
  code.end();
  get(result);
  return index;
}

type Locals<K extends string> = Readonly<Record<K, number>>;

/** Sets the product and its error (TwoProduct): al * bl - (((product - ah * bh) - al * bh) - ah * bl). */
function writeProduct(
  code: Code,
  { a, b, aHigh, bHigh, product, error }: Locals<'a' | 'b' | 'aHigh' | 'bHigh' | 'product' | 'error'>,
): void {
  const get = (...each: number[]): void => each.forEach((local) => void code.at('local.get', local));
  const low = (whole: number, high: number): void => {
    get(whole, high);
    code.op('f64x2.sub');
  };
  get(a, b);
  code.op('f64x2.mul');
  code.at('local.set', product);
  low(a, aHigh);
  low(b, bHigh);
  code.op('f64x2.mul');
  get(product, aHigh, bHigh);
  code.op('f64x2.mul');
  code.op('f64x2.sub');
  low(a, aHigh);
  get(bHigh);
  code.op('f64x2.mul');
  code.op('f64x2.sub');
  get(aHigh);
  low(b, bHigh);
  code.op('f64x2.mul');
  code.op('f64x2.sub');
  code.op('f64x2.sub');
  code.at('local.set', error);
}

/** Pushes the lanes whose result is certain: it is finite, and the product exact, or large enough that its error is an f64. */
function pushIsCertain(code: Code, { a, b, product, result }: Locals<'a' | 'b' | 'product' | 'result'>): void {
  const get = (...each: number[]): void => each.forEach((local) => void code.at('local.get', local));
  get(product);
  code.op('f64x2.abs');
  code.v128(longs(minProduct));
  code.op('f64x2.ge');
  // A product with a zero is exact.
  for (const factor of [a, b]) {
    get(factor);
    code.v128([0, 0, 0, 0]);
    code.op('f64x2.eq');
    code.op('v128.or');
  }
  get(result, result);
  code.op('f64x2.sub');
  code.v128([0, 0, 0, 0]);
  code.op('f64x2.eq');
  code.op('v128.and');
}

function writeByHost(code: Code, host: Host['functions'], operands: readonly number[], result: number): void {
  for (const lane of [0, 1]) {
    code.at('local.get', result);
    for (const operand of operands) {
      code.at('local.get', operand);
      code.lane('f64x2.extract_lane', lane);
    }
    code.at('call', host.fmaF64);
    code.lane('f64x2.replace_lane', lane);
    code.at('local.set', result);
  }
}
