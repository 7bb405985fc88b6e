/** Which options an operation has: by its kind and the type of its operands. What has no such option is an error, and never left out. */
import { fail } from './fail.ts';
import type { FloatName, PairName, TypeName } from './types.ts';

/** Roundings: to the nearest (ties to even), to zero, down, up. */
export type Rounding = 'rn' | 'rz' | 'rm' | 'rp';

/** How a float operation rounds, and what it does at the ends of the range. */
export interface FloatOptions {
  /** To the nearest (`rn`, the default), to zero, down or up (f32, f64). f16 and bf16 round to the nearest. */
  readonly round?: Rounding;
  /** Flushes subnormal operands and results to zero (f32, f16). */
  readonly ftz?: boolean;
  /** Clamps the result to 0 to 1; NaN is 0 (f32, f16). Sums and differences of s32 are clamped to its range. */
  readonly sat?: boolean;
}

/** How a division or a root is computed: rounded as IEEE 754 demands, by `full` (2 ulp over the whole range) or by `approx`. */
export interface DivisionOptions {
  /** `rn` by default; `full` (divisions alone) and `approx` are for f32, and for f16 and bf16, which are computed with it and then rounded. */
  readonly mode?: Rounding | 'full' | 'approx';
  /** Flushes subnormal operands and results to zero (f32). */
  readonly ftz?: boolean;
}

/** What a minimum or a maximum of floats does with NaN. */
export interface ExtremeOptions {
  /** Whether NaN is the result if an operand is; else the other operand is. f32 needs sm_80 for it; f64 has none. */
  readonly nan?: boolean;
  /** Flushes subnormal operands to zero (f32, f16). */
  readonly ftz?: boolean;
}

/** How floats compare. */
export interface CompareOptions {
  /** Whether the result is true if an operand is NaN. As in JavaScript, only `ne` is by default. */
  readonly unordered?: boolean;
  /** Flushes subnormal operands to zero (f32, f16). */
  readonly ftz?: boolean;
}

type Half = 'f16' | 'f16x2';
type Bfloat = 'bf16' | 'bf16x2';

/** The options of products of a type. */
export type ProductOptionsOf<T extends TypeName> = T extends 'f32'
  ? FloatOptions
  : T extends 'f64'
    ? Pick<FloatOptions, 'round'>
    : T extends Half
      ? Pick<FloatOptions, 'ftz' | 'sat'>
      : undefined;

/** The options of sums and differences of a type. */
export type SumOptionsOf<T extends TypeName> = T extends 's32' ? Pick<FloatOptions, 'sat'> : ProductOptionsOf<T>;

/** The options of what changes the sign alone. */
export type SignOptionsOf<T extends TypeName> = T extends 'f32' ? Pick<FloatOptions, 'ftz'> : undefined;

/** The options of divisions and roots of a type. */
export type DivisionOptionsOf<T extends TypeName> = T extends 'f32'
  ? DivisionOptions
  : T extends 'f64'
    ? { readonly mode?: Rounding }
    : T extends 'f16' | 'bf16'
      ? { readonly mode?: 'rn' | 'full' | 'approx' }
      : undefined;

/** The options of minima and maxima of a type. */
export type ExtremeOptionsOf<T extends TypeName> = T extends 'f32' | Half
  ? ExtremeOptions
  : T extends Bfloat
    ? Pick<ExtremeOptions, 'nan'>
    : undefined;

/** The options of comparisons of a type. */
export type CompareOptionsOf<T extends TypeName> = T extends 'f32' | 'f16'
  ? CompareOptions
  : T extends 'f64' | 'bf16'
    ? Pick<CompareOptions, 'unordered'>
    : undefined;

type Kind = 'sum' | 'product' | 'sign' | 'division' | 'extreme' | 'comparison';
type Family = FloatName | PairName | 's32' | 'other';

/** The options that are more than the default, by operation and type. */
const has: Readonly<Record<Kind, Partial<Record<Family, readonly string[]>>>> = {
  sum: { f32: ['round', 'ftz', 'sat'], f64: ['round'], f16: ['ftz', 'sat'], f16x2: ['ftz', 'sat'], s32: ['sat'] },
  product: { f32: ['round', 'ftz', 'sat'], f64: ['round'], f16: ['ftz', 'sat'], f16x2: ['ftz', 'sat'] },
  sign: { f32: ['ftz'] },
  division: { f32: ['mode', 'ftz'], f64: ['mode'], f16: ['mode'], bf16: ['mode'] },
  extreme: { f32: ['nan', 'ftz'], f16: ['nan', 'ftz'], f16x2: ['nan', 'ftz'], bf16: ['nan'], bf16x2: ['nan'] },
  comparison: { f32: ['unordered', 'ftz'], f16: ['unordered', 'ftz'], f64: ['unordered'], bf16: ['unordered'] },
};

/** Throws CM5088 for an option that an operation on a type does not have. */
export function assertOptions(kind: Kind, type: TypeName, options: object): void {
  const allowed = has[kind][type as Family] ?? [];
  for (const [name, value] of Object.entries(options)) {
    const isDefault = value === undefined || value === false || value === 'rn';
    if (!isDefault && !allowed.includes(name)) fail('CM5088', { what: `\`${name}\``, why: `this operation on ${type} has no such option` });
  }
}

/** Throws CM5088 for a directed rounding of what is computed with f32 and rounded again. */
export function assertNearest(type: TypeName, mode: string): void {
  if (['rz', 'rm', 'rp'].includes(mode))
    fail('CM5088', { what: `\`${mode}\``, why: `${type} is computed with f32 and rounded to the nearest` });
}
