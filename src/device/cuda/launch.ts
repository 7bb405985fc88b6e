/** One launch: validation, the arguments in the layout of the driver, the kernel between two events, and the results. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { product } from '../../base/dim3.ts';
import { captureOutput } from '../../ffi/index.ts';
import type { Dim3, LaunchRequest, LaunchResult } from '../device.ts';
import { clusterOfLaunch } from '../launch-shape.ts';
import { validateLaunch, validatorOf } from '../validate-launch.ts';
import { cudaBuffer } from './buffer.ts';
import type { Context, CudaKernel } from './context.ts';
import { faultText, reportFault, reportLost } from './faults.ts';
import { enqueueLaunch, faultOfQueue, reportOverdue } from './queue.ts';
import { waitFor } from './wait.ts';

/** Runs a kernel to its end; undefined after reporting CM50xx or CM60xx. */
export function launchKernel(
  context: Context,
  kernel: CudaKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const prepared = prepare(context, kernel, request, diagnostics);
  return prepared === 'ready' ? run(context, kernel, request, diagnostics) : prepared;
}

/** Whether launches of a kernel can be queued: what a kernel writes to the standard output is of one launch at a time. */
export const canQueue = ({ queue }: Context, { reflection }: CudaKernel): boolean =>
  queue !== undefined && !reflection.printf && !reflection.faults;

/** Queues a launch, and returns what waits for its end: undefined after reporting CM50xx or CM60xx. */
export function queueKernel(
  context: Context,
  kernel: CudaKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): () => LaunchResult | undefined {
  const prepared = prepare(context, kernel, request, diagnostics);
  if (prepared !== 'ready') return () => prepared;
  return enqueueLaunch(context, context.queue!, kernel, request, diagnostics) ?? (() => undefined);
}

/** Checks a launch and fills its arguments in; its result if nothing is to be run. */
function prepare(
  context: Context,
  kernel: CudaKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): 'ready' | LaunchResult | undefined {
  const validator = validatorOf(context.info, (buffer) => cudaBuffer(context, buffer));
  if (!validateLaunch(validator, kernel.reflection, request, diagnostics)) return undefined;
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0 };
  if (context.lost !== undefined) {
    reportLost(request.kernel, context.lost, diagnostics);
    return undefined;
  }
  if (!fitsKernel(context, kernel, request, diagnostics) || !allow(context, kernel, request, diagnostics)) return undefined;
  fillArguments(context, kernel, request);
  return 'ready';
}

/** Checks the limits of the driver: registers may allow fewer threads, and each dimension of grids and blocks has a limit. */
function fitsKernel({ info }: Context, { facts }: CudaKernel, request: LaunchRequest, diagnostics: Diagnostics): boolean {
  const { grid, block, kernel } = request;
  const given = product(block);
  if (given > facts.maxThreads) {
    diagnostics.report('CM5021', { given, limit: facts.maxThreads, who: `\`${kernel}\` on ${info.name}` });
    return false;
  }
  const { maxGridSize, maxThreadsDim } = info.properties as { maxGridSize: readonly number[]; maxThreadsDim: readonly number[] };
  const fitsGrid = isWithin(grid, maxGridSize);
  if (fitsGrid && isWithin(block, maxThreadsDim)) return true;
  const [name, dims, most] = fitsGrid ? (['block', block, maxThreadsDim] as const) : (['grid', grid, maxGridSize] as const);
  diagnostics.report('CM5024', { given: `a ${name} of ${dims.join(' x ')}, where ${info.name} has at most ${most.join(' x ')}` });
  return false;
}

const isWithin = ([x, y, z]: Dim3, most: readonly number[]): boolean => x <= most[0]! && y <= most[1]! && z <= most[2]!;

/** Bytes of shared memory that every kernel may use. */
const defaultMaxShared = 49152;

/** Blocks of a cluster that every kernel may have. Source: CUDA C++ Programming Guide, "Thread Block Clusters". */
const portableCluster = 8;

