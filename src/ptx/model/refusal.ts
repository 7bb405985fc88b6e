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

/** A form that architectures from `sm` on do not have; the refusal is for modules of those. */
export interface Withdrawn extends Refusal {
  readonly sm: number;
}
