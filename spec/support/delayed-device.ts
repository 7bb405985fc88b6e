/**
 * A device with slow launches: over any other device, `start` waits for some turns of the event loop, runs the launch, and waits again
 * before it completes. Later work would overtake the launch if it did not wait for it.
 */
import type { Device, DeviceBuffer, DeviceModule, PendingLaunch } from '../../src/device/index.ts';
import { random } from './mutate.ts';

export interface Delayed {
  readonly device: Device;
  /** Every allocated buffer, in order. */
  readonly buffers: DeviceBuffer[];
  /** Maximum number of concurrent launches. */
  mostAtOnce(): number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `turns` gives the number of turns before and after each launch. */
export function delayed(inner: Device, turns: () => number): Delayed {
  const buffers: DeviceBuffer[] = [];
  let [now, most] = [0, 0];
  const device: Device = {
    info: inner.info,
    allocate(size, diagnostics, isSeen) {
      const buffer = inner.allocate(size, diagnostics, isSeen);
      if (buffer) buffers.push(buffer);
      return buffer;
    },
    ...(inner.reserve ? { reserve: (size, diagnostics, isSeen) => inner.reserve!(size, diagnostics, isSeen) } : {}),
    load: (metallib, diagnostics, options) => withStart(inner.load(metallib, diagnostics, options)),
    ...(inner.loadPtx ? { loadPtx: (ptx, diagnostics) => withStart(inner.loadPtx!(ptx, diagnostics)) } : {}),
    close: () => inner.close(),
  };
  const withStart = (module: DeviceModule | undefined): DeviceModule | undefined =>
    module && {
      kernels: module.kernels,
      symbols: module.symbols,
      launch: module.launch,
      close: () => module.close(),
      start: (request, to) => start(module, request, to),
    };
  const start = (module: DeviceModule, ...[request, to]: Parameters<DeviceModule['launch']>): PendingLaunch => {
    let [isCancelled, isDone] = [false, false];
    const run = async () => {
      most = Math.max(most, ++now);
      for (let left = turns(); left > 0 && !isCancelled; left--) await turn();
      const result = isCancelled ? undefined : module.launch(request, to);
      if (isCancelled) to.report('CM6010', { kernel: request.kernel, seconds: 0, block: '0, 0, 0', thread: '0, 0, 0' });
      for (let left = turns(); left > 0 && !isCancelled; left--) await turn();
      now--;
      isDone = true;
      return result;
    };
    return {
      done: run(),
      cancel: () => {
        isCancelled = true;
      },
      progress: () => ({ done: isDone ? 1 : 0, total: 1 }),
    };
  };
  return { device, buffers, mostAtOnce: () => most };
}

/** Random integers below a bound, from a seed. */
export function randomFrom(seed: number): (below: number) => number {
  const draw = random(seed);
  return (below) => Math.floor(draw() * below);
}

/** The same device without asynchronous launches. */
export const withoutStart = (inner: Device): Device => ({
  ...inner,
  load(metallib, diagnostics, options) {
    const module = inner.load(metallib, diagnostics, options);
    return module && { kernels: module.kernels, symbols: module.symbols, launch: module.launch, close: () => module.close() };
  },
});

/** The same device with a list of its buffers in order of allocation. */
export function watched(inner: Device): { low: Device; buffers: DeviceBuffer[] } {
  const buffers: DeviceBuffer[] = [];
  const allocate: Device['allocate'] = (size, diagnostics) => {
    const buffer = inner.allocate(size, diagnostics);
    if (buffer) buffers.push(buffer);
    return buffer;
  };
  return { low: { ...inner, allocate }, buffers };
}

/**
 * The same device with launches that are queued: one runs when it or one behind it is waited for, as late as a GPU may run it. What does not wait for a launch
 * finds memory as it was before.
 */
export function queueing(inner: Device): { readonly device: Device; mostAtOnce(): number } {
  let [waiting, most]: [(() => boolean)[], number] = [[], 0];
  const withQueue = (module: DeviceModule | undefined): DeviceModule | undefined => {
    if (!module) return undefined;
    const queue: NonNullable<DeviceModule['queue']> = (request, to) => {
      let [result, isDone]: [ReturnType<DeviceModule['launch']>, boolean] = [undefined, false];
      waiting.push(() => {
        result = module.launch(request, to);
        isDone = true;
        return result !== undefined;
      });
      most = Math.max(most, waiting.length);
      return () => {
        // What is behind a launch that failed does not run.
        while (!isDone && waiting.length > 0) if (!waiting.shift()!()) waiting = [];
        return result;
      };
    };
    return {
      kernels: module.kernels,
      symbols: module.symbols,
      launch: module.launch,
      close: () => module.close(),
      canQueue: () => true,
      queue,
    };
  };
  const device: Device = {
    ...inner,
    load: (metallib, diagnostics, options) => withQueue(inner.load(metallib, diagnostics, options)),
    close() {
      waiting = [];
      inner.close();
    },
  };
  return { device, mostAtOnce: () => most };
}
