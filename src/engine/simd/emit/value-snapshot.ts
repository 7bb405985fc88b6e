/** What is kept of values while code is written. */
import type { Value } from '../../../ir/index.ts';

/** A vector expression that is written where it is used. */
export interface Deferred {
  readonly write: (part: number) => void;
  readonly depth: number;
  /** Vectors of each pack that are held for it and for nothing else. */
  readonly held: number;
  /** What it uses up when it is written. */
  readonly operands: readonly Value[];
  /** Whether it reads memory, so that no write may come before it. */
  readonly reads: boolean;
  /** A local that is its own. */
  readonly base?: number;
}

/** Gives maps back what they have of some values now, whatever they come to have. */
export function snapshotOf(maps: readonly Map<Value, unknown>[], values: readonly Value[]): () => void {
  const kept = maps.map((map) => ({ map, known: values.map((value) => [value, map.get(value)] as const) }));
  return () => {
    for (const { map, known } of kept)
      for (const [value, what] of known) {
        if (what === undefined) map.delete(value);
        else map.set(value, what);
      }
  };
}
