/** An entry of the catalogue. Its key is the code, `CM` and four digits; a code is never reused or renumbered. */
export interface Entry {
  readonly severity: 'error' | 'warning' | 'note';
  /** A noun phrase that names the problem, for lists. */
  readonly title: string;
  /** A lower-case sentence without full stop; `{name}` is a hole. */
  readonly message: string;
  /** A suggested action. */
  readonly help?: string;
  /** Another name of the same lint. */
  readonly alias?: string;
  /** The longer explanation that `cumetal explain CODE` prints, with a wrong and a right example where one helps. */
  readonly page: string;
}

/** Keeps the literal types of an entry list, from which codes and holes are typed. */
export const entries = <const T extends Record<`CM${number}`, Entry>>(list: T): T => list;
