/** Functions of f32 that kernels of the library share, for use in the body of any kernel. */
import { constant, f32, type Operand, type Value } from '../build/index.ts';

type Real = Value<'f32'>;

/** `1 / (1 + exp(-x))`: within 4 ulp. */
export const sigmoid = (x: Real): Real => constant(f32, 1).div(x.neg().exp().add(1));

/** Coefficients of `z² + ln(erfc(z)) - ln(t)` in powers of `t = 1 / (1 + z / 2)`: interpolated at Chebyshev nodes, within 9.3e-8 for all z from 0 on. */
const tail = [
  -1.2655122095151632, 1.0000205548699612, 0.37419509419864133, 0.0954640683902737, -0.17770727605367992, 0.24683315666780908,
  -1.0623973561881441, 1.3861065548958504, -0.7351043078795919, 0.12990905036829645, 0.008192745021078736,
] as const;

/** The distribution function of the standard normal distribution: an absolute error of 4e-7. */
export function normalDistribution(x: Real): Real {
  const z = x.abs().mul(Math.SQRT1_2);
  const t = constant(f32, 1).div(z.fma(0.5, 1));
  const sum = tail.reduceRight<Real>((value, c) => value.fma(t, c), constant(f32, 0));
  const half = t.mul(sum.sub(z.mul(z)).exp()).mul(0.5);
  return x.lt(0).select(half, constant(f32, 1).sub(half));
}

const tanhScale = Math.sqrt(2 / Math.PI);
const cubic = 0.044715;

/** Twice the argument of the hyperbolic tangent in the fast form of GELU. */
const twiceInner = (x: Real): Real => x.mul(2 * tanhScale).mul(x.mul(x).fma(cubic, 1));

/** Functions of one value, by name: `gelu` is by the error function, `geluTanh` by the hyperbolic tangent. */
export const activations = {
  identity: (x: Real): Real => x,
  relu: (x: Real): Real => x.max(0, { nan: true }),
  silu: (x: Real): Real => x.div(x.neg().exp().add(1)),
  sigmoid,
  gelu: (x: Real): Real => x.mul(normalDistribution(x)),
  // 0.5 * (1 + tanh(u)) is sigmoid(2u), which has no cancellation.
  geluTanh: (x: Real): Real => x.mul(sigmoid(twiceInner(x))),
} as const;

/** The name of an activation. */
export type Activation = keyof typeof activations;

/** The derivatives of the activations at x. */
export const derivatives = {
  identity: (): Real => constant(f32, 1),
  relu: (x: Real): Real => x.gt(0).select(constant(f32, 1), 0),
  silu: (x: Real): Real => {
    const s = sigmoid(x);
    return s.mul(x.mul(constant(f32, 1).sub(s)).add(1));
  },
  sigmoid: (x: Real): Real => {
    const s = sigmoid(x);
    return s.mul(constant(f32, 1).sub(s));
  },
  gelu: (x: Real): Real => {
    const density = x
      .mul(x)
      .mul(-0.5)
      .exp()
      .mul(1 / Math.sqrt(2 * Math.PI));
    return x.fma(density, normalDistribution(x));
  },
  geluTanh: (x: Real): Real => {
    // Beyond 64 the function is x or 0; the square is kept finite.
    const near = x.max(-64).min(64);
    const s = sigmoid(twiceInner(near));
    const slope = near.mul(near).fma(3 * cubic, 1);
    return s.add(
      near
        .mul(s)
        .mul(constant(f32, 1).sub(s))
        .mul(slope.mul(2 * tanhScale)),
    );
  },
} as const satisfies Record<Activation, (x: Real) => Real>;

/** The larger of two values; NaN if one is. */
export const larger = (a: Real, b: Operand<'f32'>): Real => a.max(b, { nan: true });
/** The sum of two values. */
export const plus = (a: Real, b: Real): Real => a.add(b);
