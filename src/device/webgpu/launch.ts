/** One launch: validation, the words of the launch, its dispatches, the wait, and the results. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { product } from '../../base/dim3.ts';
import { type KernelParam, stackBytes } from '../../ir/index.ts';
import { launchHead, statusWords, stops, type WgslText } from '../../text/index.ts';
import { type ChildWork, type EndedGrid, launchesIn, type MemoryWork, passedBuffer, runWithChildren } from '../children.ts';
import { dispatchOf } from '../cluster-groups.ts';
import { reportPrinted, reportStop } from '../completion.ts';
import type { Dim3, LaunchArgument, LaunchRequest, LaunchResult } from '../device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../launch-arguments.ts';
import { sharedParts } from '../launch-shape.ts';
import { type Supplied, suppliedFor } from '../supplied.ts';
import { validateLaunch, validatorOf } from '../validate-launch.ts';
import { gpuBuffer, readBytes, writeBytes } from './buffer.ts';
import type { BuiltKernel, Context, GpuBuffer, GpuKernel, GpuLibrary } from './context.ts';

/** Runs a kernel to its end, and all that it launches; undefined after reporting CM2090, CM50xx or CM60xx. */
export const launchKernel = (
  context: Context,
  library: GpuLibrary,
  kernel: GpuKernel,
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

/** An address that a kernel passed, as an argument. */
function argumentAt(context: Context, address: bigint): LaunchArgument {
  const buffer: GpuBuffer = { ...passedBuffer(address), context, address: Number(address) };
  return { kind: 'buffer', buffer };
}

/** Copies or fills memory. */
function doWork(context: Context, work: MemoryWork): void {
  const [to, bytes] = [Number(work.to), Number(work.bytes)];
  writeBytes(context, to, work.kind === 'fill' ? new Uint8Array(bytes).fill(work.value) : readBytes(context, Number(work.from), bytes));
}

/** Runs one grid to its end. */
function runGrid(
  context: Context,
  library: GpuLibrary,
  kernel: GpuKernel,
  given: LaunchRequest,
  diagnostics: Diagnostics,
): EndedGrid<GpuKernel> | undefined {
  const validator = validatorOf(context.info, (buffer) => gpuBuffer(context, buffer));
  if (!validateLaunch(validator, kernel.reflection, given, diagnostics)) return undefined;
  const request = dispatchOf(kernel.reflection, given);
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0, launched: [] };
  if (context.lost !== undefined) {
    diagnostics.report('CM6029', { kernel: request.kernel, why: context.lost });
    return undefined;
  }
  const sharedBytes = sharedParts(request).size;
  const built = library.build(kernel, { block: request.block, sharedBytes, threads: threadsOf(context, request.block) }, diagnostics);
  if (!built) return undefined;
  const owned = new Map<KernelParam | 'status', Owned>();
  const words = wordsOf(context, { library, kernel, text: built.text, request, owned }, diagnostics);
  const result = words && run(context, built, words, request, diagnostics);
  const isDone = result !== undefined && !reportCompletion(context, kernel, owned, request, diagnostics);
  const launched = isDone ? launchedBy(context, library, owned) : [];
  for (const { address } of owned.values()) if (context.lost === undefined) context.arena.give(address);
  return isDone ? { ...result, launched } : undefined;
}

/** What a grid launched. */
function launchedBy(context: Context, { kernels }: GpuLibrary, owned: Binder['owned']): ChildWork<GpuKernel>[] {
  const [, memory] = [...owned].find(([param]) => param !== 'status' && param.service === 'launches') ?? [];
  return memory ? launchesIn((bytes) => readBytes(context, memory.address, bytes), kernels) : [];
}

/** Threads that an invocation runs: one, unless a block is larger than a workgroup may be. */
function threadsOf({ connection }: Context, block: Dim3): number {
  const { limits } = connection.opened;
  const fits = ['X', 'Y', 'Z'].every((axis, i) => block[i]! <= limits[`maxComputeWorkgroupSize${axis}`]!);
  const most = Math.min(limits.maxComputeInvocationsPerWorkgroup!, limits.maxComputeWorkgroupSizeX!);
  return fits && product(block) <= most ? 1 : Math.max(2, Math.ceil(product(block) / most));
}

/** Memory of a launch. */
interface Owned {
  readonly address: number;
  readonly bytes: number;
}

interface Binder {
  readonly library: GpuLibrary;
  readonly kernel: GpuKernel;
  readonly text: WgslText;
  readonly request: LaunchRequest;
  readonly owned: Map<KernelParam | 'status', Owned>;
}

