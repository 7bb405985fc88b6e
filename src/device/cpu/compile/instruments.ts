/** What a compilation of a kernel has besides the kernel: what looks for faults, what counts, what takes threads in another order. */
import type { SanitizeKind } from '../../device.ts';

export interface Instruments {
  /** What to look for. */
  readonly sanitize?: ReadonlySet<SanitizeKind>;
  /** Whether the launch says in which order blocks, warps and threads are taken. */
  readonly isOrdered?: boolean;
  /** What watches how threads go through the kernel. */
  readonly probe?: 'trace' | 'profile';
  /** Whether singles are computed without subnormal ones. */
  readonly isFlushing?: boolean;
}

/** The same for the same instruments. */
export const instrumentsKey = ({ sanitize = new Set(), isOrdered = false, probe }: Instruments): string =>
  [[...sanitize].sort().join(), isOrdered, probe ?? ''].join(' ');
