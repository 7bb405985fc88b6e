/** Values in registers, with an operation for each method. A method adds instructions to the kernel and gives their result. */
import { arithmetic, divide, extreme, highProduct, multiplyAdd, remainder, unary, wide, widerType } from './arithmetic.ts';
import { complement, count, extractField, funnel, highestBit, insertField, logic, permute, reverse, shift, threeInputs } from './bits.ts';
import { compare, isNan, type Relation, select } from './compare.ts';
import { type ConvertOptions, convert, copied, halfOf, integral, reinterpret } from './convert.ts';
import { type Handle, inRegister, moveType, nodeOf, noteMutable, type Operand } from './handle.ts';
import { type Approximation, approximate, exponential, logarithm, reciprocal, squareRoot } from './math.ts';
import { nameNode } from './nodes.ts';
import type {
  CompareOptions,
  CompareOptionsOf,
  DivisionOptionsOf,
  ExtremeOptionsOf,
  ProductOptionsOf,
  SignOptionsOf,
  SumOptionsOf,
} from './options.ts';
import { type Scope, trace } from './trace.ts';
import type { BitwiseName, FloatName, IntegerName, NumberName, PairName, Type, TypeName, Wider } from './types.ts';

type Comparable = IntegerName | FloatName | 'b16' | 'b32' | 'b64';
type Word = 'u32' | 's32' | 'b32';
type Counted = Word | 'u64' | 's64' | 'b64';
type Field = 'u32' | 's32' | 'u64' | 's64';
/** A float type that PTX has a function for; halves are computed with f32. */
type Real = 'f16' | 'bf16' | 'f32';

/**
 * A value of a kernel. Operands of a method have the type of the value: others are converted with `to` or `as` first. Constants of JavaScript
 * are exact or refused (CM5085); floats are rounded to the nearest.
 */
export class Value<T extends TypeName = TypeName> implements Handle<T> {
  /** The name of its type. */
  readonly type: T;
  /** @internal */
  readonly register: string;
  /** @internal */
  readonly scope: Scope;

  /** @internal */
  constructor(type: T, register: string) {
    this.type = type;
    this.register = register;
    this.scope = trace().scope;
  }

  /** The sum; integers wrap. */
  add(this: Value<NumberName>, other: Operand<T>, options?: SumOptionsOf<T>): Value<T> {
    return of(this as Value<T>, arithmetic('add', this, other, options));
  }

  /** The difference; integers wrap. */
  sub(this: Value<NumberName>, other: Operand<T>, options?: SumOptionsOf<T>): Value<T> {
    return of(this as Value<T>, arithmetic('sub', this, other, options));
  }

  /** The product; of integers the low half. */
  mul(this: Value<NumberName>, other: Operand<T>, options?: ProductOptionsOf<T>): Value<T> {
    return of(this as Value<T>, arithmetic('mul', this, other, options));
  }

  /** `this * factor + addend`: of floats rounded once, of integers the low half. */
  mad(this: Value<NumberName>, factor: Operand<T>, addend: Operand<T>, options?: ProductOptionsOf<T>): Value<T> {
    return of(this as Value<T>, multiplyAdd(this, factor, addend, options));
  }

  /** `this * factor + addend` of floats, rounded once. */
  fma(this: Value<FloatName | PairName>, factor: Operand<T>, addend: Operand<T>, options?: ProductOptionsOf<T>): Value<T> {
    return of(this as Value<T>, multiplyAdd(this, factor, addend, options));
  }

  /** The quotient: of integers rounded to zero, of floats as IEEE 754 demands, or by `mode`. Division of an integer by 0 gives all ones. */
  div(this: Value<IntegerName | FloatName>, other: Operand<T>, options?: DivisionOptionsOf<T>): Value<T> {
    return of(this as Value<T>, divide(this, other, options));
  }

  /** The remainder of a quotient that is rounded to zero: it has the sign of this value. */
  rem(this: Value<IntegerName>, other: Operand<T>): Value<T> {
    return of(this as Value<T>, remainder(this, other));
  }

  /** `-this` */
  neg(this: Value<Exclude<NumberName, 'u16' | 'u32' | 'u64'>>, options?: SignOptionsOf<T>): Value<T> {
    return of(this as Value<T>, unary('neg', this, options));
  }

  /** The absolute value; that of the least integer is itself. */
  abs(this: Value<Exclude<NumberName, 'u16' | 'u32' | 'u64'>>, options?: SignOptionsOf<T>): Value<T> {
    return of(this as Value<T>, unary('abs', this, options));
  }

