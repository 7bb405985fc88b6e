/** One launch: validation, the binding of every slot, the commands, the wait, and the results. */
import { alignUp } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { product } from '../../base/dim3.ts';
import type { Handle } from '../../ffi/index.ts';
import { type KernelParam, stackBytes } from '../../ir/index.ts';
import { type EndedGrid, launchesIn, type MemoryWork, passedBuffer, runWithChildren } from '../children.ts';
import { dispatchOf } from '../cluster-groups.ts';
import { reportPrinted, reportStop } from '../completion.ts';
import type { LaunchArgument, LaunchRequest, LaunchResult } from '../device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../launch-arguments.ts';
import { type Supplied, suppliedFor } from '../supplied.ts';
import { validateLaunch, validatorOf } from '../validate-launch.ts';
import { type MetalBuffer, memoryAt, metalBuffer, takeMemory } from './buffer.ts';
import type { Context, Memory, MetalKernel, MetalLibrary, Pipeline } from './context.ts';
import { faultText, reportCommandFault } from './faults.ts';
import { waitFor } from './wait.ts';

/** Runs a kernel to its end, and all that it launches; undefined after reporting CM50xx or CM60xx. */
export const launchKernel = (
  context: Context,
  library: MetalLibrary,
  kernel: MetalKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined =>
  runWithChildren(
    {
      run: (which, what) => runGrid(context, library, which, what, diagnostics),
      argumentAt: (address) => argumentAt(context, address),
      doWork: (work) => doWork(context, work),
    },
    kernel,
    request,
  );

/** What a kernel passed as a pointer, as an argument: the place in the memory of the device, or null. */
function argumentAt(context: Context, address: bigint): LaunchArgument {
  const place = memoryAt(context, address);
  if (!place) return { kind: 'null' };
  const { bytes } = context.memory.get(place.handle)!;
  const view = (): Uint8Array => context.binding.view(place.handle, 0, bytes);
  const buffer: MetalBuffer = { ...passedBuffer(address), size: bytes, context, handle: place.handle, start: 0, view };
  return { kind: 'buffer', buffer, offset: place.offset };
}

/** Copies or fills memory. */
function doWork(context: Context, work: MemoryWork): void {
  const bytesAt = (address: bigint): Uint8Array => {
    const place = memoryAt(context, address);
    return place ? context.binding.view(place.handle, place.offset, Number(work.bytes)) : new Uint8Array(0);
  };
  if (work.kind === 'fill') bytesAt(work.to).fill(work.value);
  else bytesAt(work.to).set(bytesAt(work.from).slice());
}

/** Runs one grid to its end. */
function runGrid(
  context: Context,
  library: MetalLibrary,
  kernel: MetalKernel,
  given: LaunchRequest,
  diagnostics: Diagnostics,
): EndedGrid<MetalKernel> | undefined {
  const validator = validatorOf(context.info, (buffer) => metalBuffer(context, buffer));
  if (!validateLaunch(validator, kernel.reflection, given, diagnostics)) return undefined;
  const request = dispatchOf(kernel.reflection, given);
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0, launched: [] };
  if (context.lost !== undefined) {
    diagnostics.report('CM6029', { kernel: request.kernel, why: context.lost });
    return undefined;
  }
  const pipeline = library.pipeline(kernel, diagnostics);
  if (!pipeline || !fitsPipeline(context, pipeline, request, diagnostics)) return undefined;
  const bindings = bind({ context, library, kernel, request }, pipeline, diagnostics);
  if (!bindings) return undefined;
  const result = run(context, { pipeline, bindings, request }, diagnostics);
  const isDone = result !== undefined && !reportCompletion(kernel, bindings, request, diagnostics) && !('failed' in result);
  const launches = bindings.launches?.view;
  const launched = isDone && launches ? launchesIn((bytes) => launches.slice(0, bytes), library.kernels) : [];
  // Memory that a kernel may still write stays allocated until the device is closed.
  if (context.lost === undefined) for (const memory of bindings.temporary) memory.give();
  return isDone ? { durationMs: result.durationMs, launched } : undefined;
}

/** Reports what the kernel printed; returns whether it stopped itself, which is reported as well. */
function reportCompletion(
  { reflection }: MetalKernel,
  { printed, faults }: Bindings,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): boolean {
  if (printed) reportPrinted(printed.view, reflection, request, diagnostics);
  return faults !== undefined && reportStop(faults.view, reflection, diagnostics);
}

