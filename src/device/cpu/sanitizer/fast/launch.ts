/**
 * A launch with the fast sanitizer: vectorized code with checks that trap where something may be wrong. The launch then falls back to the
 * precise sanitizer, so the contents of the buffers that the kernel writes are kept.
 */
import type { Allocation } from '../../observe/allocations.ts';
import { BlockTimeout } from '../../observe/endings.ts';
import type { Observer, SanitizedLaunch } from '../../observe/observer.ts';
import { maxGridThreads } from './address-range.ts';
import type { AccessChecks } from './insert-checks.ts';
import { compactCells, newShadow, type Shadow, storeWritten } from './shadow.ts';
import { checkGlobal, oldTime, type TargetGlobal, targetGlobal } from './shadow-state.ts';
import { rangeOfTarget, type TargetRange } from './target-ranges.ts';

/** Milliseconds that a block may take if its threads may wait for each other. */
const maxWaitMs = 500;

export interface FastSanitizer extends Observer {
  /** Restores the contents of the buffers that the kernel has written. */
  restore(): void;
}

/** Starts the checks; undefined if there is no memory for their shadow, or if the launch is too large for them. */
export function startFastSanitizer(launch: SanitizedLaunch, checks: AccessChecks): FastSanitizer | undefined {
  const { memory, request, allocations } = launch;
  if (request.grid.some((blocks, axis) => blocks * request.block[axis]! > maxGridThreads)) return undefined;
  allocations.keepFreed();
  const ranges = checks.targets.map((target) => rangeOfTarget(launch, target));
  if (ranges.some(({ bytes }) => bytes >= 2 ** 31)) return undefined;
  const shadow = newShadow(launch, checks, ranges);
  if (!shadow) return undefined;
  const backups = backUp(launch, shadow.written);
  if (!backups) {
    memory.give(shadow.start);
    return undefined;
  }
  let global: ((name: string) => WebAssembly.Global) | undefined;
  return {
    imports: {
      renew() {
        compactCells(launch, checks, shadow);
        global!(checkGlobal('time')).value = oldTime;
      },
    },
    begin(of) {
      global = of;
      for (const [name, value] of globalsOf(checks, ranges, shadow)) of(name).value = value;
    },
    ...(checks.mayWait ? { tick: newBlockTimer() } : {}),
    finish() {
      if (checks.kinds.has('init')) storeWritten(launch, shadow);
      else allocations.writeAll();
    },
    restore() {
      for (const { allocation, bytes } of backups) memory.view(allocation.address, allocation.size).set(bytes);
    },
    end: () => memory.give(shadow.start),
  };
}

/** Throws when one block has run for too long. */
function newBlockTimer(): (block: string) => void {
  let [current, since] = ['', 0];
  return (block) => {
    const now = performance.now();
    if (block !== current) [current, since] = [block, now];
    else if (now - since > maxWaitMs) throw new BlockTimeout();
  };
}

interface Backup {
  readonly allocation: Allocation;
  readonly bytes: Uint8Array;
}

/** Copies of buffers; undefined if there is no room for them on the host. */
function backUp({ memory }: SanitizedLaunch, buffers: readonly Allocation[]): Backup[] | undefined {
  try {
    return buffers.map((allocation) => ({ allocation, bytes: memory.view(allocation.address, allocation.size).slice() }));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The globals of the module, which are 0 at the start; a base of 0 stands for no shadow. */
function globalsOf({ targets }: AccessChecks, ranges: readonly TargetRange[], { shared, cells, writtenBytes }: Shadow): [string, number][] {
  const cleared = shared.writtenBytes?.start;
  const ofShared: [string, number][] =
    cleared === undefined
      ? []
      : [
          [checkGlobal('first'), cleared],
          [checkGlobal('end'), cleared + shared.words],
        ];
  const ofTargets = targets.flatMap((_, i) => {
    const { start, bytes, isShared, allocation } = ranges[i]!;
    const values: Record<TargetGlobal, number> = {
      start,
      bytes,
      cells: (isShared ? shared.cells : allocation && cells.get(allocation))?.base ?? 0,
      written: (isShared ? shared.writtenBytes : allocation && writtenBytes.get(allocation))?.base ?? 0,
    };
    return Object.entries(values).map(([name, value]): [string, number] => [targetGlobal(i, name as TargetGlobal), value | 0]);
  });
  return [[checkGlobal('time'), oldTime], ...ofShared, ...ofTargets];
}
