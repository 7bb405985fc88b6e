/** The rules of float ops in WGSL. f16 and bf16 are bits in words, which compute as f32. */
import { bitsOf, type FcmpPredicate, type InstOf, type Type, type Value } from '../../ir/index.ts';
import { atom, type Expression, unary } from '../expression.ts';
import type { Printer, Rules } from '../language.ts';
import { cut, signed } from './integers.ts';
import { call, type Exactness, infix, isWide, typeName } from './types.ts';

type Typed = { readonly type: Type };

const isShort = (type: Type): boolean => type === 'f16' || type === 'bf16';
const shortName = (type: Type): string => (type === 'f16' ? 'half' : 'bfloat');

/** An operand as f32. */
function wide(p: Printer, value: Value): Expression {
  const type = p.typeOf(value);
  return isShort(type) ? call(p.helper(`float_of_${shortName(type)}`), p.use(value)) : p.use(value);
}

/** An f32 as a float of a type. */
const narrow = (p: Printer, type: Type, a: Expression): Expression =>
  isShort(type) ? call(p.helper(`${shortName(type)}_of_float`), a) : a;

const operators: Readonly<Record<string, string>> = { add: '+', sub: '-', mul: '*', div: '/' };

/** An operation on two f32: the operator where the backend is exact, a helper else. */
function applied(p: Printer, exact: Exactness, name: 'add' | 'sub' | 'mul' | 'div', a: Expression, b: Expression): Expression {
  const isNative = name === 'div' ? exact.division && exact.subnormals : exact.subnormals;
  if (!isNative) return call(p.helper(`${name}_f32`), a, b);
  const plain = infix(operators[name]!, a, b);
  return name === 'mul' && !exact.separate ? call(p.helper('separate'), plain) : plain;
}

/** A comparison of two f32. */
function compared(p: Printer, exact: Exactness, pred: FcmpPredicate, a: Expression, b: Expression): Expression {
  const not = (expression: Expression): Expression => unary('!', expression);
  const one = (name: 'eq' | 'lt' | 'le', x: Expression, y: Expression): Expression =>
    exact.subnormals ? infix({ eq: '==', lt: '<', le: '<=' }[name], x, y) : call(p.helper(`${name}_f32`), x, y);
  switch (pred) {
    case 'oeq':
      return one('eq', a, b);
    case 'une':
      return not(one('eq', a, b));
    case 'olt':
      return one('lt', a, b);
    case 'ole':
      return one('le', a, b);
    case 'ogt':
      return one('lt', b, a);
    case 'oge':
      return one('le', b, a);
    case 'ult':
      return not(one('le', b, a));
    case 'ule':
      return not(one('lt', b, a));
    case 'ugt':
      return not(one('le', a, b));
    case 'uge':
      return not(one('lt', a, b));
    case 'one':
      return infix('||', one('lt', a, b), one('lt', b, a));
    case 'ueq':
      return not(infix('||', one('lt', a, b), one('lt', b, a)));
    case 'ord':
      return call(p.helper('ord_f32'), a, b);
    case 'uno':
      return not(call(p.helper('ord_f32'), a, b));
  }
}

const natives: Readonly<Record<string, string>> = {
  exp2: 'exp2',
  log2: 'log2',
  sin: 'sin',
  cos: 'cos',
  tanh: 'tanh',
  rsqrt: 'inverseSqrt',
};

const toInteger =
  (isSigned: boolean) =>
  (p: Printer, { a, type }: { readonly a: Value } & Typed, value: Value): Expression =>
    type === 'i1'
      ? p.refuse(value, 'a float to a predicate', 'it has one bit')
      : call(p.helper(`sat_${isSigned ? 's' : 'u'}${bitsOf(type)}`), wide(p, a));

