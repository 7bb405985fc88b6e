/** Kernels: launches with typed arguments, validated before the device is involved. */
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { product } from '../base/dim3.ts';
import type { DeviceModule, Dim3, LaunchRequest, LaunchResult } from '../device/device.ts';
import { validateLaunch } from '../device/validate-launch.ts';
import type { Kernel as Reflection } from '../runtime/index.ts';
import { assertUsable, type Context, errorWith, type Owned, orThrow, type Print } from './context.ts';
import { errorOf } from './failures.ts';
import { estimate, type Occupancy } from './occupancy.ts';
import { type KernelArgument, pack } from './pack.ts';
import { assertAcceptsWork, enqueue, type InStream, type LaunchReport, type Queued, type Settled, type Work } from './work.ts';

/** A count in each dimension; omitted dimensions are 1. */
export type Extent = number | readonly [x: number, y?: number, z?: number];

/** The options of a launch. `A` is the list of argument types. */
export interface LaunchOptions<A extends readonly unknown[]> {
  /** The number of blocks. */
  readonly grid: Extent;
  /** The number of threads per block. */
  readonly block: Extent;
  readonly args: A;
  /**
   * The size of dynamic shared memory in bytes, or of each threadgroup argument of a kernel with several. A kernel with such memory needs a
   * size, if it is 0.
   */
  readonly shared?: number | readonly number[];
  /** Whether all blocks run at the same time, so that they can wait for each other (`grid.sync()`); on the CPU device. */
  readonly cooperative?: boolean;
  /** Blocks of a cluster along each axis, on the CPU device; what the kernel requires by default. */
  readonly cluster?: Extent;
  /** Bytes of the stack of each thread, for recursive functions and `alloca`, on the CPU device; 8 KiB by default. */
  readonly stack?: number;
  readonly stream?: InStream;
  /** The time limit in milliseconds; 0 is no limit. The default is that of the device. */
  readonly timeoutMs?: number;
  /** Receives the output of the kernel after it has finished; the default is that of the device. */
  readonly print?: Print;
  /** The instruments of the launch and the order of threads, on the CPU device. Source lines require a module compiled with `marks` or `sanitize`. */
  readonly watch?: Pick<LaunchRequest, 'sanitize' | 'profile' | 'trace' | 'schedule'>;
  /** Receives the number of finished blocks from time to time, if the device supports it. */
  readonly progress?: (done: number, total: number) => void;
}

/** A kernel of a module. */
export class Kernel<A extends readonly unknown[] = readonly KernelArgument[]> {
  /** The reflection of the kernel: parameters, shared memory, limits. */
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
   * Enqueues a launch in a stream. Invalid arguments, shapes and sizes throw immediately (CM50xx). Errors on the device are reported by
   * `ended()` of the work and by synchronizing the stream or the device.
   */
  launch({
    grid,
    block,
    args,
    shared,
    cooperative,
    cluster,
    stack,
    stream,
    timeoutMs,
    print,
    progress,
    watch,
  }: LaunchOptions<A>): Work<LaunchReport> {
    const { context, low, defaultStream } = this.#module;
    const to = stream ?? defaultStream;
    assertUsable(context, this.#module, 'module');
    if (this.#module.isClosed) throw errorWith('CM5061', { what: 'module', ended: 'closed' });
    assertAcceptsWork(context, to);
    if (shared === undefined && this.reflection.usesDynamicShared) throw errorWith('CM5034', { kernel: this.name });
    const packed = pack(context, this.reflection, args);
    const printed = print === false ? undefined : (print ?? context.print);
    const request: LaunchRequest = {
      kernel: this.name,
      grid: extent(grid),
      block: extent(block),
      dynamicSharedBytes: typeof shared === 'number' ? shared : 0,
      ...(typeof shared === 'object' ? { dynamicSharedParts: shared } : {}),
      ...(cooperative ? { cooperative } : {}),
      ...(cluster === undefined ? {} : { cluster: extent(cluster) }),
      ...(stack === undefined ? {} : { stackBytes: stack }),
      args: packed.args,
      timeoutMs: timeoutMs ?? context.timeoutMs,
      ...(printed ? { print: printed } : {}),
      ...(progress ? { progress } : {}),
      ...watch,
    };
    // What only a pipeline knows is found when the launch runs.
    orThrow((diagnostics) => validateLaunch({ info: context.low.info }, this.reflection, request, diagnostics) || undefined);
    const isQueueable = low.canQueue?.(this.name) ?? false;
    return enqueue(to, () => (isQueueable ? queue(low, request) : run(context, low, request)), { uses: packed.uses, isQueueable });
  }

  /** An estimate of the number of concurrent blocks per core, by `coreModels`. */
  occupancy(block: Extent, shared = 0): Occupancy {
    return estimate(this.#module.context.low.info, this.reflection, product(extent(block)), shared);
  }

  /** The block size, a multiple of a warp, with the highest estimated occupancy; the largest of equals. */
  bestBlock(shared = 0): number {
    let best = 32;
    for (let threads = 32; threads <= this.#module.context.low.info.limits.maxThreadsPerThreadgroup; threads += 32)
      if (this.occupancy(threads, shared).fraction >= this.occupancy(best, shared).fraction) best = threads;
    return best;
  }
}

/** The part of a module that a kernel needs. */
export interface KernelModule extends Owned {
  readonly low: DeviceModule;
  readonly defaultStream: InStream;
  readonly isClosed: boolean;
}

/** All three dimensions. */
export const extent = (given: Extent): Dim3 => (typeof given === 'number' ? [given, 1, 1] : [given[0], given[1] ?? 1, given[2] ?? 1]);

/** Queues a launch on a device that keeps launches in order. */
function queue(low: DeviceModule, request: LaunchRequest): Queued<LaunchReport> {
  const diagnostics = new Diagnostics();
  const end = low.queue!(request, diagnostics);
  return { end: () => settled(end(), request, diagnostics) };
}

function run(context: Context, low: DeviceModule, request: LaunchRequest): Settled<LaunchReport> | Promise<Settled<LaunchReport>> {
  const diagnostics = new Diagnostics();
  if (!low.start) return settled(low.launch(request, diagnostics), request, diagnostics);
  const pending = low.start(request, diagnostics);
  if (pending.ended) return settled(pending.ended.result, request, diagnostics);
  context.running.add(pending);
  return pending.done.then((result) => {
    context.running.delete(pending);
    return settled(result, request, diagnostics);
  });
}

function settled(result: LaunchResult | undefined, { kernel }: LaunchRequest, diagnostics: Diagnostics): Settled<LaunchReport> {
  if (result) return { value: { durationMs: result.durationMs, warnings: diagnostics.list } };
  const named = new Diagnostics();
  named.addAll(diagnostics.list.map((each) => withKernel(each, kernel)));
  return { error: errorOf(named) };
}

/** A diagnostic that names the kernel, in a note if its message does not. The error may be read far from the launch. */
const withKernel = (diagnostic: Diagnostic, kernel: string): Diagnostic =>
  diagnostic.message.includes(`\`${kernel}\``)
    ? diagnostic
    : { ...diagnostic, notes: [...diagnostic.notes, `in a launch of kernel \`${kernel}\``] };