/** The words of the launch, without the place of a dispatch; undefined after reporting CM6012. */
function wordsOf(context: Context, binder: Binder, diagnostics: Diagnostics): Uint8Array | undefined {
  const { library, kernel, text, request, owned } = binder;
  const bytes = new Uint8Array(text.launchBytes);
  const view = new DataView(bytes.buffer);
  for (const [axis, blocks] of request.grid.entries()) view.setUint32(4 * (launchHead.blocks + axis), blocks, true);
  const supply = { request, kernels: library.kernels, stackBytes: Math.min(request.stackBytes ?? stackBytes, stackBytes) };
  const place = (address: number | undefined, offset: number): boolean => {
    view.setUint32(offset, address ?? 0, true);
    return address !== undefined;
  };
  const own = (key: KernelParam | 'status', { bytes: size, start }: Pick<Supplied, 'bytes' | 'start'>, offset: number): boolean => {
    const address = context.arena.take(size);
    if (address === undefined) diagnostics.report('CM6012', { bytes: size, what: `a launch of \`${request.kernel}\`` });
    else {
      owned.set(key, { address, bytes: size });
      if (start.length > 0) writeBytes(context, address, start);
    }
    return place(address, offset);
  };
  for (const { kind, param: index, offset, size } of text.arguments) {
    const param = kernel.kernel.params[index]!;
    if (kind === 'value') {
      writeValuesOfSlot(kernel.reflection, request.args, param.slot, bytes.subarray(offset, offset + size));
      continue;
    }
    const supplied = suppliedFor(param, supply);
    if (supplied) {
      const isThere = supplied.lasts ? place(heapOf(context, supplied, request, diagnostics), offset) : own(param, supplied, offset);
      if (!isThere) return undefined;
    } else if (param.memory) view.setUint32(offset, library.memory ?? 0, true);
    else {
      const given = bufferOfSlot(kernel.reflection, request.args, param.slot);
      const buffer = given && gpuBuffer(context, given.buffer);
      view.setUint32(offset, buffer ? buffer.address + (given.offset ?? 0) : 0, true);
    }
  }
  return text.status === undefined || own('status', { bytes: 4 * statusWords, start: new Uint8Array(0) }, text.status) ? bytes : undefined;
}

/** The heap of the device, made for the first launch that needs it; undefined after reporting CM6012. */
function heapOf(context: Context, { bytes, start }: Supplied, { kernel }: LaunchRequest, diagnostics: Diagnostics): number | undefined {
  if (context.heap !== undefined) return context.heap;
  context.heap = context.arena.take(bytes);
  if (context.heap === undefined) diagnostics.report('CM6012', { bytes, what: `the heap of \`${kernel}\`` });
  else writeBytes(context, context.heap, start);
  return context.heap;
}

function run(
  context: Context,
  { program, text }: BuiltKernel,
  words: Uint8Array,
  { grid, kernel, timeoutMs }: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const { connection } = context;
  const most = text.isAlone ? 1 : (connection.opened.limits.maxComputeWorkgroupsPerDimension ?? 65_535);
  const placeAt = 4 * launchHead.first;
  const answer = connection.ask({ ask: 'launch', id: program, words, placeAt, grid, most }, timeoutMs);
  if (answer?.isGood) return { durationMs: answer.ms ?? 0 };
  if (!answer) {
    context.lost = `\`${kernel}\` has not ended after ${timeoutMs / 1000} s`;
    diagnostics.report('CM6020', { kernel, seconds: timeoutMs / 1000 });
    connection.close();
    return undefined;
  }
  if (answer.isLost) context.lost = answer.why;
  diagnostics.report('CM6053', { what: `a launch of \`${kernel}\``, why: answer.why.trim().split('\n')[0]! });
  return undefined;
}

/** Reports what the kernel printed, and why it stopped; returns whether it did. */
function reportCompletion(
  context: Context,
  { reflection }: GpuKernel,
  owned: Binder['owned'],
  request: LaunchRequest,
  diagnostics: Diagnostics,
): boolean {
  let hasStopped = false;
  for (const [param, { address, bytes }] of owned) {
    const contents = readBytes(context, address, bytes);
    if (param === 'status') hasStopped = reportStuck(contents, request, diagnostics) || hasStopped;
    else if (param.formats) reportPrinted(contents, reflection, request, diagnostics);
    else if (param.faults) hasStopped = reportStop(contents, reflection, diagnostics) || hasStopped;
  }
  return hasStopped;
}

/** Reports CM6031 where threads waited for threads that never came, and CM6035 where they waited for another block. */
function reportStuck(bytes: Uint8Array, { kernel }: LaunchRequest, diagnostics: Diagnostics): boolean {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, statusWords);
  if (words[0] === 0) return false;
  diagnostics.report(words[0] === stops.otherBlock ? 'CM6035' : 'CM6031', {
    kernel,
    block: words.subarray(1, 4).join(', '),
    thread: words.subarray(4, 7).join(', '),
  });
  return true;
}
