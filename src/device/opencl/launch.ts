/** One launch: validation, the arguments, the kernel, the wait, and the results. */

import { alignUp } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { product } from '../../base/dim3.ts';
import type { ClArgument, ClHandle } from '../../ffi/index.ts';
import { defaultStackBytes, type KernelParam } from '../../ir/index.ts';
import { savedHead, statusWords, type TextArgument, waitsAtBarrier } from '../../text/index.ts';
import { type ChildWork, type EndedGrid, launchesIn, type MemoryWork, passedBuffer, runWithChildren } from '../children.ts';
import { dispatchOf } from '../cluster-groups.ts';
import { reportPrinted, reportStop } from '../completion.ts';
import type { Dim3, LaunchArgument, LaunchRequest, LaunchResult } from '../device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../launch-arguments.ts';
import { sharedParts } from '../launch-shape.ts';
import { type Supplied, suppliedFor } from '../supplied.ts';
import { validateLaunch, validatorOf } from '../validate-launch.ts';
import { clBuffer, copies, give, take } from './buffer.ts';
import type { BuiltKernel, ClBuffer, ClKernel, ClLibrary, Context } from './context.ts';

/** Runs a kernel to its end, and all that it launches; undefined after reporting CM50xx or CM60xx. */
export const launchKernel = (
  context: Context,
  library: ClLibrary,
  kernel: ClKernel,
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
  const buffer: ClBuffer = { ...passedBuffer(address), context, address: Number(address) };
  return { kind: 'buffer', buffer };
}

/** Copies or fills memory. */
function doWork(context: Context, work: MemoryWork): void {
  const [to, bytes] = [Number(work.to), Number(work.bytes)];
  const from = work.kind === 'fill' ? new Uint8Array(bytes).fill(work.value) : copies(context, Number(work.from), bytes).read();
  copies(context, to, bytes).write(from);
}

/** Runs one grid to its end. */
function runGrid(
  context: Context,
  library: ClLibrary,
  kernel: ClKernel,
  given: LaunchRequest,
  diagnostics: Diagnostics,
): EndedGrid<ClKernel> | undefined {
  const validator = validatorOf(context.info, (buffer) => clBuffer(context, buffer));
  if (!validateLaunch(validator, kernel.reflection, given, diagnostics)) return undefined;
  const request = dispatchOf(kernel.reflection, given);
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0, launched: [] };
  if (context.lost !== undefined) {
    diagnostics.report('CM6029', { kernel: request.kernel, why: context.lost });
    return undefined;
  }
  const built = library.build(kernel, diagnostics);
  if (!built || !fits(context, built, kernel, request, diagnostics)) return undefined;
  const owned = new Map<OwnedKey, Owned>();
  const args = argumentsOf(context, { library, kernel, request, owned }, diagnostics);
  const result = args && runToEnd(context, built, { args, saved: savedOf(kernel, owned) }, request, diagnostics);
  const isDone = result !== undefined && !reportCompletion(context, kernel, owned, request, diagnostics);
  const launched = isDone ? launchedBy(context, library, owned) : [];
  for (const { address } of owned.values()) give(context, address);
  return isDone ? { ...result, launched } : undefined;
}

/** What a grid launched. */
function launchedBy(context: Context, { kernels }: ClLibrary, owned: Binder['owned']): ChildWork<ClKernel>[] {
  const [, memory] = [...owned].find(([param]) => typeof param !== 'string' && param.service === 'launches') ?? [];
  return memory ? launchesIn((bytes) => copies(context, memory.address, bytes).read(), kernels) : [];
}

/** Checks the limits that the driver has for a kernel. */
function fits(
  { info }: Context,
  { maxThreads }: BuiltKernel,
  { text }: ClKernel,
  { block, kernel }: LaunchRequest,
  diagnostics: Diagnostics,
): boolean {
  const given = product(block);
  const limit = Math.min(maxThreads || given, text.maxThreads);
  if (given <= limit) return true;
  diagnostics.report('CM5021', { given, limit, who: `\`${kernel}\` on ${info.name}` });
  return false;
}

/** Memory of a launch. */
interface Owned {
  readonly address: number;
  readonly bytes: number;
}

/** A hidden parameter of the kernel, or of the text. */
type OwnedKey = KernelParam | 'status' | 'saved';

interface Binder {
  readonly library: ClLibrary;
  readonly kernel: ClKernel;
  readonly request: LaunchRequest;
  readonly owned: Map<OwnedKey, Owned>;
}

