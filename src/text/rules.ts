/** The rules of pure ops that the languages of the C family share. Integers are unsigned; a signed operation casts its operands. */
import { bug } from '../base/bug.ts';
import {
  bitsOf,
  constantOf,
  type FcmpPredicate,
  type Inst,
  isFloat,
  type Op,
  type ScalarType,
  type Type,
  type Value,
} from '../ir/index.ts';
import { peeled, type Terms } from './addresses.ts';
import { atom, binary, call, cast, choice, type Expression, made, negated, operand, strength, unary } from './expression.ts';
import type { Printer, Rules } from './language.ts';

type Two = { readonly a: Value; readonly b: Value };
type Typed = { readonly type: Type };

/** Operations of `int` on operands below 32 bits give an `int`, which is cut to the type. */
export function narrowed(p: Printer, type: Type, expression: Expression): Expression {
  return bitsOf(type) < 32 ? cast(p.language.typeName(type), expression) : expression;
}

/** An operand as a signed integer. */
export const signed = (p: Printer, value: Value): Expression => {
  const type = p.typeOf(value);
  const known = constantOf(p.kernel, value);
  if (known !== undefined && type === 'i32') {
    const number = BigInt.asIntN(32, known);
    if (number > -(2n ** 31n)) return number < 0n ? { ...atom(`${number}`), strength: strength.unary } : atom(`${number}`);
  }
  return type === 'i1' ? unary('-', cast('int', p.use(value))) : cast(p.language.signedName(type), p.use(value));
};

/** Truth values compute with logical operators. */
const onBits: Readonly<Record<string, string>> = { '+': '!=', '-': '!=', '*': '&&', '&': '&&', '|': '||', '^': '!=' };

const arithmetic =
  (operator: string) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression => {
    if (type === 'i1') {
      if (operator === '^' && constantOf(p.kernel, b) === 1n) return negated(p.use(a));
      return binary(onBits[operator]!, p.use(a), p.use(b));
    }
    const known = constantOf(p.kernel, b);
    if (operator === '+' && known !== undefined && known >> BigInt(bitsOf(type) - 1) === 1n && bitsOf(type) >= 32) {
      const positive = BigInt.asUintN(bitsOf(type), -known);
      if (positive < 2n ** 31n) return binary('-', p.use(a), p.language.constant(type as ScalarType, positive));
    }
    if (operator === '^' && known === (1n << BigInt(bitsOf(type))) - 1n) return narrowed(p, type, unary('~', p.use(a)));
    // A product of two 16-bit numbers does not fit an `int`.
    if (operator === '*' && bitsOf(type) === 16) return cast(p.language.typeName(type), binary('*', cast('uint', p.use(a)), p.use(b)));
    return narrowed(p, type, binary(operator, p.use(a), p.use(b)));
  };

const shift =
  (operator: '<<' | '>>', isArithmetic = false) =>
  (p: Printer, { a, b, type }: Two & Typed, value: Value): Expression => {
    if (type === 'i1') return p.refuse(value, 'a shift of a predicate', 'it has one bit');
    const bits = BigInt(bitsOf(type));
    const known = constantOf(p.kernel, b);
    const zero = p.language.constant(type as ScalarType, 0n);
    const shifted = (count: Expression): Expression => {
      const number = isArithmetic ? signed(p, a) : p.use(a);
      const result = binary(operator, number, count);
      return isArithmetic ? cast(p.language.typeName(type), result) : narrowed(p, type, result);
    };
    if (known !== undefined) {
      if (known < bits) return shifted(atom(String(known)));
      return isArithmetic ? shifted(atom(String(bits - 1n))) : zero;
    }
    const name = `${isArithmetic ? 'ashr' : operator === '<<' ? 'shl' : 'lshr'}_${p.language.typeName(type)}`;
    return call(p.helper(name), p.use(a), p.use(b));
  };

const divide =
  (operator: '/' | '%', isSigned: boolean) =>
  (p: Printer, { a, b, type }: Two & Typed, value: Value): Expression => {
    if (type === 'i1') return p.refuse(value, 'a division of predicates', 'they have one bit');
    const known = constantOf(p.kernel, b);
    const isPlain = known !== undefined && known !== 0n && !(isSigned && known === (1n << BigInt(bitsOf(type))) - 1n);
    if (isPlain && isSigned) return cast(p.language.typeName(type), binary(operator, signed(p, a), signed(p, b)));
    if (isPlain) return narrowed(p, type, binary(operator, p.use(a), p.use(b)));
    const name = `${isSigned ? 's' : 'u'}${operator === '/' ? 'div' : 'rem'}_${p.language.typeName(type)}`;
    return call(p.helper(name), p.use(a), p.use(b));
  };

