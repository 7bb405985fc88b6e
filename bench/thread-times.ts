/** Processor time of the threads of this program, which other programs do not change. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

const tasks = '/proc/self/task';

/** Milliseconds that each thread has run, by its number. Source: Linux, Documentation/scheduler/sched-stats.rst. */
function threadTimes(): Map<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(tasks)) {
    try {
      times.set(thread, Number(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6);
    } catch {
      // It has ended.
    }
  }
  return times;
}

/** Milliseconds of a launch on the busiest thread, the mean of launches of at least `forMs`; nothing where the system does not say. */
export function busiestMs(launch: () => unknown, forMs: number): number | undefined {
  try {
    const before = threadTimes();
    const start = performance.now();
    let count = 0;
    for (; count < 3 || performance.now() - start < forMs; count++) launch();
    return Math.max(...[...threadTimes()].map(([thread, time]) => time - (before.get(thread) ?? 0))) / count;
  } catch {
    return undefined;
  }
}
