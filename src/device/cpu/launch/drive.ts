/** The steps that blocking and asynchronous launches have in common: progress, limits of time, shares of workers. */
import type { LaunchRequest } from '../../device.ts';
import { type Control, doneUnits, requestShare, stopOverdue, stops, whyStop } from '../workers/control.ts';
import type { Globals } from '../workers/instance.ts';
import { type WorkerHandle, workerPool } from '../workers/pool.ts';
import { blocksOf, unitOf } from '../workers/share.ts';
import type { PreparedLaunch } from './prepare.ts';

/** Milliseconds between two reports of progress. */
export const progressMs = 100;
/** Milliseconds after which a worker that does not stop is terminated. */
const graceMs = 3000;

/** Blocks of a launch that have ended, and all of them. */
export function progressOf({ work }: PreparedLaunch, control: Control): { done: number; total: number } {
  const total = blocksOf(work);
  return { done: Math.min(total, doneUnits(control) * unitOf(work)), total };
}

/** Reports the progress of a launch to its request, at most every `progressMs`. */
export function newProgressReporter(prepared: PreparedLaunch, control: Control): () => void {
  const report: LaunchRequest['progress'] = prepared.request.progress;
  if (!report) return () => {};
  let last = performance.now();
  return () => {
    if (performance.now() - last < progressMs) return;
    last = performance.now();
    const { done, total } = progressOf(prepared, control);
    report(done, total);
  };
}

/** Stops a launch that is overdue. Returns whether it was stopped so long ago that workers which still run must be terminated. */
export function newStopWatch({ work }: PreparedLaunch, control: Control): () => boolean {
  let stoppedAt: number | undefined;
  return () => {
    stopOverdue(control, work.timeoutMs);
    if (whyStop(control) === stops.no) return false;
    stoppedAt ??= performance.now();
    return performance.now() - stoppedAt > graceMs;
  };
}

/** Gives a share of a launch to an idle worker. */
export function assignShare(prepared: PreparedLaunch, control: Control, handle: WorkerHandle, slot: number, globals: Globals): void {
  const { work, wasm, memory } = prepared;
  requestShare(control, slot);
  workerPool.assign(handle, { work, control, slot, globals, memory: memory.memory, wasm });
}
