/** One launch: limits first, then everything bound to its slot, the commands handed over, waited for, and told of. */
import { alignUp } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { product } from '../../base/dim3.ts';
import type { Handle } from '../../ffi/index.ts';
import { type KernelParam, printBufferBytes } from '../../ir/index.ts';
import { reportPrinted, reportStop } from '../completion.ts';
import type { LaunchRequest, LaunchResult } from '../device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../launch-arguments.ts';
import { emptyPrintBuffer } from '../printed.ts';
import { validateLaunch, validatorOf } from '../validate-launch.ts';
import { metalBuffer, takeMemory } from './buffer.ts';
import type { Context, Memory, MetalKernel, MetalLibrary, Pipeline } from './context.ts';
import { faultText, reportCommandFault } from './faults.ts';
import { waitFor } from './wait.ts';

/** Runs a kernel to its end; nothing after reporting CM50xx or CM60xx. */
export function launchKernel(
  context: Context,
  library: MetalLibrary,
  kernel: MetalKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const validator = validatorOf(context.info, (buffer) => metalBuffer(context, buffer));
  if (!validateLaunch(validator, kernel.reflection, request, diagnostics)) return undefined;
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0 };
  if (context.lost !== undefined) {
    diagnostics.report('CM6029', { kernel: request.kernel, why: context.lost });
    return undefined;
  }
  const pipeline = library.pipeline(kernel, diagnostics);
  if (!pipeline || !fitsPipeline(context, pipeline, request, diagnostics)) return undefined;
  const placed = place(context, library, kernel, request, pipeline, diagnostics);
  if (!placed) return undefined;
  const result = run(context, { pipeline, placed, request }, diagnostics);
  const isDone = result !== undefined && !tellOf(kernel, placed, request, diagnostics) && !('failed' in result);
  // Memory that a kernel may still write is the device's until it is closed.
  if (context.lost === undefined) for (const memory of placed.temporary) memory.give();
  return isDone ? result : undefined;
}

/** Hands over what the kernel printed; whether it stopped itself, which is reported. */
function tellOf({ reflection }: MetalKernel, { printed, faults }: Placed, request: LaunchRequest, diagnostics: Diagnostics): boolean {
  if (printed) reportPrinted(printed.view, reflection, request, diagnostics);
  return faults !== undefined && reportStop(faults.view, reflection, diagnostics);
}

/** Bytes of each threadgroup argument. */
const sharedSizes = ({ dynamicSharedBytes, dynamicSharedParts = [dynamicSharedBytes] }: LaunchRequest): number[] =>
  dynamicSharedParts.map((bytes) => alignUp(bytes, 16));

/** Threads of a grid in one dimension, of which positions in it are 32 bits. */
const mostThreads = 2 ** 32 - 1;

/** What only the pipeline knows: registers leave room for fewer threads, and Metal may count more static memory. */
function fitsPipeline({ info }: Context, { facts }: Pipeline, request: LaunchRequest, diagnostics: Diagnostics): boolean {
  const { grid, block, kernel } = request;
  const given = product(block);
  const shared = facts.staticBytes + sharedSizes(request).reduce((sum, bytes) => sum + bytes, 0);
  const isTooWide = grid.some((groups, i) => groups * block[i]! > mostThreads);
  if (given > facts.maxThreads) diagnostics.report('CM5021', { given, limit: facts.maxThreads, who: `\`${kernel}\` on ${info.name}` });
  else if (shared > info.limits.maxThreadgroupBytes)
    diagnostics.report('CM5022', { given: shared, limit: info.limits.maxThreadgroupBytes });
  else if (isTooWide)
    diagnostics.report('CM5024', { given: `grid ${grid.join(' x ')} of blocks ${block.join(' x ')}, above 2^32 threads in a row` });
  else return true;
  return false;
}

/** What of a launch stands in a slot. */
type Bound = { readonly slot: number } & (Place | { readonly bytes: Uint8Array });

/** Memory, from a byte of it on. */
interface Place {
  readonly handle: Handle;
  readonly offset: number;
}

interface Placed {
  readonly bound: readonly Bound[];
  /** Threadgroup memory by its slot. */
  readonly shared: readonly { readonly slot: number; readonly bytes: number }[];
  /** What is given back when the launch has ended. */
  readonly temporary: readonly Memory[];
  readonly printed: Memory | undefined;
  readonly faults: Memory | undefined;
}

/** Most bytes that go into a command by value; above, they take a buffer. */
const mostByValue = 4096;

