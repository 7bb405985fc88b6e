/** The rules of integer ops in WGSL. */
import { bitsOf, constantOf, type InstOf, type ScalarType, type Type, type Value } from '../../ir/index.ts';
import { atom, type Expression, negated, strength, unary } from '../expression.ts';
import type { Printer, Rules } from '../language.ts';
import { call, constant, infix, isWide, part, typeName, word } from './types.ts';

type Two = { readonly a: Value; readonly b: Value };
type Typed = { readonly type: Type };

const maskOf = (type: Type): bigint => (1n << BigInt(bitsOf(type))) - 1n;

/** The low bits of a word that are the type's. */
export const cut = (type: Type, a: Expression): Expression => (bitsOf(type) < 32 ? infix('&', a, word(maskOf(type))) : a);

/** A number of at most 32 bits as `i32`. */
export function signed(p: Printer, value: Value): Expression {
  const type = p.typeOf(value);
  const known = constantOf(p.kernel, value);
  if (known !== undefined) {
    const number = BigInt.asIntN(bitsOf(type), known);
    if (number > -(2n ** 31n)) return { ...atom(`${number}i`), strength: number < 0n ? strength.unary : strength.primary };
  }
  if (type === 'i1') return call('select', atom('0i'), atom('-1i'), p.use(value));
  const bits = bitsOf(type);
  return bits === 32 ? call('bitcast<i32>', p.use(value)) : call(p.helper(`sext${bits}`), p.use(value));
}

const toWord = (a: Expression): Expression => call('bitcast<u32>', a);
const suffix = (type: Type): string => (isWide(type) ? 'u64' : 'u32');

const onBits: Readonly<Record<string, string>> = { '+': '!=', '-': '!=', '*': '&&', '&': '&&', '|': '||', '^': '!=' };
const wideNames: Readonly<Record<string, string>> = { '+': 'add_u64', '-': 'sub_u64', '*': 'mul_u64' };

const arithmetic =
  (operator: string) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression => {
    const known = constantOf(p.kernel, b);
    if (type === 'i1') {
      if (operator === '^' && known === 1n) return negated(p.use(a));
      return infix(onBits[operator]!, p.use(a), p.use(b));
    }
    if (isWide(type) && wideNames[operator] !== undefined) return call(p.helper(wideNames[operator]), p.use(a), p.use(b));
    if (operator === '+' && type === 'i32' && known !== undefined && known >> 31n === 1n) {
      const positive = 2n ** 32n - known;
      if (positive < 2n ** 31n) return infix('-', p.use(a), word(positive));
    }
    if (operator === '^' && known === maskOf(type)) return cut(type, unary('~', p.use(a)));
    return isBitwise(operator) ? infix(operator, p.use(a), p.use(b)) : cut(type, infix(operator, p.use(a), p.use(b)));
  };

const isBitwise = (operator: string): boolean => '&|^'.includes(operator);

const highHalf =
  (isSigned: boolean) =>
  (p: Printer, { a, b, type }: Two & Typed, value: Value): Expression => {
    const bits = bitsOf(type);
    if (bits >= 32) return call(p.helper(`${isSigned ? 's' : 'u'}mulhi_${suffix(type)}`), p.use(a), p.use(b));
    if (bits === 1) return p.refuse(value, 'the high half of a product of predicates', 'they have one bit');
    const product = isSigned ? infix('*', signed(p, a), signed(p, b)) : infix('*', p.use(a), p.use(b));
    return cut(type, isSigned ? toWord(infix('>>', product, word(BigInt(bits)))) : infix('>>', product, word(BigInt(bits))));
  };

/** A count of a shift as a word. */
const countOf = (p: Printer, value: Value): Expression =>
  isWide(p.typeOf(value)) ? call(p.helper('count_u64'), p.use(value)) : p.use(value);

type ShiftName = 'shl' | 'lshr' | 'ashr';

/** A shift of a number of at most 32 bits by a constant. */
function shiftBy(p: Printer, name: ShiftName, a: Value, type: Type, known: bigint): Expression {
  const bits = BigInt(bitsOf(type));
  if (known >= bits && name !== 'ashr') return constant(type as ScalarType, 0n);
  const count = word(known < bits ? known : bits - 1n);
  if (name === 'ashr') return cut(type, toWord(infix('>>', signed(p, a), count)));
  return name === 'shl' ? cut(type, infix('<<', p.use(a), count)) : infix('>>', p.use(a), count);
}

