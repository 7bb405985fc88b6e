/** Bits: logic, shifts, counts, fields and bytes. Source: PTX ISA 9.0, 9.7.1 (fields, counts), 9.7.8 (logic and shifts), 9.7.9.7 (prmt). */
import { computed, type Handle, inRegister, nodeOf, type Operand } from './handle.ts';
import { isSigned, type TypeName, types } from './types.ts';

/** `b32` for any type of 32 bits. */
const bitsType = (type: TypeName): string => (type === 'pred' ? 'pred' : `b${types[type].bits}`);

/** Bit by bit. */
export function logic(name: 'and' | 'or' | 'xor', a: Handle, b: Operand<TypeName> | boolean): string {
  const { type } = a;
  return computed(type, `${name}.${bitsType(type)}`, [inRegister(type, a), nodeOf(type, b)]);
}

/** Every bit the other way. */
export const complement = (a: Handle): string => computed(a.type, `not.${bitsType(a.type)}`, [inRegister(a.type, a)]);

/** A shift by a number of bits; 32 and more shift everything out. To the right, integers with a sign keep it. */
export function shift(name: 'shl' | 'shr', a: Handle, by: Operand<'u32'>): string {
  const { type } = a;
  const word = name === 'shr' && isSigned(type) ? type : name === 'shr' && types[type].kind === 'unsigned' ? type : bitsType(type);
  return computed(type, `${name}.${word}`, [inRegister(type, a), nodeOf('u32', by)]);
}

/** Set bits, leading zeros: a count in 32 bits. */
export const count = (name: 'popc' | 'clz', a: Handle): string =>
  computed('u32', `${name}.b${types[a.type].bits}`, [inRegister(a.type, a)]);

/** The bits in reverse order. */
export const reverse = (a: Handle): string => computed(a.type, `brev.b${types[a.type].bits}`, [inRegister(a.type, a)]);

/** The position of the highest bit that is not a sign. */
export const highestBit = (a: Handle): string => computed('u32', `bfind.${a.type}`, [inRegister(a.type, a)]);

/** `length` bits from `start` on, as a number of the type. */
export const extractField = (a: Handle, start: Operand<'u32'>, length: Operand<'u32'>): string =>
  computed(a.type, `bfe.${a.type}`, [inRegister(a.type, a), nodeOf('u32', start), nodeOf('u32', length)]);

/** `length` low bits of `field` in the place of those of `a` from `start` on. */
export const insertField = (a: Handle, field: Operand<TypeName>, start: Operand<'u32'>, length: Operand<'u32'>): string =>
  computed(a.type, `bfi.b${types[a.type].bits}`, [
    nodeOf(a.type, field),
    inRegister(a.type, a),
    nodeOf('u32', start),
    nodeOf('u32', length),
  ]);

/** Four of the eight bytes of `a` and `b`, by the digits of a selector. */
export const permute = (a: Handle, b: Operand<TypeName>, selector: Operand<'u32'>): string =>
  computed(a.type, 'prmt.b32', [inRegister(a.type, a), nodeOf(a.type, b), nodeOf('u32', selector)]);

/** 32 bits of `high:low`, shifted; the distance is clamped to 32 or wrapped. */
export const funnel = (
  { direction, mode }: { readonly direction: 'l' | 'r'; readonly mode: 'clamp' | 'wrap' },
  low: Handle,
  high: Operand<TypeName>,
  by: Operand<'u32'>,
): string => computed(low.type, `shf.${direction}.${mode}.b32`, [inRegister(low.type, low), nodeOf(low.type, high), nodeOf('u32', by)]);

/** Any function of three bits, by its table of eight. */
export const threeInputs = (a: Handle, b: Operand<TypeName>, c: Operand<TypeName>, table: number): string =>
  computed(a.type, 'lop3.b32', [inRegister(a.type, a), nodeOf(a.type, b), nodeOf(a.type, c), nodeOf('u32', table)]);
