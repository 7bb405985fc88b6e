/** From which versions and architectures on a form exists, and why one is refused. */

/** The first language version and the first architecture with a form. */
export interface Since {
  readonly ptx: number;
  readonly sm: number;
}

/** The reason for a refusal, and an alternative. */
export interface Refusal {
  readonly refused: string;
  readonly instead?: string;
}

/** A form that architectures from `sm` on do not have, nor the language from version `ptx` on; the refusal is for modules of those. */
export interface Withdrawn extends Refusal {
  readonly sm: number;
  readonly ptx?: number;
}

/** What a module says of itself: its language version and architecture. */
export interface Stated {
  readonly version: number | undefined;
  readonly sm: number | undefined;
}

/** Whether modules of a version for an architecture have a form no more. */
export function isWithdrawn({ sm, ptx }: Withdrawn, stated: Stated): boolean {
  const isLater = (given: number | undefined, from: number | undefined): boolean =>
    given !== undefined && from !== undefined && given >= from;
  return isLater(stated.sm, sm) || isLater(stated.version, ptx);
}