  /** The smaller of two; the other one if one is NaN, unless `nan` is set. Halves need sm_80. */
  min(this: Value<NumberName>, other: Operand<T>, options?: ExtremeOptionsOf<T>): Value<T> {
    return of(this as Value<T>, extreme('min', this, other, options));
  }

  /** The larger of two; the other one if one is NaN, unless `nan` is set. Halves need sm_80. */
  max(this: Value<NumberName>, other: Operand<T>, options?: ExtremeOptionsOf<T>): Value<T> {
    return of(this as Value<T>, extreme('max', this, other, options));
  }

  /** The upper half of the product. */
  mulHi(this: Value<IntegerName>, other: Operand<T>): Value<T> {
    return of(this as Value<T>, highProduct(this, other));
  }

  /** The whole product, of twice the width. */
  mulWide<N extends keyof Wider>(this: Value<N>, other: Operand<N>): Value<Wider[N]> {
    return new Value(widerType(this.type) as Wider[N], wide(this, other));
  }

  /** The whole product of twice the width, and a sum with a value of that width. */
  madWide<N extends keyof Wider>(this: Value<N>, factor: Operand<N>, addend: Operand<Wider[N]>): Value<Wider[N]> {
    return new Value(widerType(this.type) as Wider[N], wide(this, factor, addend));
  }

  /** Bit by bit; of predicates whether both hold. */
  and(this: Value<BitwiseName>, other: Operand<T>): Value<T> {
    return of(this as Value<T>, logic('and', this, other));
  }

  /** Bit by bit; of predicates whether one holds. */
  or(this: Value<BitwiseName>, other: Operand<T>): Value<T> {
    return of(this as Value<T>, logic('or', this, other));
  }

  /** Bit by bit; of predicates whether exactly one holds. */
  xor(this: Value<BitwiseName>, other: Operand<T>): Value<T> {
    return of(this as Value<T>, logic('xor', this, other));
  }

  /** Every bit the other way; of a predicate whether it does not hold. */
  not(this: Value<BitwiseName>): Value<T> {
    return of(this as Value<T>, complement(this));
  }

  /** Shifted to the left; by its width or more gives 0. */
  shl(this: Value<Exclude<BitwiseName, 'pred'>>, by: Operand<'u32'>): Value<T> {
    return of(this as Value<T>, shift('shl', this, by));
  }

  /** Shifted to the right: integers with a sign keep it. By its width or more gives 0 or the sign. */
  shr(this: Value<Exclude<BitwiseName, 'pred'>>, by: Operand<'u32'>): Value<T> {
    return of(this as Value<T>, shift('shr', this, by));
  }

  /** The number of set bits. */
  popc(this: Value<Counted>): Value<'u32'> {
    return new Value('u32', count('popc', this));
  }

  /** The number of leading zeros; the width for 0. */
  clz(this: Value<Counted>): Value<'u32'> {
    return new Value('u32', count('clz', this));
  }

  /** The bits in reverse order. */
  brev(this: Value<Counted>): Value<T> {
    return of(this as Value<T>, reverse(this));
  }

  /** The position of the highest bit that is not a sign, from 0; 0xffffffff if there is none. */
  bfind(this: Value<Field>): Value<'u32'> {
    return new Value('u32', highestBit(this));
  }

  /** `length` bits from `start` on, with the sign of the field if the type has one. */
  bfe(this: Value<Field>, start: Operand<'u32'>, length: Operand<'u32'>): Value<T> {
    return of(this as Value<T>, extractField(this, start, length));
  }

  /** This value with the `length` low bits of `field` from bit `start` on. */
  bfi(this: Value<Counted>, field: Operand<T>, start: Operand<'u32'>, length: Operand<'u32'>): Value<T> {
    return of(this as Value<T>, insertField(this, field, start, length));
  }

  /** Four bytes of the eight of this value (0 to 3) and `other` (4 to 7), by the digits of `selector`, the lowest first. */
  prmt(this: Value<Word>, other: Operand<T>, selector: Operand<'u32'>): Value<T> {
    return of(this as Value<T>, permute(this, other, selector));
  }

  /** The upper 32 bits of `high:this` shifted to the left by up to 32 (`clamp`), or by the distance modulo 32 (`wrap`). */
  shlFunnel(this: Value<Word>, high: Operand<T>, by: Operand<'u32'>, mode: 'clamp' | 'wrap' = 'clamp'): Value<T> {
    return of(this as Value<T>, funnel({ direction: 'l', mode }, this, high, by));
  }

  /** The lower 32 bits of `high:this` shifted to the right by up to 32 (`clamp`), or by the distance modulo 32 (`wrap`). */
  shrFunnel(this: Value<Word>, high: Operand<T>, by: Operand<'u32'>, mode: 'clamp' | 'wrap' = 'clamp'): Value<T> {
    return of(this as Value<T>, funnel({ direction: 'r', mode }, this, high, by));
  }

