/**
 * Which code runs a launch: vectorized code executes every branch that one of its lanes takes, scalar code only its own, and neither their
 * sizes nor their loops say which is faster for the data of a launch. Both run some of its blocks, where enough of them are left to pay for
 * that; the faster one runs the others, and later launches.
 */
import type { KernelInstance } from '../workers/instance.ts';
import type { Share } from '../workers/share.ts';
import type { PreparedLaunch } from './prepare.ts';

/** Code that runs, with its memory. */
export interface Running {
  readonly prepared: PreparedLaunch;
  readonly instance: KernelInstance;
}

/** Milliseconds of each code's trial; engines compile what runs often anew, so the first part of a trial does not count. */
const [warmUpMs, trialMs] = [60, 40];
/** Milliseconds after which what is left of a launch is estimated: a launch that is too short for a trial is left to all threads at once. */
const estimatesMs = [0.05, 4, warmUpMs];
/** Milliseconds, and blocks, that must be left of a launch: the rival may be thirty times as slow. */
const [minLeftMs, minLeftUnits] = [600, 100];
/** How much faster the other code must be, since blocks differ. */
const margin = 1.1;

/** Runs the first blocks of a launch. `open` readies a launch to be run, and `use` is given what runs from then on. */
export function chooseCode(
  first: Running,
  share: Share,
  { open, use }: { open(prepared: PreparedLaunch): Running; use(running: Running): void },
): void {
  const { rival } = first.prepared;
  if (!rival) return;
  let own = { each: 0, left: 0 };
  for (const ms of [...estimatesMs, trialMs]) {
    own = share.takeFor(first.instance, ms);
    if (own.left * own.each < minLeftMs || own.left < minLeftUnits) return;
  }
  const prepared = rival.prepare();
  if (!prepared) return;
  const other = open(prepared);
  use(other);
  share.takeFor(other.instance, warmUpMs);
  const theirs = share.takeFor(other.instance, trialMs);
  const isFaster = theirs.each * margin < own.each;
  rival.settle(isFaster);
  if (!isFaster) use(first);
}
