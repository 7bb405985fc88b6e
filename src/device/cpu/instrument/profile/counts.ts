/** What is counted while a launch runs: by basic block, and by the accesses of each. */
import type { AccessKind, GlobalAccesses, SharedAccesses } from '../../../profile.ts';
import type { ObservedLaunch } from '../../observe/observer.ts';
import { type WatchedAccess, watchedAccess } from './classes.ts';

export interface Counts {
  /** By basic block: how often warps ran it, threads did, and threads parted at its end. */
  readonly warps: Float64Array;
  readonly lanes: Float64Array;
  readonly parted: Float64Array;
  /** By basic block: its accesses. */
  readonly accesses: readonly (readonly CountedAccess[])[];
  /** A bit for each sector of memory that was read, and for each that was written. */
  readonly read: Uint8Array;
  readonly written: Uint8Array;
}

export interface CountedAccess extends WatchedAccess {
  readonly global: GlobalAccesses;
  readonly shared: SharedAccesses;
}

export const noGlobal = (): GlobalAccesses => ({ requests: 0, lanes: 0, bytes: 0, sectors: 0, lines: 0, leastSectors: 0 });
export const noShared = (): SharedAccesses => ({ requests: 0, lanes: 0, wavefronts: 0, leastWavefronts: 0 });
export const byKind = <T>(make: () => T): Record<AccessKind, T> => ({ load: make(), store: make(), atomic: make() });

/** Nothing yet. */
export function newCounts({ compiled, memory }: ObservedLaunch): Counts {
  const { kernel } = compiled.instrumented!.plan;
  const perBlock = () => new Float64Array(kernel.blocks.length);
  const accesses = kernel.blocks.map(({ body }) =>
    body.flatMap((value): CountedAccess[] => {
      const access = watchedAccess(kernel, kernel.insts[value]!);
      return access ? [{ ...access, global: noGlobal(), shared: noShared() }] : [];
    }),
  );
  const map = () => new Uint8Array(memory.memory.buffer.byteLength / 256 + 1);
  return { warps: perBlock(), lanes: perBlock(), parted: perBlock(), accesses, read: map(), written: map() };
}
