/**
 * Launches that are queued behind each other without waiting. The driver tells that a context has failed, and not by which launch: behind each one the stream
 * writes its number to memory of the host, which says how far the stream came.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { CudaBinding, CudaFault, CudaHandle } from '../../ffi/index.ts';
import type { LaunchRequest, LaunchResult } from '../device.ts';
import type { Context, CudaKernel, Queue, Queued, Span } from './context.ts';
import { faultText, isSticky, reportFault, reportLost } from './faults.ts';
import { waitFor } from './wait.ts';

/** `CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS`. */
const concurrentAccess = 89;

/**
 * A queue for a stream, if the host may see managed memory while a kernel runs, because it goes on then, and if the driver can write marks, which is
 * tried.
 */
export function openQueue(binding: CudaBinding, ordinal: number, stream: CudaHandle): Queue | undefined {
  if (binding.deviceAttribute(ordinal, concurrentAccess) !== 1) return undefined;
  const mark = binding.mark();
  if (!mark) return undefined;
  if (binding.writeMark(stream, mark, 1) && binding.synchronize(stream) && mark.words[0] === 1)
    return { mark, last: 1, pending: new Set(), spare: [] };
  binding.endMark(mark);
  return undefined;
}

/** Ends a queue whose launches have ended. */
export function closeQueue(binding: CudaBinding, { mark, spare }: Queue): void {
  for (const { start, end } of spare) for (const event of [start, end]) binding.endEvent(event);
  binding.endMark(mark);
}

/** Whether a number is that of a mark, or before it; numbers have 32 bits and start again. */
const isReached = ({ mark }: Queue, number: number): boolean => ((mark.words[0]! - number) | 0) >= 0;

/** Why a launch met a fault that is not its own: one that was queued before has failed, which tells it at its end. */
export function faultOfQueue({ queue }: Context, fault: CudaFault): string | undefined {
  if (!queue || !isSticky(fault)) return undefined;
  for (const { number, request } of queue.pending)
    if (!isReached(queue, number)) return `\`${request.kernel}\` has failed: ${faultText(fault)}`;
  return undefined;
}

function spanOf({ spare }: Queue, binding: CudaBinding): Span | undefined {
  const known = spare.pop();
  if (known) return known;
  const [start, end] = [binding.event(), binding.event()];
  if (start && end) return { start, end };
  for (const event of [start, end]) if (event) binding.endEvent(event);
  return undefined;
}

/** Queues a launch whose arguments are filled in; returns what waits for its end, or undefined after reporting CM6043. */
export function enqueueLaunch(
  context: Context,
  queue: Queue,
  kernel: CudaKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): (() => LaunchResult | undefined) | undefined {
  const { binding, stream } = context;
  const span = spanOf(queue, binding);
  const number = (queue.last + 1) >>> 0;
  const { grid, block, dynamicSharedBytes: shared, cooperative = false, cluster } = request;
  const launch = { kernel: kernel.handle, grid, block, shared, stream, args: kernel.args, cooperative, ...(cluster ? { cluster } : {}) };
  const isUnderWay =
    span &&
    binding.record(span.start, stream) &&
    binding.launch(launch) &&
    binding.record(span.end, stream) &&
    binding.writeMark(stream, queue.mark, number);
  if (!isUnderWay) {
    const fault = binding.lastFault();
    if (span) queue.spare.push(span);
    const other = faultOfQueue(context, fault);
    if (other !== undefined) reportLost(request.kernel, other, diagnostics);
    else if (reportFault(failedOf(kernel, request), fault, diagnostics)) context.lost = faultText(fault);
    return undefined;
  }
  queue.last = number;
  const queued: Queued = { number, span, request, kernel };
  queue.pending.add(queued);
  return () => endOf(context, queue, queued, diagnostics);
}

const failedOf = ({ reflection }: CudaKernel, { kernel }: LaunchRequest) => ({ kernel, output: '', stops: reflection.faults?.texts ?? [] });

/** Waits for the end of a launch; undefined after reporting CM60xx. Ends are asked for in the order of the launches. */
function endOf(context: Context, queue: Queue, queued: Queued, diagnostics: Diagnostics): LaunchResult | undefined {
  const { binding } = context;
  const { span, request, number, kernel } = queued;
  if (!queue.pending.delete(queued) || context.isClosed) return undefined;
  if (context.lost !== undefined) {
    reportLost(request.kernel, context.lost, diagnostics);
    return undefined;
  }
  const { timeoutMs } = request;
  const state = waitFor(binding, span.end, timeoutMs > 0 ? timeoutMs : Number.POSITIVE_INFINITY);
  if (state === 'overdue') {
    reportOverdue(context, request, diagnostics);
    return undefined;
  }
  if (state === 'failed') {
    const fault = binding.lastFault();
    // The launch ended, and one behind it failed. Its time is lost with the context.
    if (isReached(queue, number)) return { durationMs: 0 };
    if (reportFault(failedOf(kernel, request), fault, diagnostics)) context.lost = faultText(fault);
    return undefined;
  }
  queue.spare.push(span);
  return { durationMs: binding.elapsed(span.start, span.end) ?? 0 };
}

/** Reports a kernel that does not end, and takes no more launches. */
export function reportOverdue(context: Context, { kernel, timeoutMs }: LaunchRequest, diagnostics: Diagnostics): void {
  const seconds = timeoutMs / 1000;
  context.lost = `\`${kernel}\` has not ended after ${seconds} s`;
  context.isRunning = true;
  diagnostics.report('CM6020', { kernel, seconds });
}

/** Waits for all launches that are queued, when the device is closed. */
export function drainQueue(context: Context, queue: Queue, diagnostics: Diagnostics): void {
  for (const queued of [...queue.pending]) endOf(context, queue, queued, diagnostics);
}
