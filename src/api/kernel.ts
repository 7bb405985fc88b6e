/** Kernels: launched with arguments of the types that they describe, checked before the device is touched. */
import { Diagnostics } from '../base/diagnostic.ts';
import { product } from '../base/dim3.ts';
import type { DeviceModule, Dim3, LaunchRequest, LaunchResult } from '../device/device.ts';
import { validateLaunch } from '../device/validate-launch.ts';
import type { Kernel as Reflection } from '../runtime/index.ts';
import { type Context, errorWith, mayUse, must, type Owned } from './context.ts';
import { errorOf } from './failures.ts';
import { estimate, type Occupancy } from './occupancy.ts';
import { type KernelArgument, pack } from './pack.ts';
import { enqueue, type InStream, type LaunchReport, mayEnqueue, type Settled, type Work } from './work.ts';

/** A count in each dimension; 1 in those that are left out. */
export type Extent = number | readonly [x: number, y?: number, z?: number];

export interface LaunchOptions<A extends readonly unknown[]> {
  /** Blocks. */
  readonly grid: Extent;
  /** Threads of a block. */
  readonly block: Extent;
  readonly args: A;
  /** Bytes of dynamic shared memory, or of each threadgroup argument of a kernel that has several. */
  readonly shared?: number | readonly number[];
  readonly stream?: InStream;
  /** Milliseconds; 0 is no limit. The device's where nothing is said. */
  readonly timeoutMs?: number;
  /** Takes what the kernel prints, when it has ended. */
  readonly print?: (text: Uint8Array) => void;
  /** On the CPU device: what to look for or to count meanwhile, and in which order threads are taken. Lines want a module compiled with `marks` (or `sanitize`). */
  readonly watch?: Pick<LaunchRequest, 'sanitize' | 'profile' | 'trace' | 'schedule'>;
  /** Told now and then how many blocks have ended, where the device can say. */
  readonly progress?: (done: number, total: number) => void;
}

/** A kernel of a module. */
export class Kernel<A extends readonly unknown[] = readonly KernelArgument[]> {
  /** What the kernel describes itself as: parameters, shared memory, limits. */
  readonly reflection: Reflection;
  readonly #module: KernelModule;

  /** @internal */
  constructor(module: KernelModule, reflection: Reflection) {
    this.#module = module;
    this.reflection = reflection;
  }

  get name(): string {
    return this.reflection.name;
  }

  /**
   * Hands a launch to a stream. Throws at once what is wrong with arguments, shape and limits (CM50xx); what goes wrong on the device
   * is told by `ended()` of the work, and to whoever waits for stream or device.
   */
  launch({ grid, block, args, shared = 0, stream, timeoutMs, print, progress, watch }: LaunchOptions<A>): Work<LaunchReport> {
    const { context, low, defaultStream } = this.#module;
    const to = stream ?? defaultStream;
    mayUse(context, this.#module, 'module');
    if (this.#module.isClosed) throw errorWith('CM5061', { what: 'module', ended: 'closed' });
    mayEnqueue(context, to);
    const packed = pack(context, this.reflection, args);
    const printed = print ?? context.print;
    const request: LaunchRequest = {
      kernel: this.name,
      grid: extent(grid),
      block: extent(block),
      ...(typeof shared === 'number' ? { dynamicSharedBytes: shared } : { dynamicSharedBytes: 0, dynamicSharedParts: shared }),
      args: packed.args,
      timeoutMs: timeoutMs ?? context.timeoutMs,
      ...(printed ? { print: printed } : {}),
      ...(progress ? { progress } : {}),
      ...watch,
    };
    // What only a pipeline knows is found when the launch runs.
    must((diagnostics) => validateLaunch({ info: context.low.info }, this.reflection, request, diagnostics) || undefined);
    return enqueue(to, () => run(context, low, request), { uses: packed.uses });
  }

  /** An estimate of how many blocks a core runs at once, by `coreModels`. */
  occupancy(block: Extent, shared = 0): Occupancy {
    return estimate(this.#module.context.low.info, this.reflection, product(extent(block)), shared);
  }

  /** The block, a multiple of a warp, for which the estimate fills a core best; the larger of equals. */
  bestBlock(shared = 0): number {
    let best = 32;
    for (let threads = 32; threads <= this.#module.context.low.info.limits.maxThreadsPerThreadgroup; threads += 32)
      if (this.occupancy(threads, shared).fraction >= this.occupancy(best, shared).fraction) best = threads;
    return best;
  }
}

/** The module of a kernel, as far as it is needed. */
export interface KernelModule extends Owned {
  readonly low: DeviceModule;
  readonly defaultStream: InStream;
  readonly isClosed: boolean;
}

/** All three dimensions. */
export const extent = (given: Extent): Dim3 => (typeof given === 'number' ? [given, 1, 1] : [given[0], given[1] ?? 1, given[2] ?? 1]);

function run(context: Context, low: DeviceModule, request: LaunchRequest): Settled<LaunchReport> | Promise<Settled<LaunchReport>> {
  const diagnostics = new Diagnostics();
  if (!low.start) return settled(low.launch(request, diagnostics), diagnostics);
  const pending = low.start(request, diagnostics);
  context.running.add(pending);
  return pending.done.then((result) => {
    context.running.delete(pending);
    return settled(result, diagnostics);
  });
}

function settled(result: LaunchResult | undefined, diagnostics: Diagnostics): Settled<LaunchReport> {
  if (!result) return { error: errorOf(diagnostics) };
  return { value: { durationMs: result.durationMs, warnings: diagnostics.list } };
}