  /** Any function of three bits: `table` is the function of 0xf0 (this), 0xcc (`b`) and 0xaa (`c`). */
  lop3(this: Value<Word>, b: Operand<T>, c: Operand<T>, table: number): Value<T> {
    return of(this as Value<T>, threeInputs(this, b, c, table));
  }

  /** Whether they are equal; false for NaN. */
  eq(this: Value<Comparable>, other: Operand<T>, options?: CompareOptionsOf<T>): Value<'pred'> {
    return compared('eq', this, other, options);
  }

  /** Whether they differ; true for NaN, as in JavaScript. */
  ne(this: Value<Comparable>, other: Operand<T>, options?: CompareOptionsOf<T>): Value<'pred'> {
    return compared('ne', this, other, options);
  }

  /** Whether this value is less. */
  lt(this: Value<Comparable>, other: Operand<T>, options?: CompareOptionsOf<T>): Value<'pred'> {
    return compared('lt', this, other, options);
  }

  /** Whether this value is less or equal. */
  le(this: Value<Comparable>, other: Operand<T>, options?: CompareOptionsOf<T>): Value<'pred'> {
    return compared('le', this, other, options);
  }

  /** Whether this value is greater. */
  gt(this: Value<Comparable>, other: Operand<T>, options?: CompareOptionsOf<T>): Value<'pred'> {
    return compared('gt', this, other, options);
  }

  /** Whether this value is greater or equal. */
  ge(this: Value<Comparable>, other: Operand<T>, options?: CompareOptionsOf<T>): Value<'pred'> {
    return compared('ge', this, other, options);
  }

  /** Whether it is NaN. */
  isNan(this: Value<FloatName>): Value<'pred'> {
    return new Value('pred', isNan(this));
  }

  /** One of two values by this predicate, without a branch. One of them is a value or an element of memory, which gives the type. */
  select<U extends TypeName>(this: Value<'pred'>, whenTrue: Typed<U>, whenFalse: Operand<NoInfer<U>>): Value<U>;
  select<U extends TypeName>(this: Value<'pred'>, whenTrue: number | bigint, whenFalse: Typed<U>): Value<U>;
  select(this: Value<'pred'>, whenTrue: Operand<TypeName>, whenFalse: Operand<TypeName>): unknown {
    const { type } = (typeof whenTrue === 'object' ? whenTrue : whenFalse) as Typed<TypeName>;
    return new Value(type, select(this, type, whenTrue, whenFalse));
  }

  /**
   * The value as another type. Floats become integers by rounding to zero, clamped to the range; NaN is 0, or
   * from f64 or to 64 bits the least number of the type. Integers wrap.
   */
  to<U extends Exclude<TypeName, PairName>>(this: Value<Exclude<TypeName, PairName>>, type: Type<U>, options?: ConvertOptions): Value<U> {
    return new Value(type.name, convert(this, type.name, options));
  }

  /** The same bits as another type of the same width. */
  as<U extends SameWidth<T>>(type: Type<U>): Value<U> {
    return new Value(type.name as U, reinterpret(this, type.name));
  }

  /** The low half of a pair, or of 32 bits. */
  low(this: Value<PairName | Word>): Value<HalfOf<T>> {
    return new Value(halfType(this.type), halfOf(this, 0)) as unknown as Value<HalfOf<T>>;
  }

  /** The high half of a pair, or of 32 bits. */
  high(this: Value<PairName | Word>): Value<HalfOf<T>> {
    return new Value(halfType(this.type), halfOf(this, 1)) as unknown as Value<HalfOf<T>>;
  }

  /** The square root, rounded once, or by `mode`. */
  sqrt(this: Value<FloatName>, options?: DivisionOptionsOf<T>): Value<T> {
    return of(this as Value<T>, squareRoot(this, options));
  }

  /** `1 / this`, rounded once, or by `mode`. */
  rcp(this: Value<FloatName>, options?: DivisionOptionsOf<T>): Value<T> {
    return of(this as Value<T>, reciprocal(this, options));
  }

  /** `1 / sqrt(this)` approximately: a relative error of 2^-22.9 (f32, halves by it). */
  rsqrt(this: Value<FloatName>): Value<T> {
    return approximated('rsqrt', this as Value<T>);
  }

  /** 2 to the power of this value approximately: 2 ulp (f32, halves by it). */
  exp2(this: Value<Real>): Value<T> {
    return approximated('ex2', this as Value<T>);
  }

  /** The logarithm to base 2 approximately: 2^-22 near 1, 2 ulp elsewhere. */
  log2(this: Value<Real>): Value<T> {
    return approximated('lg2', this as Value<T>);
  }

