/** What sorts have in common: the types of keys and values, and the digits by which keys are in their order. */
import { constant, u32, u64, type Value } from '../build/index.ts';
import type { Any, AnyValue } from './combine.ts';
import { named } from './routine.ts';

/** The types of keys. */
export type SortKey = 'u32' | 's32' | 'f32' | 'u64' | 's64' | 'f64';
/** The types of what is sorted with the keys. */
export type SortValue = 'u32' | 's32' | 'f32' | 'u64' | 's64' | 'f64';

/** What is sorted, and how. */
export interface SortForm {
  readonly key: SortKey;
  /** The bytes of a value, or 0 for none. */
  readonly value: 0 | 4 | 8;
  readonly isDescending: boolean;
}
/** A digit has eight bits. */
export const digits = 256;

/** Whether keys have 64 bits. */
export const isLong = (key: SortKey): boolean => key.endsWith('64');
/** Unsigned integers of a number of bytes. */
export const bitsType = (bytes: number): Any => (bytes === 8 ? u64 : u32) as unknown as Any;
/** Keys as their bits. */
export const keyType = ({ key }: SortForm): Any => bitsType(isLong(key) ? 8 : 4);
/** The name of a kernel. */
export const sortName = (what: string, { key, value, isDescending }: SortForm): string =>
  named('radix', what, key, value > 0 && `with${value * 8}`, isDescending && 'descending');

/** A digit of a key: the bits are such that they are in the order of the keys. */
export function digitOf(form: SortForm, bits: AnyValue, shift: Value<'u32'>): Value<'u32'> {
  const top = isLong(form.key) ? 63 : 31;
  let key = bits as unknown as Value<'u32'>;
  if (form.key.startsWith('s')) key = key.xor((1n << BigInt(top)) as unknown as number);
  if (form.key.startsWith('f')) {
    // Negative numbers are ordered by their complement.
    const isNegative = key.shr(top).ne(0);
    key = isNegative.select(key.not(), key.or((1n << BigInt(top)) as unknown as number));
  }
  const digit = (key.shr(shift) as unknown as Value<'u64'>).to(u32).and(digits - 1);
  return form.isDescending ? constant(u32, digits - 1).sub(digit) : digit;
}

/** What a launch of a pass over the keys is given. */
export interface SortPass {
  readonly keys: unknown;
  readonly values: unknown;
  readonly toKeys: unknown;
  readonly toValues: unknown;
  /** The keys of each digit in each tile, and then the places where they go: digit by digit. */
  readonly counts: unknown;
  readonly n: number;
  readonly tiles: number;
  readonly shift: number;
}