/** Decides what stands in each slot; nothing after reporting CM6012. */
function place(
  context: Context,
  library: MetalLibrary,
  kernel: MetalKernel,
  request: LaunchRequest,
  { facts }: Pipeline,
  diagnostics: Diagnostics,
): Placed | undefined {
  const temporary: Memory[] = [];
  const take = (bytes: number): Memory | undefined => {
    const taken = takeMemory(context, bytes);
    if (taken) temporary.push(taken);
    else diagnostics.report('CM6012', { bytes, what: `a launch of \`${request.kernel}\`` });
    return taken;
  };
  const slots = kernel.params.filter((param) => param.kind !== 'threadgroup');
  const hidden = new Map<KernelParam, Memory>();
  const bound: Bound[] = [];
  for (const param of slots) {
    const { slot } = param;
    const bytes = param.kind === 'value' ? valueBytes(param, kernel, request) : undefined;
    const own = bytes && bytes.length <= mostByValue ? undefined : ownBytes(param);
    const memory = own === undefined ? undefined : take(own);
    if (memory) hidden.set(param, memory);
    if (bytes && memory) memory.view.set(bytes);
    const handle = param.memory ? library.memory?.handle : memory?.handle;
    const placed = handle ? { handle, offset: 0 } : bufferAt(context, kernel, request, slot);
    if (placed) bound.push({ slot, ...placed });
    else if (bytes && own === undefined) bound.push({ slot, bytes });
  }
  if (bound.length < slots.length) {
    for (const each of temporary) each.give();
    return undefined;
  }
  const [printing, stopping] = [slots.find((param) => param.formats), slots.find((param) => param.faults)];
  const [printed, faults] = [printing && hidden.get(printing), stopping && hidden.get(stopping)];
  if (printed) emptyPrintBuffer(printed.view);
  const room = context.info.limits.maxThreadgroupBytes - facts.staticBytes;
  const sizes = sharedSizes(request);
  // A kernel that names such memory wants some, were it never used.
  const shared = kernel.params
    .filter((param) => param.kind === 'threadgroup')
    .map(({ slot }, i) => ({ slot, bytes: Math.min(Math.max(16, sizes[i] ?? 0), room) }));
  return { bound, shared, temporary, printed, faults };
}

/** Bytes of memory that a launch takes for a parameter; nothing where it takes none. */
function ownBytes({ kind, size, faults, formats }: KernelParam): number | undefined {
  if (kind === 'value') return size;
  if (faults) return 4;
  return formats ? printBufferBytes : undefined;
}

/** The bytes of a slot that is filled by value: those of one parameter, or of several, each at its offset. */
function valueBytes({ slot, size }: KernelParam, { reflection }: MetalKernel, request: LaunchRequest): Uint8Array {
  const bytes = new Uint8Array(size);
  writeValuesOfSlot(reflection, request.args, slot, bytes);
  return bytes;
}

function bufferAt(context: Context, { reflection }: MetalKernel, request: LaunchRequest, slot: number): Place | undefined {
  const argument = bufferOfSlot(reflection, request.args, slot);
  const buffer = argument && metalBuffer(context, argument.buffer);
  return buffer && { handle: buffer.handle, offset: argument.offset ?? 0 };
}

interface Task {
  readonly pipeline: Pipeline;
  readonly placed: Placed;
  readonly request: LaunchRequest;
}

/** What became of the commands: their time; that they failed, which was reported; nothing where they were not, or have not ended. */
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

/** Writes the commands of a launch; whether Metal gave an encoder for them. */
function encode({ binding, addressed }: Context, commands: Handle, { pipeline, placed, request }: Task): boolean {
  binding.setLabel(commands, request.kernel);
  const encoder = binding.compute(commands);
  if (!encoder) return false;
  try {
    binding.setPipeline(encoder, pipeline.handle);
    for (const each of placed.bound) {
      if ('bytes' in each) binding.setBytes(encoder, each.bytes, each.slot);
      else binding.setBuffer(encoder, each.handle, each.offset, each.slot);
    }
    for (const { slot, bytes } of placed.shared) binding.setThreadgroupMemory(encoder, bytes, slot);
    for (const handle of addressed) binding.use(encoder, handle);
    binding.dispatch(encoder, request.grid, request.block);
  } finally {
    // An encoder that is let go without this ends the process.
    binding.end(encoder);
    binding.release(encoder);
  }
  return true;
}