const shift =
  (name: ShiftName) =>
  (p: Printer, { a, b, type }: Two & Typed, value: Value): Expression => {
    if (type === 'i1') return p.refuse(value, 'a shift of a predicate', 'it has one bit');
    const known = constantOf(p.kernel, b);
    if (isWide(type)) return call(p.helper(`${name}_u64`), p.use(a), known === undefined ? countOf(p, b) : word(known < 64n ? known : 64n));
    if (known !== undefined) return shiftBy(p, name, a, type, known);
    const number = name === 'ashr' && bitsOf(type) < 32 ? toWord(signed(p, a)) : p.use(a);
    const result = call(p.helper(`${name}_u32`), number, p.use(b));
    return name === 'lshr' ? result : cut(type, result);
  };

const divide =
  (operator: '/' | '%', isSigned: boolean) =>
  (p: Printer, { a, b, type }: Two & Typed, value: Value): Expression => {
    if (type === 'i1') return p.refuse(value, 'a division of predicates', 'they have one bit');
    const known = constantOf(p.kernel, b);
    const isPlain = known !== undefined && known !== 0n && !isWide(type);
    if (isPlain && !isSigned) return infix(operator, p.use(a), p.use(b));
    if (isPlain && known !== maskOf(type)) return cut(type, toWord(infix(operator, signed(p, a), signed(p, b))));
    const name = `${isSigned ? 's' : 'u'}${operator === '/' ? 'div' : 'rem'}_${suffix(type)}`;
    const of = (of: Value): Expression => (isSigned && bitsOf(type) < 32 ? toWord(signed(p, of)) : p.use(of));
    return cut(type, call(p.helper(name), of(a), of(b)));
  };

const extreme =
  (name: 'min' | 'max', isSigned: boolean) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression => {
    if (type === 'i1') return infix((name === 'min') === isSigned ? '||' : '&&', p.use(a), p.use(b));
    if (isWide(type)) {
      const less = call(p.helper(isSigned ? 'lt_s64' : 'lt_u64'), p.use(a), p.use(b));
      return name === 'min' ? call('select', p.use(b), p.use(a), less) : call('select', p.use(a), p.use(b), less);
    }
    if (!isSigned) return call(name, p.use(a), p.use(b));
    return cut(type, toWord(call(name, signed(p, a), signed(p, b))));
  };

