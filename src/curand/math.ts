/**
 * Functions that distributions need, for f32 and f64: within some ulp. The polynomials are those of CUDA's headers (`cuda/include/cumetal/math`), which
 * `scripts/math` computes.
 */
import { constant, f32, f64, s32, s64, type Type, type Value } from '../build/index.ts';

/** A value as the body of a kernel sees it: f32 or f64. */
export type Real = Value<'f32'>;

const polynomials = {
  f32: {
    sin: [-0.000195107699255459, 0.008332130499184132, -0.16666653752326965],
    cos: [2.443123776174616e-5, -0.0013887305976822972, 0.04166664555668831],
    exp: [0.001395180937834084, 0.008369588293135166, 0.0416661873459816, 0.16666513681411743, 0.5],
    log: [0.23421336710453033, 0.28547021746635437, 0.40000152587890625],
  },
  f64: {
    sin: [
      -2.1719319119385688e-5, 0.00046628317737054117, -0.007370429926496335, 0.08214588658203742, -0.599264529320348, 2.5501640398773424,
      -5.16771278004997,
    ],
    cos: [
      -0.00010357784766925791, 0.0019294681669388939, -0.02580688587898318, 0.23533063020160463, -1.3352627688521885, 4.058712126416751,
      -4.934802200544679,
    ],
    exp: [
      2.092777154217146e-9, 2.5113427376446408e-8, 2.7557230480020025e-7, 2.7557230847258005e-6, 2.4801587377471635e-5,
      0.00019841269900430406, 0.0013888888888856235, 0.008333333333315388, 0.041666666666666734, 0.16666666666666685, 0.5,
    ],
    log: [
      0.11992298620536955, 0.11674424424156173, 0.1333633680372734, 0.1538455636824604, 0.18181818877659345, 0.22222222217476922,
      0.28571428571445356, 0.39999999999999974,
    ],
  },
} as const;

/** What the types have of their own: fraction bits, ln 2 in two parts, and the bits of the square root of a half. */
const formats = {
  f32: { type: f32, bits: s32, fraction: 23, bias: 127, ln2: [0.693145751953125, 1.428606765330187e-6], half: 0x3f3504f3n, limit: 105 },
  f64: {
    type: f64,
    bits: s64,
    fraction: 52,
    bias: 1023,
    ln2: [0.6931471805598903, 5.497923018708371e-14],
    half: 0x3fe6a09e667f3bcdn,
    limit: 746,
  },
} as const;
const nameOf = (x: Real): 'f32' | 'f64' => x.type as 'f32' | 'f64';
const evaluate = (coefficients: readonly number[], x: Real): Real =>
  coefficients
    .slice(1)
    .reduce<Real>((sum, c) => sum.fma(x, c), constant({ kind: 'scalar', name: x.type } as Type<'f32'>, coefficients[0]!));

/** The natural logarithm of a positive number that is not subnormal. */
export function log(x: Real): Real {
  const { type, bits, fraction, ln2, half } = formats[nameOf(x)];
  const raw = x.as(bits as never) as unknown as Value<'s32'>;
  const exponent = raw.sub(half as unknown as number).shr(fraction);
  const m = raw.sub(exponent.shl(fraction)).as(type as never) as unknown as Real;
  const e = exponent.to(type as never) as unknown as Real;
  const f = m.sub(1);
  const s = f.div(f.add(2));
  const z = s.mul(s);
  const rest = s.mul(z).mul(z.fma(evaluate(polynomials[nameOf(x)].log, z), 2 / 3));
  return e.fma(ln2[0], s.add(s).add(e.fma(ln2[1], rest)));
}

/** e to the power of a number. */
export function exp(given: Real): Real {
  const { type, bits, fraction, bias, ln2, limit } = formats[nameOf(given)];
  const x = given.max(-limit).min(limit);
  const n = x.mul(Math.LOG2E).rint();
  const r = n.neg().fma(ln2[1], n.neg().fma(ln2[0], x));
  const value = r
    .mul(r)
    .fma(evaluate(polynomials[nameOf(x)].exp, r), r)
    .add(1);
  const whole = n.to(bits as never) as unknown as Value<'s32'>;
  // In two steps, of which neither overflows alone.
  const first = whole.shr(1);
  const power = (e: Value<'s32'>): Real =>
    e
      .add(bias)
      .shl(fraction)
      .as(type as never) as unknown as Real;
  const result = value.mul(power(first)).mul(power(whole.sub(first)));
  return given.isNan().select(given, result);
}

interface Turn {
  readonly sine: Real;
  readonly cosine: Real;
}

/** Sine and cosine by their values in a quarter turn around 0, and the number of quarter turns. */
function turned({ sine, cosine }: Turn, quarters: Value<'s32'>): Turn {
  const isOdd = quarters.and(1).ne(0);
  const [s, c] = [isOdd.select(cosine, sine), isOdd.select(sine, cosine)];
  const isBehind = quarters.and(2).ne(0);
  const isLeft = quarters.add(1).and(2).ne(0);
  return { sine: isBehind.select(s.neg(), s), cosine: isLeft.select(c.neg(), c) };
}

/** Sine and cosine of an angle of f32 from 0 to 2π, in radians. */
export function sineAndCosine(x: Real): Turn {
  const n = x.mul(2 / Math.PI).rint();
  const high = Math.fround(Math.PI / 2);
  const r = n.neg().fma(Math.PI / 2 - high, n.neg().fma(high, x));
  const z = r.mul(r);
  const sine = r.mul(z).fma(evaluate(polynomials.f32.sin, z), r);
  const cosine = z.mul(z).fma(evaluate(polynomials.f32.cos, z), z.fma(-0.5, 1));
  return turned({ sine, cosine }, n.to(s32));
}

/** Sine and cosine of π times a number of f64 from 0 to 2. */
export function sineAndCosineOfPi(x: Real): Turn {
  const n = x.add(x).rint();
  const r = n.fma(-0.5, x);
  const z = r.mul(r);
  const sine = r.mul(z).fma(evaluate(polynomials.f64.sin, z), r.mul(Math.PI));
  const cosine = z.fma(evaluate(polynomials.f64.cos, z), 1);
  return turned({ sine, cosine }, n.to(s32));
}
