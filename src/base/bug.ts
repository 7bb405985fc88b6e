/**
 * Internal errors. This is the only file that throws: an exception means a broken invariant of this program, never a fault of the input.
 */

/** Thrown by `bug`. `cumetal` prints one paragraph for it and exits with code 70. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
}

/** Reports a broken invariant of this program. */
export function bug(message: string): never {
  throw new InternalError(message);
}

/** Proves to the type checker that a `switch` is exhaustive. */
export function unreachable(value: never, what: string): never {
  return bug(`${what}: unexpected ${JSON.stringify(value)}`);
}