/** Bytes of each threadgroup argument. */
const sharedSizes = ({ dynamicSharedBytes, dynamicSharedParts = [dynamicSharedBytes] }: LaunchRequest): number[] =>
  dynamicSharedParts.map((bytes) => alignUp(bytes, 16));

/** Most threads of a grid in one dimension: positions in the grid have 32 bits. */
const maxThreadsPerAxis = 2 ** 32 - 1;

/** Checks the limits of the pipeline: registers may allow fewer threads, and Metal may count more static memory. */
function fitsPipeline({ info }: Context, { facts }: Pipeline, request: LaunchRequest, diagnostics: Diagnostics): boolean {
  const { grid, block, kernel } = request;
  const given = product(block);
  const shared = facts.staticBytes + sharedSizes(request).reduce((sum, bytes) => sum + bytes, 0);
  const isTooWide = grid.some((groups, i) => groups * block[i]! > maxThreadsPerAxis);
  if (given > facts.maxThreads) diagnostics.report('CM5021', { given, limit: facts.maxThreads, who: `\`${kernel}\` on ${info.name}` });
  else if (shared > info.limits.maxThreadgroupBytes)
    diagnostics.report('CM5022', { given: shared, limit: info.limits.maxThreadgroupBytes });
  else if (isTooWide)
    diagnostics.report('CM5024', { given: `grid ${grid.join(' x ')} of blocks ${block.join(' x ')}, above 2^32 threads in a row` });
  else return true;
  return false;
}

/** The binding of a slot: a place in memory, or bytes by value. */
type Bound = { readonly slot: number } & (Place | { readonly bytes: Uint8Array });

/** A place in memory. */
interface Place {
  readonly handle: Handle;
  readonly offset: number;
}

/** The bindings of a launch. */
interface Bindings {
  readonly bound: readonly Bound[];
  /** Threadgroup memory by slot. */
  readonly shared: readonly { readonly slot: number; readonly bytes: number }[];
  /** Memory that is released when the launch has ended. */
  readonly temporary: readonly Memory[];
  readonly printed: Memory | undefined;
  readonly faults: Memory | undefined;
  readonly launches: Memory | undefined;
}

/** A launch that is being bound. */
interface Binder {
  readonly context: Context;
  readonly library: MetalLibrary;
  readonly kernel: MetalKernel;
  readonly request: LaunchRequest;
}

/** Most bytes that a command contains by value; larger values take a buffer. */
const maxBytesByValue = 4096;

/** Binds every slot; undefined after reporting CM6012. */
function bind(binder: Binder, { facts }: Pipeline, diagnostics: Diagnostics): Bindings | undefined {
  const { context, kernel, request } = binder;
  const owned = new Map<KernelParam, Memory>();
  const take = (param: KernelParam, bytes: number, lasts = false): Memory | undefined => {
    const memory = takeMemory(context, bytes);
    if (memory && !lasts) owned.set(param, memory);
    if (!memory) diagnostics.report('CM6012', { bytes, what: `a launch of \`${request.kernel}\`` });
    return memory;
  };
  const slots = kernel.params.filter((param) => param.kind !== 'threadgroup');
  const bound = slots.flatMap((param) => bindSlot(binder, param, take) ?? []);
  const temporary = [...owned.values()];
  if (bound.length < slots.length) {
    for (const memory of temporary) memory.give();
    return undefined;
  }
  const ownedBy = (isWanted: (param: KernelParam) => boolean): Memory | undefined => {
    const param = slots.find(isWanted);
    return param && owned.get(param);
  };
  const [printed, faults] = [ownedBy(({ formats }) => formats !== undefined), ownedBy((param) => param.faults !== undefined)];
  return {
    bound,
    shared: sharedSlots(kernel, request, context.info.limits.maxThreadgroupBytes - facts.staticBytes),
    temporary,
    printed,
    faults,
    launches: ownedBy(({ service }) => service === 'launches'),
  };
}

type Take = (param: KernelParam, bytes: number, lasts?: boolean) => Memory | undefined;

/** The binding of a slot; undefined if there is no memory for it. */
function bindSlot(binder: Binder, param: KernelParam, take: Take): Bound | undefined {
  const { slot } = param;
  if (param.kind === 'value') return bindValue(binder, param, take);
  const { request, library } = binder;
  const supplied = suppliedFor(param, {
    request,
    kernels: library.kernels,
    stackBytes: Math.min(request.stackBytes ?? stackBytes, stackBytes),
  });
  if (supplied) {
    const memory = supplied.lasts ? heapOf(binder, param, supplied, take) : take(param, supplied.bytes);
    if (memory && !supplied.lasts) memory.view.set(supplied.start);
    return memory && { slot, handle: memory.handle, offset: 0 };
  }
  const module = param.memory ? binder.library.memory : undefined;
  const place = module ? { handle: module.handle, offset: 0 } : bufferAt(binder, slot);
  return place && { slot, ...place };
}

