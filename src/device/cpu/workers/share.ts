/**
 * A share of a launch: blocks are claimed in their order, some at a time, until there are no more. The lowest block that has not ended is
 * therefore always running, so a block may wait for the blocks before it on any thread.
 */

import { addDone, type Control, claim, claimed, isToLeave, lastUnit, noteStart, now, stopOverdue, stops, whyStop } from './control.ts';
import type { KernelInstance, RunBlocks } from './instance.ts';
import { clusterSizeOf, type ResidentShare, type Residents, runResidents, Waiting } from './residents.ts';

/** Thrown to stop a kernel: its time is up, it was cancelled, or a lower block failed. */
export class Stopped extends Error {}

/** The blocks of a launch, as all of its shares know them. */
export interface Work {
  readonly grid: readonly [number, number, number];
  /** Most shares. */
  readonly sharers: number;
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** Of a launch whose blocks may wait for each other: where those are that have begun. */
  readonly residents?: Residents | undefined;
}

export interface Share {
  /** The first unit of the current claim. */
  readonly first: number;
  /** Called by the kernel every few milliseconds. */
  tick(): void;
  /** Runs blocks for about so many milliseconds, or until there are no more; gives the time that a unit takes, and how many are left. */
  takeFor(instance: KernelInstance, ms: number): { readonly each: number; readonly left: number };
  /** Runs blocks until there are no more. `at` is the current time, if the caller has it. */
  take(instance: KernelInstance, at?: number): void;
}

/** Most units. They are counted in 32 bits, with room for claims beyond the end. */
const maxUnits = 2 ** 29;
/** Milliseconds of one claim, at least and at most, and the most by which the number of blocks grows from one claim to the next. */
const [minClaimMs, maxClaimMs, maxGrowth] = [0.02, 0.25, 8];
const maxUnitsPerClaim = 2 ** 20;

/** Blocks of a launch. */
export const blocksOf = ({ grid: [x, y, z] }: Pick<Work, 'grid'>): number => x * y * z;

/** Blocks of a unit, in which blocks are claimed. */
export const unitOf = (work: Pick<Work, 'grid'>): number => Math.ceil(blocksOf(work) / maxUnits);

/** Units of a launch. */
export const unitsOf = (work: Pick<Work, 'grid'>): number => Math.ceil(blocksOf(work) / unitOf(work));

interface Turns extends Pick<ResidentShare, 'control' | 'slot' | 'instance' | 'parts' | 'residents' | 'choose' | 'tick'> {
  readonly work: Work;
  readonly units: number;
}

/** Runs blocks that may wait for each other, by turns, until there are no more. */
function takeByTurns({ work, units, ...run }: Turns): void {
  const { control, slot } = run;
  const claimOne = (hasOthers: boolean): number | undefined => {
    // Blocks that wait for others cannot be left to another share.
    const mayClaim = whyStop(control) === stops.no && (hasOthers || !isToLeave(control, slot)) && claimed(control) < units;
    const block = mayClaim ? claim(control, clusterSizeOf(run.residents)) : units;
    return block < units && block <= lastUnit(control) ? block : undefined;
  };
  const isStop = (error: unknown): boolean => error instanceof Stopped || error instanceof Waiting;
  runResidents({ ...run, grid: work.grid, sharers: work.sharers, claimOne, isStop });
}

/** Milliseconds below which the time of a claim is not known well. */
const minMeasuredMs = 1;

/** Runs units for about so many milliseconds, by `run`, which takes at most so many; gives the shortest time of one, as a thread may lose its core. */
function runFor(ms: number, run: (most: number) => number): number {
  const start = performance.now();
  let [end, count, each] = [start, run(1), Number.POSITIVE_INFINITY];
  while (count > 0) {
    const before = end;
    end = performance.now();
    const own = (end - before) / count;
    if (end - before >= minMeasuredMs || each === Number.POSITIVE_INFINITY) each = Math.min(each, own);
    const wanted = Math.floor((start + ms - end) / own);
    count = wanted < 1 ? 0 : run(Math.min(wanted, Math.max(1, Math.ceil((2 * minMeasuredMs) / own)), 4 * count));
  }
  return each;
}

/** A share of a launch. `poll` is called between blocks and by ticks; without it the only share of a launch claims all blocks at once. */
export function newShare(work: Work, control: Control, slot: number, poll?: () => void): Share {
  const blocks = blocksOf(work);
  const unit = unitOf(work);
  const units = unitsOf(work);
  const [nx, ny] = work.grid;
  const maxUnitsAtOnce = Math.max(1, Math.min(maxUnitsPerClaim, Math.floor(2 ** 30 / unit)));
  let first = 0;
  const runFrom = (run: RunBlocks, count: number): void => {
    const from = first * unit;
    run(from % nx, Math.floor(from / nx) % ny, Math.floor(from / (nx * ny)), Math.min(count * unit, blocks - from));
  };
  const claimUnits = (atOnce: number): number => {
    if (whyStop(control) !== stops.no || isToLeave(control, slot) || claimed(control) >= units) return 0;
    first = claim(control, atOnce);
    return first > lastUnit(control) ? 0 : Math.min(atOnce, units - first);
  };
  return {
    get first() {
      return first;
    },
    tick() {
      stopOverdue(control, work.timeoutMs);
      if (whyStop(control) !== stops.no || first > lastUnit(control)) throw new Stopped();
      poll?.();
    },
    takeFor({ run }, ms) {
      noteStart(control, now());
      const runSome = (most: number): number => {
        const count = claimUnits(Math.min(most, maxUnitsAtOnce));
        if (count > 0) runFrom(run, count);
        addDone(control, count);
        return count;
      };
      return { each: runFor(ms, runSome), left: units - claimed(control) };
    },
    take(instance, at = now()) {
      noteStart(control, at);
      const [{ run, parts }, { residents }] = [instance, work];
      if (residents && parts) {
        const choose = (block: number): void => {
          first = block;
        };
        takeByTurns({ work, control, slot, instance, parts, residents, units, choose, tick: this.tick });
        return;
      }
      // Nothing happens between blocks: the kernel itself checks whether it must stop.
      if (work.sharers === 1 && !poll) {
        for (let count = claimUnits(maxUnitsAtOnce); count > 0; count = claimUnits(maxUnitsAtOnce)) {
          runFrom(run, count);
          addDone(control, count);
        }
        return;
      }
      let atOnce = 1;
      let start = performance.now();
      for (let count = claimUnits(atOnce); count > 0; count = claimUnits(atOnce)) {
        runFrom(run, count);
        addDone(control, count);
        const end = performance.now();
        const each = (end - start) / count;
        start = end;
        poll?.();
        // All shares should reach the end of the launch at about the same time.
        const rest = work.sharers > 1 ? ((units - claimed(control)) * each) / (2 * work.sharers) : maxClaimMs;
        const wanted = Math.max(minClaimMs, Math.min(maxClaimMs, rest)) / each;
        atOnce = Math.max(1, Math.floor(Math.min(wanted, maxGrowth * count, maxUnitsAtOnce)));
      }
    },
  };
}
