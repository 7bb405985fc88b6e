/** The inverse of the normal distribution function. Source: M. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988 (PPND16). */
import { constant, f64, local, type Value, when } from '../build/index.ts';
import { log, type Real } from './math.ts';

type Polynomial = readonly number[];
/** Numerators and denominators from the highest power on: in the middle, in the tails, and far in the tails. */
const middle: readonly [Polynomial, Polynomial] = [
  [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513, 133.14166789178438,
    3.3871328727963665,
  ],
  [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579, 42.31333070160091,
    1,
  ],
];
const tail: readonly [Polynomial, Polynomial] = [
  [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045, 5.769497221460691,
    4.630337846156546, 1.4234371107496835,
  ],
  [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851, 1.6763848301838038,
    2.053191626637759, 1,
  ],
];
const far: readonly [Polynomial, Polynomial] = [
  [
    2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487, 1.7848265399172913,
    5.463784911164114, 6.657904643501103,
  ],
  [
    2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133, 0.014875361290850615, 0.1369298809227358,
    0.599832206555888, 1,
  ],
];

const evaluate = (coefficients: Polynomial, x: Real): Real =>
  coefficients.slice(1).reduce<Real>((sum, c) => sum.fma(x, c), constant(f64, coefficients[0]!) as unknown as Real);
const ratio = ([above, below]: readonly [Polynomial, Polynomial], x: Real): Real => evaluate(above, x).div(evaluate(below, x));

/** The number below which a share of the normal distribution is: of a share from 2^-65 to a half, in f64 within 1e-15. */
export function normalQuantile(share: Value<'f64'>): Value<'f64'> {
  const p = share as unknown as Real;
  const result = local(f64, 0);
  const set = (value: Real): void => result.set(value as unknown as Value<'f64'>);
  const q = p.sub(0.5);
  when(
    q.ge(-0.425),
    () => set(q.mul(ratio(middle, q.neg().fma(q, 0.180625)))),
    () => {
      const r = log(p).neg().sqrt();
      when(
        r.le(5),
        () => set(ratio(tail, r.sub(1.6)).neg()),
        () => set(ratio(far, r.sub(5)).neg()),
      );
    },
  );
  return result.get();
}
