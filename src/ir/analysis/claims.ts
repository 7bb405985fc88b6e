/** Claims about values by those of their operands, on demand and to a depth: each is made once where the depth allows that. */
import type { Value } from '../kernel.ts';

/** A claim that no depth has cut, and how many operands deep it was looked for. */
interface WholeClaim<T> {
  readonly claim: T;
  readonly height: number;
}

/**
 * The claim about a value that is so many operands deep in a query. `make` makes it, asking for those of operands one deeper; `beyond` is the claim beyond
 * the deepest. A claim that the depth has cut is one of its depth alone, so that none depends on earlier queries; any other holds wherever all that it is
 * made of is within the depth.
 */
export function claimsTo<T>(
  deepest: number,
  beyond: (value: Value) => T,
  make: (value: Value, depth: number) => T,
): (value: Value, depth: number) => T {
  const whole = new Map<Value, WholeClaim<T>>();
  /** By value and depth. */
  const cut = new Map<number, T>();
  /** The depth that the query at hand has reached. */
  let reached = 0;
  return (value, depth) => {
    if (depth > deepest) {
      reached = depth;
      return beyond(value);
    }
    const known = whole.get(value);
    if (known !== undefined && depth + known.height <= deepest) {
      reached = Math.max(reached, depth + known.height);
      return known.claim;
    }
    const key = value * (deepest + 1) + depth;
    if (cut.has(key)) {
      reached = deepest + 1;
      return cut.get(key)!;
    }
    const before = reached;
    reached = depth;
    const claim = make(value, depth);
    if (reached > deepest) cut.set(key, claim);
    else whole.set(value, { claim, height: reached - depth });
    reached = Math.max(before, reached);
    return claim;
  };
}
