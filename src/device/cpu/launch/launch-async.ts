/** Launches that run while the caller continues: on workers, or on the calling thread later where there are none. */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { LaunchRequest, PendingLaunch } from '../../device.ts';
import type { DeviceMemory } from '../memory.ts';
import { workerPool } from '../workers/pool.ts';
import { doWork, isLaunching, requestOfChild } from './children.ts';
import { isBrief } from './launch-times.ts';
import type { LoadedKernel } from './library.ts';
import { type FinishedGrid, type LaunchEnvironment, prepareLaunch } from './prepare.ts';
import { endedLaunch, launchScheduler } from './scheduler.ts';

/** Starts a kernel. */
export function startKernel(
  memory: DeviceMemory,
  environment: LaunchEnvironment,
  kernel: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): PendingLaunch {
  const start = (which: LoadedKernel, what: LaunchRequest): PendingLaunch<FinishedGrid> => {
    const preparation = prepareLaunch(memory, { ...environment, isInBackground: true }, which, what, diagnostics);
    if (!('launch' in preparation)) return endedLaunch(preparation.result);
    const { launch } = preparation;
    const isForWorkers = memory.isShared && launch.observers.length === 0 && workerPool.isAvailable;
    if (isForWorkers && !isBrief(launch)) return launchScheduler.startOnWorkers(launch, environment.threads ?? 1, diagnostics);
    const isNow = isForWorkers && launchScheduler.mayRunNow();
    return isNow ? launchScheduler.runNow(launch, diagnostics) : launchScheduler.startLater(launch, diagnostics);
  };
  const first = start(kernel, request);
  if (!isLaunching(kernel)) return first;
  let running = first;
  const done = first.done.then(async (result) => {
    if (!result) return undefined;
    const left = [...result.launched].reverse();
    let { durationMs } = result;
    for (let work = left.pop(); work; work = left.pop()) {
      if (work.kind !== 'kernel') doWork(memory, work);
      else {
        running = start(work.kernel, requestOfChild(memory, request, work));
        const next = await running.done;
        if (!next) return undefined;
        durationMs += next.durationMs;
        left.push(...[...next.launched].reverse());
      }
    }
    return { durationMs };
  });
  return { done, cancel: () => running.cancel(), progress: () => first.progress() };
}

/** Stops all running launches on a memory. */
export const cancelAll = (memory: DeviceMemory): void => launchScheduler.cancelAll(memory);
