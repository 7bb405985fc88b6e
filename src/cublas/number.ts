/** Numbers of the library's kernels: real and complex ones under the same operations. Complex ones are pairs in memory, the real part first. */
import {
  constant,
  f32,
  f64,
  type Index,
  local,
  type Pointer,
  type Space,
  shared,
  type Type,
  type Value,
  type Variable,
  type Writable,
} from '../build/index.ts';
import { productSum } from '../kernels/product-sum.ts';

/** The letter of a type in the names of BLAS: single, double, complex, double complex. */
export type Letter = 'S' | 'D' | 'C' | 'Z';
/** A real value as the body of a kernel sees it: f32 or f64. */
export type Real = Value<'f32'>;
/** Memory of reals. */
export type Reals<S extends Space = 'global'> = Pointer<'f32', S>;

/** What a number is made of. */
export interface Number {
  readonly re: Real;
  /** Absent of real numbers. */
  readonly im?: Real;
}
/** A number that changes. */
export interface Changing {
  readonly re: Variable<'f32'>;
  readonly im?: Variable<'f32'>;
}

/** Whether numbers of a type are complex. */
export const isComplex = (letter: Letter): boolean => letter === 'C' || letter === 'Z';
/** The type of the parts of a number. */
export const realType = (letter: Letter): Type<'f32'> => (letter === 'S' || letter === 'C' ? f32 : f64) as unknown as Type<'f32'>;
/** The reals of a number. */
export const partsOf = (letter: Letter): 1 | 2 => (isComplex(letter) ? 2 : 1);

/** The number at an index of numbers. */
export function load<S extends Space>(letter: Letter, from: Pointer<'f32', S>, index: Index): Number {
  if (!isComplex(letter)) return { re: from.at(index).get() };
  const place = from.add(index).add(index);
  return { re: place.at(0).get(), im: place.at(1).get() };
}
/** Stores a number. */
export function store<S extends Writable>(letter: Letter, to: Pointer<'f32', S>, index: Index, value: Number): void {
  if (!isComplex(letter)) return to.at(index).set(value.re);
  const place = to.add(index).add(index);
  place.at(0).set(value.re);
  place.at(1).set(value.im ?? 0);
}

const zeroOf = (value: Real): Real => constant({ kind: 'scalar', name: value.type } as Type<'f32'>, 0);

export const add = (a: Number, b: Number): Number => ({ re: a.re.add(b.re), ...(a.im && b.im ? { im: a.im.add(b.im) } : {}) });
export const subtract = (a: Number, b: Number): Number => ({ re: a.re.sub(b.re), ...(a.im && b.im ? { im: a.im.sub(b.im) } : {}) });
export const conjugate = ({ re, im }: Number): Number => (im ? { re, im: im.neg() } : { re });
/** A number without its imaginary part. */
export const realPart = ({ re, im }: Number): Number => (im ? { re, im: zeroOf(re) } : { re });
/** `a * b + c`. */
export function multiplyAdd(a: Number, b: Number, c: Number): Number {
  const re = productSum(a.re, b.re, c.re);
  if (!(a.im && b.im && c.im)) return { re };
  return { re: productSum(a.im.neg(), b.im, re), im: productSum(a.re, b.im, productSum(a.im, b.re, c.im)) };
}
/** The product. */
export function multiply(a: Number, b: Number): Number {
  if (!(a.im && b.im)) return { re: a.re.mul(b.re) };
  return { re: productSum(a.re, b.re, a.im.mul(b.im).neg()), im: productSum(a.re, b.im, a.im.mul(b.re)) };
}
/** The quotient. Source: R. Smith, "Algorithm 116: complex division", 1962: it does not overflow where the quotient does not. */
export function divide(a: Number, b: Number): Number {
  if (!(a.im && b.im)) return { re: a.re.div(b.re) };
  const isReal = b.re.abs().ge(b.im.abs());
  const [big, small] = [isReal.select(b.re, b.im), isReal.select(b.im, b.re)];
  const q = small.div(big);
  const d = small.fma(q, big);
  const [p, r] = [isReal.select(a.re, a.im), isReal.select(a.im, a.re)];
  const re = r.fma(q, p).div(d);
  const im = isReal.select(r.sub(p.mul(q)), p.mul(q).sub(r)).div(d);
  return { re, im };
}
/** `|re| + |im|`, by which BLAS compares. */
export const size1 = ({ re, im }: Number): Real => (im ? re.abs().add(im.abs()) : re.abs());
/** Whether it is not 0. */
export const isNotZero = ({ re, im }: Number): Value<'pred'> => (im ? re.ne(0).or(im.ne(0)) : re.ne(0));
/** One of two numbers. */
export const select = (condition: Value<'pred'>, a: Number, b: Number): Number => ({
  re: condition.select(a.re, b.re),
  ...(a.im && b.im ? { im: condition.select(a.im, b.im) } : {}),
});

/** A constant of a type. */
export const numberOf = (letter: Letter, re: number): Number => ({
  re: constant(realType(letter), re),
  ...(isComplex(letter) ? { im: constant(realType(letter), 0) } : {}),
});
/** A number that changes. */
export function changing(letter: Letter, initial: Number): Changing {
  const type = realType(letter);
  return isComplex(letter) ? { re: local(type, initial.re), im: local(type, initial.im ?? 0) } : { re: local(type, initial.re) };
}
/** Gives it another value. */
export function assign(to: Changing, value: Number): void {
  // Both parts are computed before one changes.
  const [re, im] = [value.re, value.im];
  to.re.set(re);
  if (to.im && im) to.im.set(im);
}
/** What it is now. */
export const now = ({ re, im }: Changing): Number => (im ? { re: re.get(), im: im.get() } : { re: re.get() });

/** Numbers in shared memory. */
export const sharedNumbers = (letter: Letter, count: number): Reals<'shared'> => shared(realType(letter), count * partsOf(letter));
