/** Builds refused rows. A group of rows shares its introduction, source and reason. */
import { type Refusal, type Row, type RowSpec, row, type Since, type ValueSets, type VectorOperands } from '../../model/row.ts';

interface Common {
  readonly since: Since;
  readonly source: string;
  readonly status: Refusal;
}

/** The part of a row specification that is not shared; it may override the shared part. */
type Rest<S extends string, V extends ValueSets, B extends VectorOperands<S>> = Omit<
  RowSpec<S, V, B>,
  keyof Common | 'lower' | 'cases' | 'control'
> &
  Partial<Common>;

/** A row constructor for a group. */
export const refusedGroup =
  (common: Common) =>
  <const S extends string, const V extends ValueSets = Record<never, never>, const B extends VectorOperands<S> = Record<never, never>>(
    spec: Rest<S, V, B>,
  ): Row =>
    row({ ...common, ...spec } as unknown as RowSpec<S, V, B>);

/** Scopes that several files use. */
export const scopes = ['cta', 'cluster', 'gpu', 'sys'] as const;
