/** Arithmetic: the instructions of each type. Source: PTX ISA 9.0, 9.7.1 (integers), 9.7.3 (floats), 9.7.4 (halves). */
import { logic, shift } from './bits.ts';
import { computed, type Handle, inRegister, nodeOf, type Operand } from './handle.ts';
import { nameNode } from './nodes.ts';
import { assertNearest, assertOptions, type DivisionOptions, type ExtremeOptions, type FloatOptions } from './options.ts';
import { isFloat, type TypeName, types } from './types.ts';

/** `.ftz.sat` */
export const flags = ({ ftz, sat }: FloatOptions): string => `${ftz ? '.ftz' : ''}${sat ? '.sat' : ''}`;

type Arithmetic = 'add' | 'sub' | 'mul';
const bfloat = { one: 0x3f80, minusOne: 0xbf80, minusZero: 0x8000 } as const;

/** A constant of bfloats, in both halves of a pair. */
const bfloatNode = (type: TypeName, bits: number) =>
  nameNode(computed(type, `mov.b${types[type].bits}`, [nodeOf('b32', type === 'bf16x2' ? bits * 0x10001 : bits)]));

/** bfloats have sums and products from sm_90 on, and before as fused products with 1, -1 and -0, which give the same bits. */
function ofBfloats(name: Arithmetic, a: Handle, b: Operand<TypeName>): string {
  const { type } = a;
  const [x, y] = [inRegister(type, a), inRegister(type, b)];
  if (name === 'add') return computed(type, `fma.rn.${type}`, [x, bfloatNode(type, bfloat.one), y]);
  if (name === 'sub') return computed(type, `fma.rn.${type}`, [y, bfloatNode(type, bfloat.minusOne), x]);
  return computed(type, `fma.rn.${type}`, [x, y, bfloatNode(type, bfloat.minusZero)]);
}

/** A sum, a difference or a product; floats are not contracted with others. */
export function arithmetic(name: Arithmetic, a: Handle, b: Operand<TypeName>, options: FloatOptions = {}): string {
  const { type } = a;
  assertOptions(name === 'mul' ? 'product' : 'sum', type, options);
  if (type === 'bf16' || type === 'bf16x2') return ofBfloats(name, a, b);
  const full = isFloat(type)
    ? `${name}.${options.round ?? 'rn'}${flags(options)}.${type}`
    : `${name}${name === 'mul' ? '.lo' : ''}${options.sat ? '.sat' : ''}.${type}`;
  return computed(type, full, [inRegister(type, a), nodeOf(type, b)]);
}

/** `a * b + c`: the low half of integers, rounded once for floats. */
export function multiplyAdd(a: Handle, b: Operand<TypeName>, c: Operand<TypeName>, options: FloatOptions = {}): string {
  const { type } = a;
  assertOptions('product', type, options);
  const name = isFloat(type) ? `fma.${options.round ?? 'rn'}${flags(options)}.${type}` : `mad.lo.${type}`;
  return computed(type, name, [inRegister(type, a), nodeOf(type, b), nodeOf(type, c)]);
}

/** The type of twice the width. */
export const widerType = (type: TypeName): TypeName => `${type[0]}${2 * types[type].bits}` as TypeName;

/** The whole product, of twice the width, with a sum if there is a third operand. */
export function wide(a: Handle, b: Operand<TypeName>, c?: Operand<TypeName>): string {
  const { type } = a;
  const to = widerType(type);
  const factors = [inRegister(type, a), nodeOf(type, b)];
  return c === undefined ? computed(to, `mul.wide.${type}`, factors) : computed(to, `mad.wide.${type}`, [...factors, nodeOf(to, c)]);
}

/** The upper half of a product. */
export const highProduct = (a: Handle, b: Operand<TypeName>): string =>
  computed(a.type, `mul.hi.${a.type}`, [inRegister(a.type, a), nodeOf(a.type, b)]);