/** The arguments in order; undefined after reporting CM6012. */
function argumentsOf(context: Context, binder: Binder, diagnostics: Diagnostics): ClArgument[] | undefined {
  const { kernel, request, owned, library } = binder;
  const supply = { request, kernels: library.kernels, stackBytes: Math.min(request.stackBytes ?? defaultStackBytes, defaultStackBytes) };
  const own = (key: OwnedKey, bytes: number, start?: Uint8Array): ClArgument | undefined => {
    const address = take(context, bytes);
    if (address === undefined) {
      diagnostics.report('CM6012', { bytes, what: `a launch of \`${request.kernel}\`` });
      return undefined;
    }
    owned.set(key, { address, bytes });
    if (start && start.length > 0) copies(context, address, bytes).write(start);
    return { kind: 'address', address };
  };
  const one = (argument: TextArgument): ClArgument | undefined => {
    switch (argument.kind) {
      case 'local':
        return { kind: 'local', bytes: Math.max(16, argument.staticBytes + sharedParts(request).size) };
      case 'status':
        return own('status', 4 * statusWords);
      case 'saved': {
        const shared = alignUp(argument.sharedBytes + sharedParts(request).size, 8);
        const areas = product(request.grid) * (shared + product(request.block) * argument.threadBytes);
        return own('saved', savedHead.bytes + areas, savedStart(shared, false));
      }
      case 'value':
      case 'bytes': {
        const param = kernel.params[argument.param]!;
        const bytes = new Uint8Array(argument.size);
        writeValuesOfSlot(kernel.reflection, request.args, param.slot, bytes);
        if (argument.kind === 'value') return { kind: 'bytes', bytes };
        return own(param, bytes.length, bytes);
      }
      case 'buffer': {
        const param = kernel.params[argument.param]!;
        const supplied = suppliedFor(param, supply);
        if (supplied?.lasts) return heapOf(context, supplied, request, diagnostics);
        if (supplied) return own(param, supplied.bytes, supplied.start);
        if (param.memory) return { kind: 'address', address: library.memory ?? 0 };
        const given = bufferOfSlot(kernel.reflection, request.args, param.slot);
        const buffer = given && clBuffer(context, given.buffer);
        return { kind: 'address', address: buffer ? buffer.address + (given.offset ?? 0) : 0 };
      }
    }
  };
  const args = kernel.text.arguments.map(one);
  return args.includes(undefined) ? undefined : (args as ClArgument[]);
}

/** The heap of the device, made for the first launch that needs it; undefined after reporting CM6012. */
function heapOf(context: Context, { bytes, start }: Supplied, { kernel }: LaunchRequest, diagnostics: Diagnostics): ClArgument | undefined {
  if (context.heap === undefined) {
    const address = take(context, bytes);
    if (address === undefined) {
      diagnostics.report('CM6012', { bytes, what: `the heap of \`${kernel}\`` });
      return undefined;
    }
    copies(context, address, bytes).write(start);
    // What it gives is in memory, and kernels without `malloc` follow it too.
    context.addressed.add(address);
    context.heap = address;
  }
  return { kind: 'address', address: context.heap };
}

/** The words before what threads keep between dispatches. */
function savedStart(sharedBytes: number, isResumed: boolean): Uint8Array {
  const words = new Uint32Array(savedHead.bytes / 4);
  words[savedHead.isResumed] = isResumed ? 1 : 0;
  words[savedHead.sharedBytes] = sharedBytes;
  return new Uint8Array(words.buffer);
}

/** Arguments, and what threads keep between dispatches. */
interface Bound {
  readonly args: readonly ClArgument[];
  readonly saved: SavedMemory | undefined;
}

interface SavedMemory extends Owned {
  readonly threadBytes: number;
}

function savedOf({ text }: ClKernel, owned: Binder['owned']): SavedMemory | undefined {
  const memory = owned.get('saved');
  const argument = text.arguments.find(({ kind }) => kind === 'saved');
  return memory && argument?.kind === 'saved' ? { ...memory, threadBytes: argument.threadBytes } : undefined;
}

/** The block and the thread of the first thread that waits, and not at a barrier. */
function waitingIn(bytes: Uint8Array, { threadBytes }: SavedMemory, { grid, block }: LaunchRequest): { block: string; thread: string } {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const sharedBytes = view.getUint32(4 * savedHead.sharedBytes, true);
  const threads = product(block);
  const place = (number: number, [x, y]: Dim3): string => [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))].join(', ');
  for (let n = 0; n < product(grid) * threads; n++) {
    const own = Math.floor(n / threads);
    const state = view.getUint32(savedHead.bytes + (own + 1) * sharedBytes + n * threadBytes, true);
    if (state < waitsAtBarrier) return { block: place(own, grid), thread: place(n % threads, block) };
  }
  return { block: '0, 0, 0', thread: '0, 0, 0' };
}