/** Asks the driver for what a kernel may not have by default. */
function allow({ binding }: Context, kernel: CudaKernel, request: LaunchRequest, diagnostics: Diagnostics): boolean {
  const bytes = request.dynamicSharedBytes;
  const blocks = product(clusterOfLaunch(kernel.reflection, request) ?? [1, 1, 1]);
  const needsShared = kernel.facts.staticShared + bytes > defaultMaxShared && bytes > kernel.allowedShared;
  const needsClusters = blocks > portableCluster && !kernel.hasLargeClusters;
  const hasShared = !needsShared || binding.allowShared(kernel.handle, bytes);
  if (needsShared && hasShared) kernel.allowedShared = bytes;
  const hasClusters = hasShared && (!needsClusters || binding.allowLargeClusters(kernel.handle));
  if (needsClusters && hasClusters) kernel.hasLargeClusters = true;
  if (hasClusters) return true;
  const fault = binding.lastFault();
  const what = hasShared ? `clusters of ${blocks} blocks` : `${bytes} bytes of shared memory`;
  diagnostics.report('CM6043', { what: `${what} for \`${request.kernel}\``, call: fault.call, why: faultText(fault) });
  return false;
}

/** Writes the arguments. The driver copies them at the launch, so one area for each kernel suffices. */
function fillArguments(context: Context, { args }: CudaKernel, request: LaunchRequest): void {
  const { bytes, words, offsets } = args;
  for (let i = 0; i < request.args.length; i++) {
    const [arg, at] = [request.args[i]!, offsets[i]!];
    if (arg.kind === 'bytes') bytes.set(arg.bytes, at);
    else if (arg.kind === 'null') words[at >>> 3] = 0n;
    else words[at >>> 3] = cudaBuffer(context, arg.buffer)!.address + BigInt(arg.offset ?? 0);
  }
}

function run(context: Context, kernel: CudaKernel, request: LaunchRequest, diagnostics: Diagnostics): LaunchResult | undefined {
  const { printf, faults } = kernel.reflection;
  // The driver writes what a kernel prints to the standard output of the process.
  const capture = printf || faults ? captureOutput() : undefined;
  const outcome = runAndWait(context, kernel, request);
  const output = capture?.end();
  if (output && output.out.length > 0) request.print?.(output.out);
  if (outcome === 'overdue') {
    reportOverdue(context, request, diagnostics);
    return undefined;
  }
  if (outcome === 'done') return { durationMs: context.binding.elapsed(context.events.start, context.events.end) ?? 0 };
  const fault = context.binding.lastFault();
  const other = faultOfQueue(context, fault);
  if (other !== undefined) {
    reportLost(request.kernel, other, diagnostics);
    return undefined;
  }
  const failed = { kernel: request.kernel, output: output ? new TextDecoder().decode(output.err).trim() : '', stops: faults?.texts ?? [] };
  if (reportFault(failed, fault, diagnostics)) context.lost = faultText(fault);
  return undefined;
}

function runAndWait(context: Context, kernel: CudaKernel, request: LaunchRequest): 'done' | 'overdue' | 'failed' {
  const { binding, stream, events } = context;
  const { handle, args } = kernel;
  const { grid, block, dynamicSharedBytes: shared, timeoutMs, cooperative = false, cluster } = request;
  const how = { cooperative, ...(cluster ? { cluster } : {}) };
  const isUnderWay =
    binding.record(events.start, stream) &&
    binding.launch({ kernel: handle, grid, block, shared, stream, args, ...how }) &&
    binding.record(events.end, stream);
  if (!isUnderWay) return 'failed';
  const state = timeoutMs > 0 ? waitFor(binding, events.end, timeoutMs) : 'running';
  if (state === 'overdue' || (state === 'done' && !kernel.reflection.printf)) return state;
  // This also makes the driver write what the kernel printed, and the text of a failure.
  return binding.synchronize(stream) && state !== 'failed' ? 'done' : 'failed';
}
