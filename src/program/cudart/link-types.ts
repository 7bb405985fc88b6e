/** A link that is going on. */
export interface Link {
  /** PTX that has been added. */
  readonly texts: string[];
  /** Memory of the program with the result, which lives until the link is destroyed. */
  result: bigint | undefined;
}
