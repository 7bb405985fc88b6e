/** Mutants that no test can tell from the code, each with the reason: no output of ours depends on what they change. */
export interface Equivalent {
  readonly file: string;
  /** The line without and with the fault, as a run prints them. */
  readonly line: string;
  readonly mutated: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [];
