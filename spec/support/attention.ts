/** The sizes of attention in specs. */
export interface Heads {
  readonly batch: number;
  readonly queries: number;
  readonly keys: number;
  readonly heads: number;
  /** Heads of keys and values, each for several of the queries. */
  readonly keyHeads: number;
}

/** Sizes, and whether a query sees only the keys up to its own place. */
export interface CausalHeads extends Heads {
  readonly causal: boolean;
}
