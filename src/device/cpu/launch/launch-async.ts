/** Launches that run while the caller continues: on workers, or on the calling thread later where there are none. */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { LaunchRequest, LaunchResult, PendingLaunch } from '../../device.ts';
import type { DeviceMemory } from '../memory.ts';
import { workerPool } from '../workers/pool.ts';
import type { LoadedKernel } from './library.ts';
import { type LaunchEnvironment, prepareLaunch } from './prepare.ts';
import { launchScheduler } from './scheduler.ts';

/** Starts a kernel. */
export function startKernel(
  memory: DeviceMemory,
  environment: LaunchEnvironment,
  kernel: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): PendingLaunch {
  const preparation = prepareLaunch(memory, { ...environment, isInBackground: true }, kernel, request, diagnostics);
  if (!('launch' in preparation)) return endedLaunch(preparation.result);
  const { launch } = preparation;
  const isForWorkers = memory.isShared && launch.observers.length === 0 && workerPool.isAvailable;
  return isForWorkers
    ? launchScheduler.startOnWorkers(launch, environment.threads ?? 1, diagnostics)
    : launchScheduler.startLater(launch, diagnostics);
}

/** A launch that has ended already. */
export const endedLaunch = (result: LaunchResult | undefined): PendingLaunch => ({
  done: Promise.resolve(result),
  cancel: () => {},
  progress: () => ({ done: 0, total: 0 }),
});

/** Stops all running launches on a memory. */
export const cancelAll = (memory: DeviceMemory): void => launchScheduler.cancelAll(memory);
