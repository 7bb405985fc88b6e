/**
 * One share of a launch: blocks are taken in their order, some at a time, until there are no more. So the lowest block that has
 * not ended is always at work, and a block may wait for those before it, whoever runs them.
 */
import { addDone, type Control, claim, claimed, elapsed, isToLeave, lastUnit, noteStart, now, stopAll, stops, whyStop } from './control.ts';

/** Thrown out of a kernel that is to stop: its time is up, it was cancelled, or a block before it failed. */
export class Stopped extends Error {}

/** What everybody who takes part knows of a launch. */
export interface Work {
  readonly grid: readonly [number, number, number];
  /** Shares at most. */
  readonly sharers: number;
  /** 0: no limit. */
  readonly timeoutMs: number;
}

/** Runs `count` blocks of a kernel from one on. */
export type RunBlocks = (x: number, y: number, z: number, count: number) => void;

export interface Share {
  /** The first unit of what is being run. */
  readonly first: number;
  /** To be called now and then by the kernel. */
  tick(): void;
  /** Runs blocks until there are no more; `at` is the time, where it was just asked for. */
  take(run: RunBlocks, at?: number): void;
}

/** Most units: they are counted in words, with room for those who ask once too often. */
const mostUnits = 2 ** 29;
/** Milliseconds that blocks take which are taken at once, if there are enough, and how many more of them than the time before. */
const [leastMs, chunkMs, mostFaster] = [0.02, 0.25, 8];
const mostAtOnce = 2 ** 20;

/** Blocks in all. */
export const blocksOf = ({ grid: [x, y, z] }: Pick<Work, 'grid'>): number => x * y * z;

/** Blocks of a unit. */
export const unitOf = (work: Pick<Work, 'grid'>): number => Math.ceil(blocksOf(work) / mostUnits);

/** Units of a launch. */
export const unitsOf = (work: Pick<Work, 'grid'>): number => Math.ceil(blocksOf(work) / unitOf(work));

/** A share of a launch. `look` is called between blocks, and when the kernel ticks; without it one who is alone takes all blocks at once. */
export function newShare(work: Work, control: Control, slot: number, look?: () => void): Share {
  const blocks = blocksOf(work);
  const unit = unitOf(work);
  const units = unitsOf(work);
  const [nx, ny] = work.grid;
  const most = Math.max(1, Math.min(mostAtOnce, Math.floor(2 ** 30 / unit)));
  let first = 0;
  const checkTime = (): void => {
    if (work.timeoutMs > 0 && elapsed(control, now()) > work.timeoutMs) stopAll(control, stops.timeUp);
  };
  const runFrom = (run: RunBlocks, count: number): void => {
    const from = first * unit;
    run(from % nx, Math.floor(from / nx) % ny, Math.floor(from / (nx * ny)), Math.min(count * unit, blocks - from));
  };
  const takes = (atOnce: number): number => {
    if (whyStop(control) !== stops.no || isToLeave(control, slot) || claimed(control) >= units) return 0;
    first = claim(control, atOnce);
    return first > lastUnit(control) ? 0 : Math.min(atOnce, units - first);
  };
  return {
    get first() {
      return first;
    },
    tick() {
      checkTime();
      if (whyStop(control) !== stops.no || first > lastUnit(control)) throw new Stopped();
      look?.();
    },
    take(run, at = now()) {
      noteStart(control, at);
      // Nobody waits for a block to end: the kernel itself looks whether it is to stop.
      if (work.sharers === 1 && !look) {
        for (let count = takes(most); count > 0; count = takes(most)) {
          runFrom(run, count);
          addDone(control, count);
        }
        return;
      }
      let atOnce = 1;
      let start = performance.now();
      for (let count = takes(atOnce); count > 0; count = takes(atOnce)) {
        runFrom(run, count);
        addDone(control, count);
        const end = performance.now();
        const each = (end - start) / count;
        start = end;
        look?.();
        // To the end of the launch all are to come at about the same time.
        const rest = work.sharers > 1 ? ((units - claimed(control)) * each) / (2 * work.sharers) : chunkMs;
        const wanted = Math.max(leastMs, Math.min(chunkMs, rest)) / each;
        atOnce = Math.max(1, Math.floor(Math.min(wanted, mostFaster * count, most)));
      }
    },
  };
}
