/** Deferred expressions, and snapshots of the maps that hold them. */
import type { Value } from '../../../ir/index.ts';

/** A vector expression that is emitted at its use. */
export interface Deferred {
  readonly write: (part: number) => void;
  readonly depth: number;
  /** Vectors per pack that it alone keeps alive. */
  readonly held: number;
  /** Operands that are used up when it is emitted. */
  readonly operands: readonly Value[];
  /** Whether it reads memory, so that no write may be moved before it. */
  readonly reads: boolean;
  /** A local that belongs to it. */
  readonly base?: number;
}

/** Remembers the entries of some values; the returned function restores them. */
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