const extreme =
  (name: 'min' | 'max', isSigned: boolean) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression => {
    if (type === 'i1') return binary((name === 'min') === isSigned ? '||' : '&&', p.use(a), p.use(b));
    if (!isSigned) return call(name, p.use(a), p.use(b));
    const of = (value: Value): Expression => cast(p.language.signedName(type), p.use(value));
    return cast(p.language.typeName(type), call(name, of(a), of(b)));
  };

const inverses = { '==': '!=', '!=': '==', '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const;

/** A comparison of integers, whose negation is another one. */
function ordered(operator: keyof typeof inverses, a: Expression, b: Expression): Expression {
  const found = binary(operator, a, b);
  const other = binary(inverses[operator], a, b);
  return found.strength === other.strength ? { ...found, inverse: other.text } : found;
}

const comparisons = { eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;

function compare(p: Printer, { a, b, pred }: Two & { readonly pred: string }): Expression {
  const operator = comparisons[pred.slice(-2) as keyof typeof comparisons];
  const known = constantOf(p.kernel, b);
  if (p.typeOf(a) === 'i1') {
    if (pred === 'eq' || pred === 'ne') {
      if (known !== undefined) return (known === 1n) === (pred === 'eq') ? p.use(a) : negated(p.use(a));
      return binary(operator, p.use(a), p.use(b));
    }
    return pred.startsWith('s')
      ? binary(operator, signed(p, a), signed(p, b))
      : binary(operator, cast('uint', p.use(a)), cast('uint', p.use(b)));
  }
  return pred.startsWith('s') ? ordered(operator, signed(p, a), signed(p, b)) : ordered(operator, p.use(a), p.use(b));
}

/** How a float comparison is written, of operands that are values of `float` or `double`. */
export function floatComparison(p: Printer, pred: FcmpPredicate, a: Expression, b: Expression, suffix: string): Expression {
  switch (pred) {
    case 'oeq':
      return binary('==', a, b);
    case 'olt':
      return binary('<', a, b);
    case 'ole':
      return binary('<=', a, b);
    case 'ogt':
      return binary('>', a, b);
    case 'oge':
      return binary('>=', a, b);
    case 'une':
      return binary('!=', a, b);
    case 'ult':
      return unary('!', binary('>=', a, b));
    case 'ule':
      return unary('!', binary('>', a, b));
    case 'ugt':
      return unary('!', binary('<=', a, b));
    case 'uge':
      return unary('!', binary('<', a, b));
    case 'one':
      return call(p.helper(`one_${suffix}`), a, b);
    case 'ueq':
      return unary('!', call(p.helper(`one_${suffix}`), a, b));
    case 'ord':
      return call(p.helper(`ord_${suffix}`), a, b);
    case 'uno':
      return unary('!', call(p.helper(`ord_${suffix}`), a, b));
  }
}

/** A sum of scaled values and a constant, as an index. */
export function sumOf(p: Printer, { terms, constant }: Terms): Expression | undefined {
  const parts = terms.map(({ value, scale }) => ({ of: partOf(p, value), scale }));
  const isOne = parts.length + (constant === 0n ? 0 : 1) === 1 && (parts[0]?.scale ?? 1n) === 1n;
  let sum: Expression | undefined;
  for (const [i, { of, scale }] of parts.entries()) {
    const factor = scale < 0n ? -scale : scale;
    const wide = !isOne && (i === 0 || factor !== 1n) ? cast('long', of) : of;
    const part = factor === 1n ? wide : binary('*', wide, atom(String(factor)));
    sum = joined(sum, part, scale < 0n);
  }
  if (constant === 0n) return sum;
  if (!sum) return atom(String(constant));
  return binary(constant < 0n ? '-' : '+', sum, atom(String(constant < 0n ? -constant : constant)));
}

/** A sum with one more part. */
function joined(sum: Expression | undefined, part: Expression, isMinus: boolean): Expression {
  if (sum) return binary(isMinus ? '-' : '+', sum, part);
  return isMinus ? unary('-', part) : part;
}

/** A term; extensions of 32-bit numbers are those of C. */
function partOf(p: Printer, value: Value): Expression {
  const inst = p.kernel.insts[value]!;
  const inner = peeled(p.kernel, value);
  if (inner === value) return p.use(value);
  return inst.op === 'sext' ? cast('int', p.use(inner)) : p.use(inner);
}

const letters = ['x', 'y', 'z', 'w'] as const;

const convertInt = (p: Printer, { a, type }: { a: Value } & Typed): Expression =>
  type === 'i1' ? binary('!=', binary('&', p.use(a), atom('1')), atom('0')) : cast(p.language.typeName(type), p.use(a));

const absent =
  (what: string) =>
  (p: Printer): never =>
    bug(`${p.kernel.name} has ${what}`);

/** The rules that do not depend on the language. */
export const commonRules = {
  const: (p, { type, bits }, value) =>
    p.addresses.isOffset(type, value) ? atom(`${bits}ul`) : p.language.constant(type as ScalarType, bits),
  arg: absent('a block parameter in a body'),
  sreg: (p, { name }) => p.sreg(name),
  add: arithmetic('+'),
  sub: arithmetic('-'),
  mul: arithmetic('*'),
  sdiv: divide('/', true),
  udiv: divide('/', false),
  srem: divide('%', true),
  urem: divide('%', false),
  and: arithmetic('&'),
  or: arithmetic('|'),
  xor: arithmetic('^'),
  shl: shift('<<'),
  lshr: shift('>>'),
  ashr: shift('>>', true),
  smin: extreme('min', true),
  smax: extreme('max', true),
  umin: extreme('min', false),
  umax: extreme('max', false),
  clz: (p, { a, type }, value) => (type === 'i1' ? p.refuse(value, 'clz of a predicate', 'it has one bit') : call('clz', p.use(a))),
  popcount: (p, { a, type }, value) =>
    type === 'i1' ? p.refuse(value, 'popcount of a predicate', 'it has one bit') : call('popcount', p.use(a)),
  icmp: compare,
  trunc: convertInt,
  zext: (p, { a, type }) => cast(p.language.typeName(type), p.use(a)),
  sext: (p, { a, type }) => cast(p.language.typeName(type), cast(p.language.signedName(type), signed(p, a))),
  bitcast: (p, { a, type }) => p.language.bitcast(p.typeOf(a), type, p.use(a)),
  call1: (p, { fn, a }) => call(p.helper(`fn ${fn}`), p.use(a)),
  call2: (p, { fn, a, b }) => call(p.helper(`fn ${fn}`), p.use(a), p.use(b)),
  call3: (p, { fn, a, b, c }) => call(p.helper(`fn ${fn}`), p.use(a), p.use(b), p.use(c)),
  select: (p, { cond, a, b }) => choice(p.use(cond), p.use(a), p.use(b)),
  extract: (p, { a, lane }) => made(`${operand(p.use(a), strength.primary)}.${letters[lane]!}`, strength.primary, [p.use(a)]),
  fetch: absent('a function that reads memory'),
  exchange: absent('a function that exchanges values'),
  isspace: absent('an address-space test that lowering did not resolve'),
  yield: absent('a yield outside the scheduler'),
  members: absent('a mask of the fast sanitizer'),
  input: absent('instructions of PTX'),
  asm: absent('instructions of PTX'),
  output: absent('instructions of PTX'),
  mark: () => undefined,
  within: absent('an access check of the CPU device'),
  addressable: absent('an access check of the CPU device'),
  aligned: absent('an access check of the CPU device'),
  guard: absent('an access check of the CPU device'),
} satisfies Partial<Rules>;

/** A float constant as a decimal number that reads back as the same bits; undefined for infinities and NaN. */
export function decimal(type: 'f32' | 'f64', bits: bigint): string | undefined {
  const view = new DataView(new ArrayBuffer(8));
  if (type === 'f32') view.setUint32(0, Number(bits));
  else view.setBigUint64(0, bits);
  const value = type === 'f32' ? view.getFloat32(0) : view.getFloat64(0);
  if (!Number.isFinite(value)) return undefined;
  let text = Object.is(value, -0) ? '-0' : String(value);
  for (let digits = 1; type === 'f32' && digits <= 9; digits++) {
    const short = value.toPrecision(digits);
    if (Math.fround(Number(short)) !== value) continue;
    text = Object.is(value, -0) ? '-0' : String(Number(short));
    break;
  }
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** An integer constant: decimal where that is short, hexadecimal else. */
export function integer(bits: bigint, suffix: string): string {
  return bits < 100_000n ? `${bits}${suffix}` : `0x${bits.toString(16)}${suffix}`;
}

/** Whether an op has a float result or operand. */
export const isFloatType = (type: Type): boolean => isFloat(type);

/** Ops that no rule above has, which each language adds. */
export type OwnRules = Omit<Rules, keyof typeof commonRules>;

/** Names an op in a message. */
export const nameOf = ({ op }: Inst): Op => op;
