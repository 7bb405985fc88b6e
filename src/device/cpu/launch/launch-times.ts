/** How long the blocks of a code take, as its launches so far have shown: whether workers are worth their messages is known before a launch then. */
import type { KernelCode } from '../native/module.ts';
import type { Work } from '../workers/share.ts';
import type { KnownLaunch } from './launch-facts.ts';

/** Milliseconds for a unit of blocks on one thread, by code. */
const times = new WeakMap<KernelCode, number>();

/** Milliseconds of a launch on one thread, by its facts: a loop may run as often as an argument says. */
const launches = new WeakMap<KnownLaunch, number>();

/** The most by which the time of a unit grows from one launch to the next: a thread that loses its core takes long once. */
const maxGrowth = 2;

/** Records a launch that has run all of its units: its milliseconds on all threads together. */
export function noteTime(code: KernelCode, ms: number, units: number, facts?: KnownLaunch): void {
  const each = ms / Math.max(1, units);
  const known = times.get(code);
  // A clock that has not moved says nothing.
  if (ms <= 0) return;
  times.set(code, grown(each, known));
  if (facts) launches.set(facts, grown(ms, launches.get(facts)));
}

const grown = (ms: number, known = ms): number => Math.min(ms, maxGrowth * known);

/** Milliseconds of a launch below which it is run by the caller: the messages to a worker and back take as long. */
const maxBriefMs = 0.05;

/**
 * Whether a launch takes less than its messages to a worker, as one with the same shape and arguments did: others may loop for long, and hold up the
 * caller. One whose blocks may wait for what another launch does needs a thread of its own.
 */
export function isBrief({ work, facts }: { readonly work: Work; readonly facts?: KnownLaunch | undefined }): boolean {
  const ms = work.residents || !facts ? undefined : launches.get(facts);
  return ms !== undefined && ms < maxBriefMs;
}

/** Milliseconds that so many units are expected to take on one thread; undefined of code that has not run. */
export function expectedMs(code: KernelCode, units: number): number | undefined {
  const each = times.get(code);
  return each === undefined ? undefined : each * units;
}
