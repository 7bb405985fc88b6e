/** The only way to throw: a broken promise of our own code, never a fault of the input. */

/** Thrown by `bug`; `cumetal` prints one paragraph and exits 70 when it meets one. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
}

/** Reports that our own code is wrong. */
export function bug(message: string): never {
  throw new InternalError(message);
}

/** Proof that a `switch` is exhaustive. */
export function unreachable(value: never, what: string): never {
  return bug(`${what}: unexpected ${JSON.stringify(value)}`);
}
