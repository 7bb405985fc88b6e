/**
 * Errors of finished work that have not reached a caller. They reach one through the work, a synchronization, `device.failure` or a call
 * that fails. An error that occurs while no caller waits for the device goes to `onError` of the device. Without it the error is an unhandled
 * rejection, like that of a promise without a handler.
 */
import type { CumetalError } from './failures.ts';

/** The part of a device that its errors need. */
interface Source {
  readonly unheard: Unheard;
  readonly onError: ((error: CumetalError) => void) | undefined;
}

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
export function noteUnheard(context: Source, error: CumetalError): void {
  context.unheard.errors.add(error);
  passOnLater(context);
}

/** Forgets an error that a caller has received, or all of them. */
export function noteHeard({ unheard: { errors } }: Source, error?: CumetalError): void {
  if (error) errors.delete(error);
  else errors.clear();
}

/** Waits for work of the device. Errors are kept meanwhile, because the caller may receive them. */
export async function waiting<T>(context: Source, work: Promise<T>): Promise<T> {
  const { unheard } = context;
  unheard.waits++;
  try {
    return await work;
  } finally {
    unheard.waits--;
    passOnLater(context);
  }
}

/** Passes errors on at the end of the current turn of the event loop, unless a caller receives them before that. */
function passOnLater(context: Source): void {
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
