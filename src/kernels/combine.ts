/** Operations that join values: what reductions and scans are made of. */
import { bf16, f16, f32, f64, s32, s64, type Type, u32, u64, type Value } from '../build/index.ts';

/** The types of elements that are reduced. */
export type Reduced = 'f32' | 'f64' | 'f16' | 'bf16' | 's32' | 'u32' | 's64' | 'u64';
/** The types that are added and compared: halves are computed with f32. */
export type Joined = Exclude<Reduced, 'f16' | 'bf16'>;
/** An operation. */
export type Joining = 'sum' | 'min' | 'max';

/** The types by name. */
export const reducedTypes = { f32, f64, f16, bf16, s32, u32, s64, u64 } as const;
/** The types as the body of a kernel sees them: what it does is the same for all. */
export type Any = Type<'f32'>;
/** A value of any of the types. */
export type AnyValue = Value<'f32'>;

/** The type in which a type is computed. */
export const joinedType = (name: Reduced): Any => (name === 'f16' || name === 'bf16' ? f32 : reducedTypes[name]) as unknown as Any;

/** The value that changes no other. */
export function identityOf(how: Joining, name: string): number | bigint {
  if (how === 'sum') return 0;
  const [isMin, isLong, isUnsigned] = [how === 'min', name.endsWith('64'), name.startsWith('u')];
  if (name.startsWith('f') || name === 'bf16') return isMin ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const bits = isLong ? 64n : 32n;
  if (isUnsigned) return isMin ? (1n << bits) - 1n : 0n;
  return isMin ? (1n << (bits - 1n)) - 1n : -(1n << (bits - 1n));
}

const isFloat = (value: AnyValue): boolean => ['f32', 'f64'].includes(value.type);

/** Whether `b` comes before `a`: NaN before every number. */
export function isBefore(how: 'min' | 'max', b: AnyValue, a: AnyValue): Value<'pred'> {
  const ordered = how === 'min' ? b.lt(a) : b.gt(a);
  return isFloat(a) ? ordered.or(b.isNan().and(a.isNan().not())) : ordered;
}

/** Two values as one; NaN if one is. */
export function join(how: Joining): (a: AnyValue, b: AnyValue) => AnyValue {
  if (how === 'sum') return (a, b) => a.add(b);
  return (a, b) => isBefore(how, b, a).select(b, a);
}