const inverses = { '==': '!=', '!=': '==', '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const;
const operators = { eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;

function ordered(operator: keyof typeof inverses, a: Expression, b: Expression): Expression {
  const found = infix(operator, a, b);
  return { ...found, inverse: infix(inverses[operator], a, b).text };
}

function compare(p: Printer, { a, b, pred }: InstOf<'icmp'>): Expression {
  const kind = pred.slice(-2) as keyof typeof operators;
  const isSigned = pred.startsWith('s');
  const type = p.typeOf(a);
  const known = constantOf(p.kernel, b);
  if (type === 'i1' && (kind === 'eq' || kind === 'ne')) {
    if (known !== undefined) return (known === 1n) === (kind === 'eq') ? p.use(a) : negated(p.use(a));
    return infix(operators[kind], p.use(a), p.use(b));
  }
  if (isWide(type)) {
    if (kind === 'eq') return call('all', infix('==', p.use(a), p.use(b)));
    if (kind === 'ne') return call('any', infix('!=', p.use(a), p.use(b)));
    const less = p.helper(isSigned ? 'lt_s64' : 'lt_u64');
    const [x, y] = kind === 'lt' || kind === 'ge' ? [p.use(a), p.use(b)] : [p.use(b), p.use(a)];
    return kind === 'lt' || kind === 'gt' ? call(less, x, y) : unary('!', call(less, x, y));
  }
  if (isSigned) return ordered(operators[kind], signed(p, a), signed(p, b));
  const of = (value: Value): Expression => (type === 'i1' ? call('u32', p.use(value)) : p.use(value));
  return ordered(operators[kind], of(a), of(b));
}

/** The low word of a number of any width. */
const low = (p: Printer, value: Value): Expression => {
  const type = p.typeOf(value);
  if (type === 'i1') return call('u32', p.use(value));
  return isWide(type) ? part(p.use(value), 'x') : p.use(value);
};

function truncate(p: Printer, { a, type }: InstOf<'trunc'>): Expression {
  return type === 'i1' ? infix('!=', infix('&', low(p, a), atom('1u')), atom('0u')) : cut(type, low(p, a));
}

function signExtend(p: Printer, { a, type }: InstOf<'sext'>): Expression {
  const from = p.typeOf(a);
  if (from === type) return p.use(a);
  const number = from === 'i32' ? p.use(a) : toWord(signed(p, a));
  return isWide(type) ? call(p.helper('sext_u64'), number) : cut(type, number);
}

const refuseBit = (p: Printer, value: Value, what: string): Expression => p.refuse(value, `${what} of a predicate`, 'it has one bit');

function leadingZeros(p: Printer, { a, type }: InstOf<'clz'>, value: Value): Expression {
  if (type === 'i1') return refuseBit(p, value, 'clz');
  if (isWide(type)) return call('u64', call(p.helper('clz_u64'), p.use(a)), atom('0u'));
  const count = call('countLeadingZeros', p.use(a));
  return bitsOf(type) < 32 ? infix('-', count, word(32n - BigInt(bitsOf(type)))) : count;
}

function population(p: Printer, { a, type }: InstOf<'popcount'>, value: Value): Expression {
  if (type === 'i1') return refuseBit(p, value, 'popcount');
  if (!isWide(type)) return call('countOneBits', p.use(a));
  const counts = [part(p.use(a), 'x'), part(p.use(a), 'y')].map((each) => call('countOneBits', each));
  return call('u64', infix('+', counts[0]!, counts[1]!), atom('0u'));
}

function reverse(p: Printer, { a, type }: InstOf<'bitrev'>, value: Value): Expression {
  if (type === 'i1') return refuseBit(p, value, 'bitrev');
  if (isWide(type)) return call('reverseBits', part(p.use(a), 'yx'));
  const reversed = call('reverseBits', p.use(a));
  return bitsOf(type) < 32 ? infix('>>', reversed, word(32n - BigInt(bitsOf(type)))) : reversed;
}

export const integerRules = {
  add: arithmetic('+'),
  sub: arithmetic('-'),
  mul: arithmetic('*'),
  smulhi: highHalf(true),
  umulhi: highHalf(false),
  sdiv: divide('/', true),
  udiv: divide('/', false),
  srem: divide('%', true),
  urem: divide('%', false),
  and: arithmetic('&'),
  or: arithmetic('|'),
  xor: arithmetic('^'),
  shl: shift('shl'),
  lshr: shift('lshr'),
  ashr: shift('ashr'),
  smin: extreme('min', true),
  smax: extreme('max', true),
  umin: extreme('min', false),
  umax: extreme('max', false),
  clz: leadingZeros,
  popcount: population,
  bitrev: reverse,
  icmp: compare,
  trunc: truncate,
  zext: (p, { a, type }) => (isWide(type) ? call('u64', low(p, a), atom('0u')) : low(p, a)),
  sext: signExtend,
  ptradd: (p, { a, b }) => call(p.helper('add_u64'), p.use(a), p.use(b)),
  ptrtoint: (p, { a }) => p.use(a),
  inttoptr: (p, { a }) => p.use(a),
  select: (p, { cond, a, b }) => call('select', p.use(b), p.use(a), p.use(cond)),
  vec2: (p, { a, b, type }) => call(typeName(type), p.use(a), p.use(b)),
  vec4: (p, { a, b, c, d, type }, value) =>
    bitsOf(type) > 128
      ? p.refuse(value, 'a vector of 256 bits', 'WGSL has vectors of four words')
      : call(typeName(type), p.use(a), p.use(b), p.use(c), p.use(d)),
  extract: (p, { a, lane, type }) => part(p.use(a), isWide(type) ? (lane === 0 ? 'xy' : 'zw') : 'xyzw'[lane]!),
} satisfies Partial<Rules>;
