/**
 * The types of PTX: the storage type of each, and the compatibility of registers with operand types.
 * Source: PTX ISA 9.0, 5.2 (types), 9.4 (type information for instructions and operands).
 */
import type { Span } from '../../base/source.ts';
import type { ScalarType } from '../../ir/index.ts';
import type { Variable } from '../syntax/ast.ts';

/** A register of the source. Identity matters, because several scopes may hold a register of the same name. */
export interface Register {
  readonly name: string;
  /** The type in the declaration, without its dot. */
  readonly declared: string;
  /** The storage type. */
  readonly type: ScalarType;
  /** The span of its name or of its range; absent for registers that lowering creates. */
  readonly declaredAt?: Span;
}

/** The storage type of each PTX type. `b128` and the opaque types have none. */
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

/** The size of a fundamental type in bits; 0 for opaque types. */
export function bitsOfType(type: string): number {
  const known = knownBits.get(type);
  if (known !== undefined) return known;
  const bits = Number(/\d+$/.exec(type)?.[0] ?? 0);
  knownBits.set(type, bits);
  return bits;
}

/** The number of lanes of a variable's element; 1 if it is not a vector. */
export const lanesOfVariable = ({ vector }: Pick<Variable, 'vector'>): number => (vector ? Number(vector[1]) : 1);

/** `b`, `u`, `s` or `f`; `p` for predicates. */
export const kindOfType = (type: string): string => (type.startsWith('bf') ? 'f' : (type[0] ?? ''));

/** Whether a type is a signed integer. */
export const isSignedType = (type: string): boolean => kindOfType(type) === 's';
export const isFloatType = (type: string): boolean => kindOfType(type) === 'f';

/** The type of twice the width: `s32` gives `s64`. */
export const wideType = (type: string): string => `${kindOfType(type)}${2 * bitsOfType(type)}`;

/**
 * Whether a register is compatible with an operand type: the sizes agree, and floats are compatible only with the same float type and with
 * bits. `isRelaxed` accepts a wider register (9.4.1) for an operand that is not a float.
 */
export function isCompatible(register: string, operand: string, isRelaxed: boolean): boolean {
  if (register === operand) return true;
  if (register === 'pred' || operand === 'pred') return false;
  const [have, want] = [bitsOfType(register), bitsOfType(operand)];
  const [a, b] = [kindOfType(register), kindOfType(operand)];
  if (have === want) return a === 'b' || b === 'b' || (a !== 'f' && b !== 'f');
  // A float fits only a wider register of bits. Bits can be read from and written to any wider register.
  return isRelaxed && have > want && (b === 'b' || (a !== 'f' && (b !== 'f' || a === 'b')));
}
