/** The instruments that a kernel is compiled with: a sanitizer, a probe, an order of threads. */

import type { SourceFile } from '../../../base/source.ts';
import type { Instrumentation } from '../../../engine/codegen/hooks.ts';
import type { SanitizeKind } from '../../device.ts';
import { newProfileProbe } from '../instrument/profile/record.ts';
import { newThreadOrder } from '../instrument/thread-order/state.ts';
import { newTraceProbe } from '../instrument/trace/record.ts';
import type { Site } from '../observe/sites.ts';
import { newSanitizer, type Sanitizer } from '../sanitizer/precise/sanitizer.ts';
import { isOfOwnBlock, rolesIn } from '../sanitizer/precise/sync-roles.ts';

export interface Instruments {
  /** Kinds of faults to look for. */
  readonly sanitize?: ReadonlySet<SanitizeKind>;
  /** The text, if it has asynchronous operations or barriers in memory. */
  readonly asyncSource?: SourceFile | undefined;
  /** Whether the launch sets the order of blocks, warps and threads. */
  readonly isOrdered?: boolean;
  /** The probe that records the execution of threads. */
  readonly probe?: 'trace' | 'profile';
  /** Whether single-precision subnormals are flushed to zero. */
  readonly isFlushing?: boolean;
}

/** A key that equal instruments share. */
export const instrumentsKey = ({ sanitize = new Set(), isOrdered = false, probe, asyncSource }: Instruments): string =>
  [[...sanitize].sort().join(), isOrdered, probe ?? '', asyncSource !== undefined].join(' ');

/** The instrumentation of one compilation; `sites` lists the instructions that reports name, by number from 1 on, once it is done. */
export function newInstrumentation({
  sanitize,
  asyncSource,
  isOrdered,
  probe,
  isFlushing,
}: Instruments): Instrumentation & { sites(): readonly Site[] } {
  let sanitizer: Sanitizer | undefined;
  return {
    sanitizer:
      sanitize &&
      ((plan, module, host) => {
        sanitizer = newSanitizer(
          plan,
          module,
          host,
          sanitize,
          asyncSource && {
            roleAt: rolesIn(asyncSource),
            isOwnAt: (line) => isOfOwnBlock(asyncSource, line),
          },
        );
        return sanitizer;
      }),
    threadOrder: isOrdered ? newThreadOrder : undefined,
    probe: probe && (probe === 'trace' ? newTraceProbe : newProfileProbe),
    isFlushing,
    sites: () => sanitizer?.sites.list ?? [],
  };
}
