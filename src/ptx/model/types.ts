/**
 * The types of PTX: what holds a value of each, and when a register may stand for an operand of another type.
 * Source: PTX ISA 9.0, 5.2 (types), 9.4 (type information for instructions and operands).
 */
import type { Span } from '../../base/source.ts';
import type { ScalarType } from '../../ir/index.ts';
import type { Variable } from '../syntax/ast.ts';

/** A register of the source. Objects are compared by identity: scopes may hold several of one name. */
export interface Register {
  readonly name: string;
  /** The type in the declaration, without its dot. */
  readonly declared: string;
  /** What the register is held as. */
  readonly type: ScalarType;
  /** The place of its name, or of its range; absent for what lowering makes. */
  readonly declaredAt?: Span;
}

/** What registers and operands of each type are held as. `b128` and the opaque types are absent: nothing holds them. */
export const registerTypes: Readonly<Record<string, ScalarType>> = {
  pred: 'i1',
  b8: 'i8',
  u8: 'i8',
  s8: 'i8',
  b16: 'i16',
  u16: 'i16',
  s16: 'i16',
  b32: 'i32',
  u32: 'i32',
  s32: 'i32',
  b64: 'i64',
  u64: 'i64',
  s64: 'i64',
  f16: 'f16',
  bf16: 'bf16',
  f16x2: 'i32',
  bf16x2: 'i32',
  f32: 'f32',
  f64: 'f64',
};

const widths: Readonly<Record<string, number>> = { pred: 1, f16x2: 32, bf16x2: 32, bf16: 16 };

const knownBits = new Map<string, number>(Object.entries(widths));

/** Bits of a fundamental type; 0 for opaque ones. */
export function bitsOfType(type: string): number {
  const known = knownBits.get(type);
  if (known !== undefined) return known;
  const bits = Number(/\d+$/.exec(type)?.[0] ?? 0);
  knownBits.set(type, bits);
  return bits;
}

/** Lanes of a variable's element; 1 where it is no vector. */
export const lanesOfVariable = ({ vector }: Pick<Variable, 'vector'>): number => (vector ? Number(vector[1]) : 1);

/** `b`, `u`, `s` or `f`; `p` for predicates. */
export const kindOfType = (type: string): string => (type.startsWith('bf') ? 'f' : (type[0] ?? ''));

export const isSignedType = (type: string): boolean => kindOfType(type) === 's';
export const isFloatType = (type: string): boolean => kindOfType(type) === 'f';

/** The type that is twice as wide: `s32` gives `s64`. */
export const wideType = (type: string): string => `${kindOfType(type)}${2 * bitsOfType(type)}`;

/**
 * Whether a register may stand where an operand type is wanted: the sizes agree, and neither is a float unless both are
 * the same or one is bits. `isRelaxed`: the register may be wider (9.4.1), where the operand is no float.
 */
export function agrees(register: string, operand: string, isRelaxed: boolean): boolean {
  if (register === operand) return true;
  if (register === 'pred' || operand === 'pred') return false;
  const [have, want] = [bitsOfType(register), bitsOfType(operand)];
  const [a, b] = [kindOfType(register), kindOfType(operand)];
  if (have === want) return a === 'b' || b === 'b' || (a !== 'f' && b !== 'f');
  // A float moves through a wider register of bits only; bits are taken out of, and put into, any wider register.
  return isRelaxed && have > want && (b === 'b' || (a !== 'f' && (b !== 'f' || a === 'b')));
}