/** f32 of a half or a bfloat, exact. */
export function toSingle(type: TypeName, node: ReturnType<typeof nodeOf>): string {
  if (type === 'f16') return computed('f32', 'cvt.f32.f16', [node]);
  // A bfloat is the upper half of an f32; `cvt.f32.bf16` needs sm_90.
  const wide = computed('b32', 'cvt.u32.u16', [node]);
  const upper = computed('b32', 'shl.b32', [nameNode(wide), nodeOf('b32', 16)]);
  return computed('f32', 'mov.b32', [nameNode(upper)]);
}

/** A half or a bfloat of an f32, rounded to the nearest. */
export const fromSingle = (type: TypeName, register: string): string => computed(type, `cvt.rn.${type}.f32`, [nameNode(register)]);

/** The exponent of a divisor of unsigned integers that is a constant power of two. ptxas divides by any constant as by a variable. */
function exponentOf(type: TypeName, divisor: Operand<TypeName>): number | undefined {
  if (types[type].kind !== 'unsigned' || (typeof divisor !== 'number' && typeof divisor !== 'bigint')) return undefined;
  const exponent = Math.log2(Number(divisor));
  return Number.isInteger(exponent) && exponent >= 0 && exponent < types[type].bits && 1n << BigInt(exponent) === BigInt(divisor)
    ? exponent
    : undefined;
}

/** A quotient. Those of halves are computed with f32, which has more than twice their precision, so that rounding twice is rounding once. */
export function divide(a: Handle, b: Operand<TypeName>, options: DivisionOptions = {}): string {
  const { type } = a;
  assertOptions('division', type, options);
  const { mode = 'rn', ftz = false } = options;
  const exponent = exponentOf(type, b);
  if (exponent !== undefined) return shift('shr', a, exponent);
  if (types[type].bits === 16 && isFloat(type)) {
    assertNearest(type, mode);
    const [x, y] = [toSingle(type, inRegister(type, a)), toSingle(type, inRegister(type, b))];
    return fromSingle(type, computed('f32', `div.${mode}.f32`, [nameNode(x), nameNode(y)]));
  }
  const name = isFloat(type) ? `div.${mode}${ftz ? '.ftz' : ''}.${type}` : `div.${type}`;
  return computed(type, name, [inRegister(type, a), nodeOf(type, b)]);
}

/** The remainder of a quotient that is rounded to zero. */
export const remainder = (a: Handle, b: Operand<TypeName>): string =>
  exponentOf(a.type, b) === undefined
    ? computed(a.type, `rem.${a.type}`, [inRegister(a.type, a), nodeOf(a.type, b)])
    : logic('and', a, typeof b === 'bigint' ? b - 1n : (b as number) - 1);

/** `-a` or the absolute value. */
export function unary(name: 'neg' | 'abs', a: Handle, options: FloatOptions = {}): string {
  const { type } = a;
  assertOptions('sign', type, options);
  // Those of f16 and bf16 change the sign alone, which older architectures do with integers.
  if (types[type].bits === 16 && isFloat(type)) {
    const mask = nodeOf('b16', name === 'neg' ? 0x8000 : 0x7fff);
    return computed(type, name === 'neg' ? 'xor.b16' : 'and.b16', [inRegister(type, a), mask]);
  }
  if (types[type].kind === 'pair') {
    const mask = nodeOf('b32', name === 'neg' ? 0x80008000 : 0x7fff7fff);
    return computed(type, name === 'neg' ? 'xor.b32' : 'and.b32', [inRegister(type, a), mask]);
  }
  return computed(type, `${name}${options.ftz && type === 'f32' ? '.ftz' : ''}.${type}`, [inRegister(type, a)]);
}

/** The minimum or the maximum. */
export function extreme(name: 'min' | 'max', a: Handle, b: Operand<TypeName>, options: ExtremeOptions = {}): string {
  const { type } = a;
  assertOptions('extreme', type, options);
  const words = `${options.ftz ? '.ftz' : ''}${options.nan ? '.NaN' : ''}`;
  return computed(type, `${name}${words}.${type}`, [inRegister(type, a), nodeOf(type, b)]);
}
