/** Limits that a busy machine does not change: they count the CPU time of this process and not what a clock shows. */
import * as assert from 'uvu/assert';

/** What `run` returns; fails where it computed for longer than so many seconds, threads of the runtime included. */
export function withinCpuSeconds<T>(seconds: number, run: () => T, what = 'it'): T {
  const start = process.cpuUsage();
  const result = run();
  const took = process.cpuUsage(start).user / 1e6;
  assert.ok(took < seconds, `${what} took ${took.toFixed(2)} s of CPU time`);
  return result;
}