/** Dispatches the grid until no block waits for another one; reports CM6032 where all of them do. */
function runToEnd(
  context: Context,
  built: BuiltKernel,
  { args, saved }: Bound,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const deadline = performance.now() + request.timeoutMs;
  let durationMs = 0;
  for (let idle = 0; ; ) {
    const result = run(context, built, args, request, diagnostics);
    if (!result || !saved) return result;
    durationMs += result.durationMs;
    const head = copies(context, saved.address, savedHead.bytes);
    const words = new Uint32Array(head.read().slice().buffer);
    if (words[savedHead.left] === 0) return { durationMs };
    idle = words[savedHead.worked] === 0 ? idle + 1 : 0;
    if (idle > 1) {
      diagnostics.report('CM6032', {
        kernel: request.kernel,
        ...waitingIn(copies(context, saved.address, saved.bytes).read(), saved, request),
      });
      return undefined;
    }
    if (request.timeoutMs > 0 && performance.now() > deadline) {
      diagnostics.report('CM6020', { kernel: request.kernel, seconds: request.timeoutMs / 1000 });
      return undefined;
    }
    head.write(savedStart(words[savedHead.sharedBytes]!, true));
  }
}

function run(
  context: Context,
  { handle }: BuiltKernel,
  args: readonly ClArgument[],
  { grid, block, kernel, timeoutMs }: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const { binding, queue, addressed } = context;
  const refuse = (): undefined => {
    const { call, name } = binding.lastFault();
    diagnostics.report('CM6051', { what: `a launch of \`${kernel}\``, call, why: name });
  };
  const start = performance.now();
  const event = binding.launch({ queue, kernel: handle, grid, block, args, addresses: [...addressed] });
  if (event === undefined) return refuse();
  const state = timeoutMs > 0 ? waitFor(context, event, timeoutMs) : binding.finish(queue) ? binding.state(event) : 'failed';
  const wallMs = performance.now() - start;
  if (state === 'running') {
    context.lost = `\`${kernel}\` has not ended after ${timeoutMs / 1000} s`;
    diagnostics.report('CM6020', { kernel, seconds: timeoutMs / 1000 });
    return undefined;
  }
  const durationMs = binding.elapsed(event) ?? wallMs;
  binding.releaseEvent(event);
  return state === 'failed' ? refuse() : { durationMs };
}

/** Polls without a pause, for kernels of a few microseconds. */
const spins = 200;
/** Milliseconds. */
const pauses = { first: 0.02, longest: 1 } as const;
const idle = new Int32Array(new SharedArrayBuffer(4));

/** The state of a launch at its end, or at the deadline. */
function waitFor({ binding }: Context, event: ClHandle, timeoutMs: number): 'done' | 'failed' | 'running' {
  const deadline = performance.now() + timeoutMs;
  for (let i = 0; i < spins; i++) {
    const state = binding.state(event);
    if (state !== 'running') return state;
  }
  for (let pause: number = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
    const state = binding.state(event);
    if (state !== 'running' || performance.now() > deadline) return state;
    Atomics.wait(idle, 0, 0, pause);
  }
}

/** Reports what the kernel printed, and why it stopped; returns whether it did. */
function reportCompletion(
  context: Context,
  { reflection }: ClKernel,
  owned: Binder['owned'],
  request: LaunchRequest,
  diagnostics: Diagnostics,
): boolean {
  const bytesOf = ({ address, bytes }: Owned): Uint8Array => copies(context, address, bytes).read();
  let hasStopped = false;
  for (const [param, memory] of owned) {
    if (param === 'status') hasStopped = reportStuck(bytesOf(memory), request, diagnostics) || hasStopped;
    else if (typeof param === 'string') continue;
    else if (param.formats) reportPrinted(bytesOf(memory), reflection, request, diagnostics);
    else if (param.faults) hasStopped = reportStop(bytesOf(memory), reflection, diagnostics) || hasStopped;
  }
  return hasStopped;
}

/** Reports CM6031 where threads waited for threads that never came. */
function reportStuck(bytes: Uint8Array, { kernel }: LaunchRequest, diagnostics: Diagnostics): boolean {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, statusWords);
  if (words[0] === 0) return false;
  diagnostics.report('CM6031', { kernel, block: words.subarray(1, 4).join(', '), thread: words.subarray(4, 7).join(', ') });
  return true;
}
