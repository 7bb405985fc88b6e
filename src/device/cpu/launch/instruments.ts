/** What a compilation of a kernel has besides the kernel: what looks for faults, what counts, what takes threads in another order. */
import type { Instrumentation } from '../../../engine/codegen/hooks.ts';
import type { SanitizeKind } from '../../device.ts';
import { newProfileProbe } from '../instrument/profile/record.ts';
import { newThreadOrder } from '../instrument/thread-order/state.ts';
import { newTraceProbe } from '../instrument/trace/record.ts';
import type { Site } from '../observe/sites.ts';
import { newSanitizer, type Sanitizer } from '../sanitizer/precise/sanitizer.ts';

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

/** The instrumentation of one compilation; `sites` lists the instructions that reports name, by number from 1 on, once it is done. */
export function newInstrumentation({
  sanitize,
  isOrdered,
  probe,
  isFlushing,
}: Instruments): Instrumentation & { sites(): readonly Site[] } {
  let sanitizer: Sanitizer | undefined;
  return {
    sanitizer:
      sanitize &&
      ((plan, module, host) => {
        sanitizer = newSanitizer(plan, module, host, sanitize);
        return sanitizer;
      }),
    threadOrder: isOrdered ? newThreadOrder : undefined,
    probe: probe && (probe === 'trace' ? newTraceProbe : newProfileProbe),
    isFlushing,
    sites: () => sanitizer?.sites.list ?? [],
  };
}