  /**
   * e to the power of this value, with the argument reduced first, so that the error does not grow with it: 1 ulp besides the 2 of `ex2.approx`,
   * which the CPU device does not have. CUDA's `expf` is within 2 ulp.
   */
  exp(this: Value<Real>): Value<T> {
    return of(this as Value<T>, exponential(this));
  }

  /** The natural logarithm approximately, as CUDA's `__logf`: 2^-21.4 near 1, 3 ulp elsewhere. */
  log(this: Value<Real>): Value<T> {
    return of(this as Value<T>, logarithm(this));
  }

  /** The sine approximately: an absolute error of 2^-20.5 from -pi to pi, and more beyond. */
  sin(this: Value<Real>): Value<T> {
    return approximated('sin', this as Value<T>);
  }

  /** The cosine approximately: an absolute error of 2^-20.5 from -pi to pi, and more beyond. */
  cos(this: Value<Real>): Value<T> {
    return approximated('cos', this as Value<T>);
  }

  /** The hyperbolic tangent approximately: a relative error of 2^-11. It needs sm_75. */
  tanh(this: Value<Real>): Value<T> {
    return approximated('tanh', this as Value<T>);
  }

  /** The next whole number below. */
  floor(this: Value<'f16' | 'f32' | 'f64'>): Value<T> {
    return of(this as Value<T>, integral(this, 'rm'));
  }

  /** The next whole number above. */
  ceil(this: Value<'f16' | 'f32' | 'f64'>): Value<T> {
    return of(this as Value<T>, integral(this, 'rp'));
  }

  /** The nearest whole number, ties to even. */
  rint(this: Value<'f16' | 'f32' | 'f64'>): Value<T> {
    return of(this as Value<T>, integral(this, 'rn'));
  }

  /** The whole number next to it on the side of 0. */
  trunc(this: Value<'f16' | 'f32' | 'f64'>): Value<T> {
    return of(this as Value<T>, integral(this, 'rz'));
  }
}

/** What has a type: a value, a variable or an element of memory. */
export type Typed<T extends TypeName> = Exclude<Operand<T>, number | bigint>;

/** The types of the same width. */
export type SameWidth<T extends TypeName> = { [W in keyof ByWidth]: T extends ByWidth[W] ? ByWidth[W] : never }[keyof ByWidth];
interface ByWidth {
  readonly 1: 'pred';
  readonly 8: 'u8' | 's8' | 'b8';
  readonly 16: 'u16' | 's16' | 'b16' | 'f16' | 'bf16';
  readonly 32: 'u32' | 's32' | 'b32' | 'f32' | 'f16x2' | 'bf16x2';
  readonly 64: 'u64' | 's64' | 'b64' | 'f64';
}

type HalfOf<T extends TypeName> = T extends 'f16x2' ? 'f16' : T extends 'bf16x2' ? 'bf16' : 'u16';
const halfType = (type: TypeName): TypeName => (type === 'f16x2' ? 'f16' : type === 'bf16x2' ? 'bf16' : 'u16');

const of = <T extends TypeName>({ type }: Value<T>, register: string): Value<T> => new Value(type, register);
const compared = (relation: Relation, a: Handle, b: Operand<TypeName>, options?: CompareOptions): Value<'pred'> =>
  new Value('pred', compare(relation, a, b, options));
const approximated = <T extends TypeName>(name: Approximation, a: Value<T>): Value<T> => of(a, approximate(name, a));

/** Predicates are constants of JavaScript, too. */
type Truth<T extends TypeName> = T extends 'pred' ? boolean : never;

/** A value that changes: `set` gives it another one, which every later use sees. Loops carry results with it. */
export class Variable<T extends TypeName = TypeName> extends Value<T> {
  /** Gives it another value. */
  set(value: Operand<T> | Truth<T>): void {
    const node = nodeOf(this.type, value);
    trace().emit(`mov.${moveType(this.type)}`, [nameNode(this.register), node]);
  }

  /** The value that it has now, which does not change. */
  get(): Value<T> {
    return new Value(this.type, copied(this.type, inRegister(this.type, this)));
  }
}

/** A variable with an initial value. */
export function local<T extends TypeName>(type: Type<T>, initial: Operand<T> | Truth<T>): Variable<T> {
  const register = trace().fresh(type.name);
  noteMutable(register);
  const variable = new Variable(type.name, register);
  variable.set(initial);
  return variable;
}

/** A constant as a value. */
export const constant = <T extends TypeName>({ name }: Type<T>, value: T extends 'pred' ? boolean : number | bigint): Value<T> =>
  new Value(name, copied(name, nodeOf(name, value)));
