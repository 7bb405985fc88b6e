/** Resources of a launch that are released together: when it has ended, or when it cannot be prepared. */

export interface Scope {
  /** Adds an action for the release. `isWell` is whether the launch has run to its end. */
  defer(release: (isWell: boolean) => void): void;
  /** Runs the deferred actions once, the latest first, even if one of them throws. */
  release(isWell: boolean): void;
}

/** A scope without resources. */
export function newScope(): Scope {
  const actions: ((isWell: boolean) => void)[] = [];
  const release = (isWell: boolean): void => {
    const action = actions.pop();
    if (!action) return;
    try {
      action(isWell);
    } finally {
      release(isWell);
    }
  };
  return { defer: (action) => void actions.push(action), release };
}

/** Acquires resources in a new scope, which is released at once if `acquire` returns undefined or throws. */
export function withScope<T>(acquire: (scope: Scope) => T | undefined): T | undefined {
  const scope = newScope();
  let acquired: T | undefined;
  try {
    acquired = acquire(scope);
    return acquired;
  } finally {
    if (acquired === undefined) scope.release(false);
  }
}
