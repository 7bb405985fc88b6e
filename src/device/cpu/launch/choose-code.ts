/**
 * Which code runs a launch. Native code takes some time to compile, and is most often faster than WebAssembly. Vectorized code executes every
 * branch that one of its lanes takes, scalar code only its own, and neither their sizes nor their loops say which is faster for the data of a
 * launch. Where enough blocks are left to pay for that, two codes run some of them; the faster one runs the others, and later launches.
 */
import type { KernelInstance } from '../workers/instance.ts';
import type { Share } from '../workers/share.ts';
import type { PreparedLaunch, Rival } from './prepare.ts';

/** Code that runs, with its memory. */
export interface Running {
  readonly prepared: PreparedLaunch;
  readonly instance: KernelInstance;
}

/** How a rival is tried. */
interface Trial {
  /**
   * Milliseconds after which what is left of a launch is estimated, one behind the other; the last of them measures what runs. A launch that is too
   * short for a trial is left to all threads at once.
   */
  readonly own: readonly number[];
  /** Milliseconds of the rival: some that do not count, and some that do. */
  readonly rival: readonly [number, number];
  /** Milliseconds, and blocks, that must be left of a launch. */
  readonly minLeftMs: number;
  readonly minLeftUnits: number;
  /** How much faster the rival must be, since blocks differ. */
  readonly margin: number;
}

const trials: Readonly<Record<Rival['kind'], Trial>> = {
  // Engines of WebAssembly compile what runs often anew, so that the code that runs is at its best behind the launches which this one pays for.
  native: { own: [0.05, 4, 16], rival: [1, 12], minLeftMs: 60, minLeftUnits: 8, margin: 1 },
  // The rival may be thirty times as slow, and has to be compiled anew as well.
  scalar: { own: [0.05, 4, 60, 40], rival: [60, 40], minLeftMs: 600, minLeftUnits: 100, margin: 1.1 },
};

/** How much longer than to compile a rival the rest of a launch must take. */
const worth = 2;

/** Runs the first blocks of a launch. `open` readies a launch to be run, and `use` is given what runs from then on. */
export function chooseCode(
  first: Running,
  share: Share,
  { open, use }: { open(prepared: PreparedLaunch): Running; use(running: Running): void },
): void {
  let running = first;
  for (const rival of first.prepared.rivals) {
    const trial = trials[rival.kind];
    const own = timeOf(running, share, trial, rival);
    const prepared = own === undefined ? undefined : rival.prepare();
    if (own === undefined || !prepared) continue;
    const other = open(prepared);
    use(other);
    let theirs = 0;
    for (const ms of trial.rival) theirs = share.takeFor(other.instance, ms).each;
    const isFaster = theirs * trial.margin < own;
    rival.settle(isFaster);
    if (isFaster) running = other;
    else use(running);
  }
}

/** Milliseconds for a unit of what runs; undefined if too little is left for a rival. */
function timeOf({ instance }: Running, share: Share, { own, minLeftMs, minLeftUnits }: Trial, rival: Rival): number | undefined {
  let run = { each: 0, left: 0 };
  const isTooShort = (): boolean => {
    const leftMs = run.left * run.each;
    // Whether there is a rival at all is asked behind the limit, which short launches do not reach.
    return leftMs < minLeftMs || run.left < minLeftUnits || leftMs < worth * rival.expectedMs;
  };
  for (const ms of own) {
    run = share.takeFor(instance, ms);
    if (isTooShort()) return undefined;
  }
  rival.refine?.();
  return isTooShort() ? undefined : run.each;
}
