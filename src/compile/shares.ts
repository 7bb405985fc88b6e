/**
 * Shares of a large module, which are compiled at the same time: a share is some of the entries. Kernels do not depend on one another, so the
 * metallib of all shares is, byte for byte, that of the whole module.
 */
import type { KernelReflection } from '../air/index.ts';
import type { KernelBitcode } from './library.ts';

/** One of the shares of a module. */
export interface Share {
  readonly number: number;
  readonly count: number;
}

/** An entry that was compiled. */
export interface CompiledEntry extends KernelBitcode {
  /** Its number among the entries of the module. */
  readonly entry: number;
  readonly reflection: KernelReflection;
}

/** The entries of a share by the lengths of all entries: the longest first, each to the share that has least. The same everywhere. */
export function entriesOfShare(lengths: readonly number[], { number, count }: Share): ReadonlySet<number> {
  const order = lengths.map((_, entry) => entry).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const sums = new Array<number>(count).fill(0);
  const own = new Set<number>();
  for (const entry of order) {
    const least = sums.indexOf(Math.min(...sums));
    sums[least]! += lengths[entry]!;
    if (least === number) own.add(entry);
  }
  return own;
}

/** All entries in the order of the module; undefined if one is missing or is there twice. */
export function joined(parts: readonly { readonly entries: readonly CompiledEntry[] }[], count: number): CompiledEntry[] | undefined {
  const all = parts.flatMap(({ entries }) => entries).sort((a, b) => a.entry - b.entry);
  return all.length === count && all.every(({ entry }, i) => entry === i) ? all : undefined;
}
