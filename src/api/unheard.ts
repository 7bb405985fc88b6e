/**
 * Errors of finished work that nobody has heard of. Awaiting the work, synchronizing, `device.failure` and a call that fails all tell the
 * caller. An error that occurs while nothing waits for the device goes to its `onError`, or else becomes an unhandled rejection, like the
 * error of any promise that nobody awaits.
 */
import type { Context } from './context.ts';
import type { CumetalError } from './failures.ts';

export interface Unheard {
  readonly errors: Set<CumetalError>;
  /** The number of callers that wait for work of the device. */
  waits: number;
  /** Whether the errors will be passed on at the end of this turn of the event loop. */
  isDue: boolean;
  /** Whether callers ask for the last error themselves, as those of CUDA's functions do. */
  isPolled: boolean;
}

/** No errors. */
export const nothingUnheard = (): Unheard => ({ errors: new Set(), waits: 0, isDue: false, isPolled: false });

/** Records an error of finished work. */
export function noteUnheard(context: Context, error: CumetalError): void {
  context.unheard.errors.add(error);
  passOnLater(context);
}

/** Forgets an error that a caller has received, or all of them. */
export function noteHeard({ unheard: { errors } }: Context, error?: CumetalError): void {
  if (error) errors.delete(error);
  else errors.clear();
}

/** Waits for work of the device; meanwhile its errors have somebody to hear them. */
export async function waiting<T>(context: Context, work: Promise<T>): Promise<T> {
  const { unheard } = context;
  unheard.waits++;
  try {
    return await work;
  } finally {
    unheard.waits--;
    passOnLater(context);
  }
}

/** Passes errors on when the current turn of the event loop has ended, so that whoever is told of them now can hear them first. */
function passOnLater(context: Context): void {
  const { unheard } = context;
  if (unheard.isDue || unheard.errors.size === 0) return;
  unheard.isDue = true;
  setTimeout(() => {
    unheard.isDue = false;
    if (unheard.waits > 0) return;
    const errors = [...unheard.errors];
    unheard.errors.clear();
    for (const error of errors) {
      if (context.onError) context.onError(error);
      else if (!unheard.isPolled) void Promise.reject(error);
    }
  }, 0);
}
