/** Rows of legal PTX that is refused: what a group of them has in common is said once. */
import { type Refusal, type Row, type RowSpec, row, type Since, type ValueSets, type VectorOperands } from '../../model/row.ts';

interface Common {
  readonly since: Since;
  readonly source: string;
  readonly status: Refusal;
}

/** What is left to say in a row of a group, and what may be said otherwise than for the group. */
type Rest<S extends string, V extends ValueSets, B extends VectorOperands<S>> = Omit<
  RowSpec<S, V, B>,
  keyof Common | 'lower' | 'cases' | 'control'
> &
  Partial<Common>;

/** Makes the rows of a group. */
export const refusing =
  (common: Common) =>
  <const S extends string, const V extends ValueSets = Record<never, never>, const B extends VectorOperands<S> = Record<never, never>>(
    spec: Rest<S, V, B>,
  ): Row =>
    row({ ...common, ...spec } as unknown as RowSpec<S, V, B>);

/** Words that several files use. */
export const scopes = ['cta', 'cluster', 'gpu', 'sys'] as const;
