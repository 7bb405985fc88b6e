/** One launch: validation, the arguments, the kernel, the wait, and the results. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { product } from '../../base/dim3.ts';
import type { ClArgument, ClHandle } from '../../ffi/index.ts';
import type { KernelParam } from '../../ir/index.ts';
import { statusWords, type TextArgument } from '../../text/index.ts';
import { reportPrinted, reportStop } from '../completion.ts';
import type { LaunchRequest, LaunchResult } from '../device.ts';
import { bufferOfSlot, suppliedBytes, writeValuesOfSlot } from '../launch-arguments.ts';
import { emptyPrintBuffer } from '../printed.ts';
import { sharedParts, validateLaunch, validatorOf } from '../validate-launch.ts';
import { clBuffer, copies, give, take } from './buffer.ts';
import type { BuiltKernel, ClKernel, ClLibrary, Context } from './context.ts';

/** Runs a kernel to its end; undefined after reporting CM50xx or CM60xx. */
export function launchKernel(
  context: Context,
  library: ClLibrary,
  kernel: ClKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const validator = validatorOf(context.info, (buffer) => clBuffer(context, buffer));
  if (!validateLaunch(validator, kernel.reflection, request, diagnostics)) return undefined;
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0 };
  if (context.lost !== undefined) {
    diagnostics.report('CM6029', { kernel: request.kernel, why: context.lost });
    return undefined;
  }
  const built = library.build(kernel, diagnostics);
  if (!built || !fits(context, built, kernel, request, diagnostics)) return undefined;
  const owned = new Map<KernelParam | 'status', Owned>();
  const args = argumentsOf(context, { library, kernel, request, owned }, diagnostics);
  const result = args && run(context, built, args, request, diagnostics);
  const isDone = result !== undefined && !reportCompletion(context, kernel, owned, request, diagnostics);
  for (const { address } of owned.values()) give(context, address);
  return isDone ? result : undefined;
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

interface Binder {
  readonly library: ClLibrary;
  readonly kernel: ClKernel;
  readonly request: LaunchRequest;
  readonly owned: Map<KernelParam | 'status', Owned>;
}

/** The arguments in order; undefined after reporting CM6012. */
function argumentsOf(context: Context, binder: Binder, diagnostics: Diagnostics): ClArgument[] | undefined {
  const { kernel, request, owned, library } = binder;
  const own = (key: KernelParam | 'status', bytes: number): ClArgument | undefined => {
    const address = take(context, bytes);
    if (address === undefined) {
      diagnostics.report('CM6012', { bytes, what: `a launch of \`${request.kernel}\`` });
      return undefined;
    }
    owned.set(key, { address, bytes });
    return { kind: 'address', address };
  };
  const one = (argument: TextArgument): ClArgument | undefined => {
    switch (argument.kind) {
      case 'local':
        return { kind: 'local', bytes: Math.max(16, argument.staticBytes + sharedParts(request).size) };
      case 'status':
        return own('status', 4 * statusWords);
      case 'value':
      case 'bytes': {
        const param = kernel.params[argument.param]!;
        const bytes = new Uint8Array(argument.size);
        writeValuesOfSlot(kernel.reflection, request.args, param.slot, bytes);
        if (argument.kind === 'value') return { kind: 'bytes', bytes };
        const made = own(param, bytes.length);
        if (made?.kind === 'address') copies(context, made.address, bytes.length).write(bytes);
        return made;
      }
      case 'buffer': {
        const param = kernel.params[argument.param]!;
        const bytes = suppliedBytes(param);
        if (bytes > 0) {
          const made = own(param, bytes);
          if (made?.kind === 'address' && param.formats) clearPrinted(context, made.address, bytes);
          return made;
        }
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

function clearPrinted(context: Context, address: number, bytes: number): void {
  const buffer = new Uint8Array(bytes);
  emptyPrintBuffer(buffer);
  copies(context, address, bytes).write(buffer);
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