const fromInteger =
  (isSigned: boolean) =>
  (p: Printer, { a, type }: { readonly a: Value } & Typed): Expression => {
    const from = p.typeOf(a);
    const bits = bitsOf(from);
    if (bits <= 16) return narrow(p, type, call('f32', isSigned ? signed(p, a) : p.use(a)));
    const sign = isSigned ? 's' : 'u';
    const number = isWide(from) ? p.use(a) : isSigned ? call(p.helper('sext_u64'), p.use(a)) : call('u64', p.use(a), atom('0u'));
    // What is rounded again is rounded to odd before.
    return narrow(p, type, call(p.helper(`${isShort(type) ? 'odd_' : ''}float_of_${sign}64`), number));
  };

/** The rules, for a backend that is exact in so far. */
export function floatRules(exact: Exactness) {
  const binary =
    (name: 'add' | 'sub' | 'mul' | 'div') =>
    (p: Printer, { a, b, type }: { readonly a: Value; readonly b: Value } & Typed): Expression =>
      narrow(p, type, applied(p, exact, name, wide(p, a), wide(p, b)));
  const helped =
    (name: string, isNative: boolean, native = name) =>
    (p: Printer, { a, type }: { readonly a: Value } & Typed): Expression =>
      narrow(p, type, call(isNative ? native : p.helper(`${name}_f32`), wide(p, a)));
  const extreme =
    (name: 'min' | 'max') =>
    (p: Printer, { a, b, type }: { readonly a: Value; readonly b: Value } & Typed): Expression =>
      narrow(p, type, call(p.helper(`${name}_f32`), wide(p, a), wide(p, b)));
  const approximate = (name: string) => helped(name, exact.approximate, natives[name]);
  return {
    fadd: binary('add'),
    fsub: binary('sub'),
    fmul: binary('mul'),
    fdiv: binary('div'),
    fma(p, { a, b, c, type }) {
      const parts = [a, b, c].map((each) => wide(p, each));
      if (isShort(type)) return narrow(p, type, call(p.helper('odd_fma'), ...parts));
      return call(exact.fused && exact.subnormals ? 'fma' : p.helper(exact.fusedNormal ? 'fma_normal' : 'fma_f32'), ...parts);
    },
    fsqrt: helped('sqrt', exact.division && exact.subnormals),
    fneg: (p, { a, type }) => (isShort(type) ? cut('i16', infix('^', p.use(a), atom('0x8000u'))) : call(p.helper('neg_f32'), p.use(a))),
    fabs: (p, { a, type }) => (isShort(type) ? infix('&', p.use(a), atom('0x7fffu')) : call(p.helper('abs_f32'), p.use(a))),
    ftz: (p, { a }) => bitcast('i32', 'f32', call(p.helper('flushed'), bitcast('f32', 'i32', p.use(a)))),
    fmin: extreme('min'),
    fmax: extreme('max'),
    frint: helped('rint', false),
    ftrunc: helped('trunc', false),
    ffloor: helped('floor', false),
    fceil: helped('ceil', false),
    fexp2: approximate('exp2'),
    flog2: approximate('log2'),
    fsin: approximate('sin'),
    fcos: approximate('cos'),
    ftanh: approximate('tanh'),
    frcp: (p, { a }) => applied(p, exact, 'div', atom('1.0f'), wide(p, a)),
    frsqrt: approximate('rsqrt'),
    fcmp: (p, { a, b, pred }) => compared(p, exact, pred, wide(p, a), wide(p, b)),
    fptosi: toInteger(true),
    fptoui: toInteger(false),
    sitofp: fromInteger(true),
    uitofp: fromInteger(false),
    fpext: (p, { a }) => wide(p, a),
    fptrunc: (p, { a, type }) => narrow(p, type, wide(p, a)),
  } satisfies Partial<Rules>;
}

/** The bits of a scalar as another type of the same width. */
export function bitcast(from: Type, to: Type, a: Expression): Expression {
  const [x, y] = [typeName(from), typeName(to)];
  return x === y ? a : call(`bitcast<${y}>`, a);
}

/** The rule of `bitcast`. */
export const bitcastRule = (p: Printer, { a, type }: InstOf<'bitcast'>): Expression => bitcast(p.typeOf(a), type, p.use(a));