/** The heap of the device, made for the first launch that needs it. */
function heapOf({ context }: Binder, param: KernelParam, { bytes, start }: Supplied, take: Take): Memory | undefined {
  if (context.heap) return context.heap;
  const memory = take(param, bytes, true);
  if (!memory) return undefined;
  memory.view.set(start);
  // What it gives is in memory, and kernels without `malloc` follow it too.
  context.addressed.add(memory.handle);
  context.heap = memory;
  return memory;
}

/** The binding of a slot by value: the values of one parameter or of several, each at its offset. */
function bindValue({ kernel, request }: Binder, param: KernelParam, take: Take): Bound | undefined {
  const { slot, size } = param;
  const bytes = new Uint8Array(size);
  writeValuesOfSlot(kernel.reflection, request.args, slot, bytes);
  if (size <= maxBytesByValue) return { slot, bytes };
  const memory = take(param, size);
  memory?.view.set(bytes);
  return memory && { slot, handle: memory.handle, offset: 0 };
}

function bufferAt({ context, kernel, request }: Binder, slot: number): Place | undefined {
  const argument = bufferOfSlot(kernel.reflection, request.args, slot);
  const buffer = argument && metalBuffer(context, argument.buffer);
  return buffer && { handle: buffer.handle, offset: buffer.start + (argument.offset ?? 0) };
}

/** Bytes of each threadgroup slot. A kernel that names such memory needs some, even if it never uses it. */
function sharedSlots({ params }: MetalKernel, request: LaunchRequest, room: number): Bindings['shared'] {
  const sizes = sharedSizes(request);
  const slots = params.filter((param) => param.kind === 'threadgroup');
  return slots.map(({ slot }, i) => ({ slot, bytes: Math.min(Math.max(16, sizes[i] ?? 0), room) }));
}

interface Task {
  readonly pipeline: Pipeline;
  readonly bindings: Bindings;
  readonly request: LaunchRequest;
}

/** Runs the commands: their time, or that they failed; undefined if they were not made or have not ended. Faults are reported. */
function run(context: Context, task: Task, diagnostics: Diagnostics): LaunchResult | { readonly failed: true; durationMs: 0 } | undefined {
  const { binding, queue } = context;
  const { kernel, timeoutMs } = task.request;
  const commands = binding.commands(queue);
  if (!commands || !encode(context, commands, task)) {
    diagnostics.report('CM6030', { kernel, why: faultText(binding.lastFault()) });
    if (commands) binding.release(commands);
    return undefined;
  }
  const completion = binding.watch(commands);
  const start = performance.now();
  binding.commit(commands);
  const hasEnded = waitFor(binding, commands, completion, timeoutMs);
  const wallMs = performance.now() - start;
  completion.free();
  const outcome = hasEnded ? binding.outcome(commands) : undefined;
  if (!outcome) {
    context.lost = `\`${kernel}\` has not ended after ${timeoutMs / 1000} s`;
    diagnostics.report('CM6020', { kernel, seconds: timeoutMs / 1000 });
  } else if (outcome.hasFailed) {
    const fault = binding.lastFault();
    if (reportCommandFault(kernel, fault, diagnostics)) context.lost = faultText(fault);
  }
  binding.release(commands);
  if (!outcome) return undefined;
  return outcome.hasFailed ? { failed: true, durationMs: 0 } : { durationMs: outcome.gpuMs || wallMs };
}

/** Encodes the commands of a launch; false if Metal gives no encoder. */
function encode({ binding, addressed }: Context, commands: Handle, { pipeline, bindings, request }: Task): boolean {
  binding.setLabel(commands, request.kernel);
  const encoder = binding.compute(commands);
  if (!encoder) return false;
  try {
    binding.setPipeline(encoder, pipeline.handle);
    for (const each of bindings.bound) {
      if ('bytes' in each) binding.setBytes(encoder, each.bytes, each.slot);
      else binding.setBuffer(encoder, each.handle, each.offset, each.slot);
    }
    for (const { slot, bytes } of bindings.shared) binding.setThreadgroupMemory(encoder, bytes, slot);
    for (const handle of addressed) binding.use(encoder, handle);
    binding.dispatch(encoder, request.grid, request.block);
  } finally {
    // Releasing an encoder that has not ended ends the process.
    binding.end(encoder);
    binding.release(encoder);
  }
  return true;
}
