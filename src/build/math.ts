/** Functions of floats: PTX's own, and compositions of them. Source: PTX ISA 9.0, 9.7.3. */
import { fromSingle, toSingle } from './arithmetic.ts';
import { computed, type Handle, inRegister, nodeOf } from './handle.ts';
import { nameNode } from './nodes.ts';
import { assertNearest, assertOptions, type DivisionOptions } from './options.ts';
import { isFloat, type TypeName, types } from './types.ts';

const isHalf = (type: TypeName): boolean => types[type].bits === 16 && isFloat(type);

/** A function of one f32; halves go through f32. */
function ofSingle(a: Handle, run: (single: ReturnType<typeof nodeOf>) => string): string {
  const node = inRegister(a.type, a);
  return isHalf(a.type) ? fromSingle(a.type, run(nameNode(toSingle(a.type, node)))) : run(node);
}

/** The options of a root or a reciprocal. */
function rootOptions({ type }: Handle, options: DivisionOptions): Required<DivisionOptions> {
  assertOptions('division', type, options);
  const { mode = 'rn', ftz = false } = options;
  if (isHalf(type)) assertNearest(type, mode);
  return { mode, ftz };
}

/** The square root, rounded once. */
export function squareRoot(a: Handle, options: DivisionOptions = {}): string {
  const { mode, ftz } = rootOptions(a, options);
  if (a.type === 'f64') return computed('f64', `sqrt.${mode}.f64`, [inRegister('f64', a)]);
  return ofSingle(a, (node) => computed('f32', `sqrt.${mode}${ftz ? '.ftz' : ''}.f32`, [node]));
}

/** `1 / a` */
export function reciprocal(a: Handle, options: DivisionOptions = {}): string {
  const { mode, ftz } = rootOptions(a, options);
  if (a.type === 'f64') return computed('f64', `rcp.${mode}.f64`, [inRegister('f64', a)]);
  return ofSingle(a, (node) => computed('f32', `rcp.${mode}${ftz ? '.ftz' : ''}.f32`, [node]));
}

/** PTX's approximations of functions of f32. */
export type Approximation = 'rsqrt' | 'ex2' | 'lg2' | 'sin' | 'cos' | 'tanh';

/** An approximation. */
export function approximate(name: Approximation, a: Handle, ftz = false): string {
  if (a.type === 'f64') return computed('f64', `${name}.approx.f64`, [inRegister('f64', a)]);
  return ofSingle(a, (node) => computed('f32', `${name}.approx${ftz && name !== 'tanh' ? '.ftz' : ''}.f32`, [node]));
}

const single = (name: string, ...operands: (string | number)[]): string =>
  computed(
    'f32',
    name,
    operands.map((each) => (typeof each === 'number' ? nodeOf('f32', each) : nameNode(each))),
  );

/** log2(e), and ln(2) in two parts of which the first has few bits, so that its products are exact. */
const log2e = Math.LOG2E;
const ln2 = { high: 0.693145751953125, low: 1.428606765330187e-6 } as const;

/**
 * e to the power of a. The argument is reduced to a whole power of two and a rest of at most ln(2)/2, so that the error does not grow with it:
 * at most 1 ulp besides that of `ex2.approx`.
 */
export function exponential(a: Handle): string {
  return ofSingle(a, (node) => {
    const x = computed('f32', 'mov.f32', [node]);
    const whole = single('cvt.rni.f32.f32', single('mul.rn.f32', x, log2e));
    const rest = single('fma.rn.f32', whole, -ln2.low, single('fma.rn.f32', whole, -ln2.high, x));
    const power = single('ex2.approx.f32', single('mul.rn.f32', rest, log2e));
    // In two steps, because the power of two alone may be beyond the range where the result is not.
    const half = single('cvt.rmi.f32.f32', single('mul.rn.f32', single('max.f32', single('min.f32', whole, 300), -300), 0.5));
    const other = single('sub.rn.f32', single('max.f32', single('min.f32', whole, 300), -300), half);
    const scaled = single('mul.rn.f32', power, single('ex2.approx.f32', half));
    const result = single('mul.rn.f32', scaled, single('ex2.approx.f32', other));
    // Infinities have no rest.
    const isHuge = computed('pred', 'setp.gt.f32', [nameNode(x), nodeOf('f32', 128)]);
    const isTiny = computed('pred', 'setp.lt.f32', [nameNode(x), nodeOf('f32', -128)]);
    const above = computed('f32', 'selp.f32', [nodeOf('f32', Number.POSITIVE_INFINITY), nameNode(result), nameNode(isHuge)]);
    return computed('f32', 'selp.f32', [nodeOf('f32', 0), nameNode(above), nameNode(isTiny)]);
  });
}

/** The natural logarithm as `lg2.approx` times ln(2): within 2^-20.5 of it for results near 0, and 2 ulp elsewhere. */
export const logarithm = (a: Handle): string =>
  ofSingle(a, (node) => single('mul.rn.f32', computed('f32', 'lg2.approx.f32', [node]), Math.LN2));
