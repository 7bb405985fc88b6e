/** The counters of a profile: for each basic block, and for each of its accesses. */
import type { AccessKind, GlobalAccesses, SharedAccesses } from '../../../profile.ts';
import type { ObservedLaunch } from '../../observe/observer.ts';
import { type ProfiledAccess, profiledAccess } from './classes.ts';

export interface Counts {
  /** For each basic block: executions by warps, by threads, and divergent ends. */
  readonly warps: Float64Array;
  readonly lanes: Float64Array;
  readonly diverged: Float64Array;
  /** The accesses of each basic block. */
  readonly accesses: readonly (readonly CountedAccess[])[];
  /** Bitmaps of the sectors of memory that were read and written. */
  readonly read: Uint8Array;
  readonly written: Uint8Array;
}

export interface CountedAccess extends ProfiledAccess {
  readonly global: GlobalAccesses;
  readonly shared: SharedAccesses;
}

export const noGlobal = (): GlobalAccesses => ({ requests: 0, lanes: 0, bytes: 0, sectors: 0, lines: 0, leastSectors: 0 });
export const noShared = (): SharedAccesses => ({ requests: 0, lanes: 0, wavefronts: 0, leastWavefronts: 0 });
export const byKind = <T>(make: () => T): Record<AccessKind, T> => ({ load: make(), store: make(), atomic: make() });

/** Counters of zero. */
export function newCounts({ compiled, memory }: ObservedLaunch): Counts {
  const { kernel } = compiled.instrumented!.plan;
  const perBlock = () => new Float64Array(kernel.blocks.length);
  const accesses = kernel.blocks.map(({ body }) =>
    body.flatMap((value): CountedAccess[] => {
      const access = profiledAccess(kernel, kernel.insts[value]!);
      return access ? [{ ...access, global: noGlobal(), shared: noShared() }] : [];
    }),
  );
  const map = () => new Uint8Array(memory.memory.buffer.byteLength / 256 + 1);
  return { warps: perBlock(), lanes: perBlock(), diverged: perBlock(), accesses, read: map(), written: map() };
}
