/** One launch: memory for everything that lives as long as it, globals set, `run` called, faults told apart. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { printBufferBytes } from '../../ir/index.ts';
import { handPrinted, reportStop } from '../aftermath.ts';
import type { DeviceLimits, Dim3, LaunchRequest, LaunchResult } from '../device.ts';
import { emptyPrintBuffer } from '../printed.ts';
import { checkRequest, sharedParts } from '../request.ts';
import { hostImports, paramGlobal, type WordGlobal } from './compile/host.ts';
import type { CompiledKernel, LoadedKernel } from './library.ts';
import type { DeviceMemory } from './memory.ts';
import type { Observer } from './observer.ts';
import { canWatch, instrumentsOf, startObservers } from './observers.ts';
import { TooLong } from './profile/run.ts';
import { addressOf, judgeOf } from './request.ts';
import { type Allocations, newAllocations } from './sanitize/allocations.ts';
import { Deadlock, startWatch, type Watch } from './sanitize/watch.ts';

/** What `tick` throws when time is up. */
class TimeIsUp extends Error {}

const alignUp = (offset: number): number => Math.ceil(offset / 16) * 16;
const product = (dims: Dim3): number => dims[0] * dims[1] * dims[2];

export interface Surroundings {
  readonly limits: DeviceLimits;
  /** Address of the module's own memory. */
  readonly ownMemory: number;
  /** What the device has given out, for launches that are watched. */
  readonly allocations?: Allocations;
  /** What the kernel sees of a slot, for a caller that has bound all of them itself. */
  readonly bound?: (slot: number) => bigint;
}

/** Runs a kernel to its end; nothing after reporting CM50xx or CM60xx. */
export function launchKernel(
  memory: DeviceMemory,
  { limits, ownMemory, bound, allocations }: Surroundings,
  given: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  if (!checkRequest(judgeOf(memory, limits, given.reflection), given.reflection, request, diagnostics)) return undefined;
  if (!canWatch(request, diagnostics)) return undefined;
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0 };
  const kernel = instrumentedKernel(given, request);
  const compiled = kernel.compiled(request.block);
  if (!compiled.wasm) {
    diagnostics.report('CM6013', { kernel: request.kernel, what: compiled.excess ?? '' });
    return undefined;
  }
  const area = areaOf(compiled, kernel, request);
  const start = memory.take(area.bytes);
  if (start === undefined) {
    diagnostics.report('CM6012', { bytes: area.bytes, what: `a launch of \`${request.kernel}\`` });
    return undefined;
  }
  let observers: Observer[] | undefined;
  let isWell = false;
  try {
    fillArea(memory, start, area, kernel, request);
    const { sanitize } = request;
    const own = { address: ownMemory, bytes: kernel.params.find((param) => param.memory)?.memory?.size ?? 0 };
    const observed = {
      memory,
      allocations: allocations ?? newAllocations(memory),
      kernel,
      compiled,
      request,
      area: { ...area, start },
      own,
    };
    observers = startObservers(observed, diagnostics);
    if (!observers) return undefined;
    const watched = sanitize && allocations && { ...observed, request: { ...request, sanitize } };
    const watch = watched && startWatch(watched, diagnostics);
    if (watched && !watch) return undefined;
    if (!watched) allocations?.writeAll();
    const globals = globalsOf({ start, ownMemory, bound }, area, kernel, request);
    const result = runInstance(memory, { wasm: compiled.wasm, lanes: compiled.lanes, watch, observers }, globals, request, diagnostics);
    watch?.end(diagnostics);
    isWell = result !== undefined;
    handPrinted(memory.view(start + area.printed, area.printedBytes), kernel.reflection, request, diagnostics);
    return result && reportStop(memory.view(start + area.faults, 4), kernel.reflection, diagnostics) ? undefined : result;
  } finally {
    for (const observer of observers ?? []) observer.end(isWell);
    memory.give(start);
  }
}

/** The kernel compiled with the instruments that a launch asks for. */
function instrumentedKernel(kernel: LoadedKernel, request: LaunchRequest): LoadedKernel {
  const instruments = instrumentsOf(request);
  if (!instruments) return kernel;
  const compiled = kernel.instrumented(instruments);
  return Object.create(kernel, { compiled: { value: () => compiled } }) as LoadedKernel;
}

/** Offsets of what a launch needs besides its buffers. */
interface Area {
  readonly constant: number;
  readonly shared: number;
  readonly local: number;
  readonly records: number;
  readonly states: number;
  /** The word in which the kernel says that it stopped itself. */
  readonly faults: number;
  /** What the kernel prints. */
  readonly printed: number;
  readonly printedBytes: number;
  /** By parameter: where its bytes stand, for those passed by value. */
  readonly values: readonly number[];
  readonly bytes: number;
}

function areaOf({ windows, recordBytes, lanes }: CompiledKernel, kernel: LoadedKernel, request: LaunchRequest): Area {
  let bytes = 0;
  const place = (size: number): number => {
    const at = bytes;
    bytes = alignUp(bytes + size);
    return at;
  };
  const threads = product(request.block);
  const { constant, shared, local } = windows;
  const printedBytes = kernel.reflection.printf ? printBufferBytes : 0;
  return {
    constant: place(constant),
    shared: place(Math.ceil(shared / 16) * 16 + sharedParts(request).size),
    local: place(local * Math.ceil(threads / lanes) * lanes),
    records: place(lanes > 1 ? recordBytes : recordBytes * threads),
    states: place(4 * threads),
    faults: place(4),
    printed: place(printedBytes),
    printedBytes,
    values: kernel.params.map((param) => (param.kind === 'value' ? place(param.size) : 0)),
    bytes,
  };
}

function fillArea(memory: DeviceMemory, start: number, area: Area, kernel: LoadedKernel, request: LaunchRequest): void {
  const view = memory.view(start, area.bytes);
  view.fill(0);
  view.set(kernel.constants, area.constant);
  if (area.printedBytes > 0) emptyPrintBuffer(view.subarray(area.printed, area.printed + area.printedBytes));
  kernel.reflection.params.forEach((param, i) => {
    const arg = request.args[i]!;
    if (arg.kind !== 'bytes') return;
    const start = area.values[kernel.params.findIndex((p) => p.kind !== 'threadgroup' && p.slot === param.slot)]!;
    view.set(arg.bytes, start + (param.offset ?? 0));
  });
}

interface Globals {
  readonly words: Partial<Record<WordGlobal, number>>;
  readonly params: readonly bigint[];
}

interface Starts {
  /** Of the area. */
  readonly start: number;
  readonly ownMemory: number;
  readonly bound: Surroundings['bound'];
}

function globalsOf({ start, ownMemory, bound }: Starts, area: Area, kernel: LoadedKernel, request: LaunchRequest): Globals {
  const { windows } = kernel.compiled(request.block);
  const dims = (name: 'ntid' | 'nctaid', [x, y, z]: Dim3) => ({ [`${name}.x`]: x, [`${name}.y`]: y, [`${name}.z`]: z });
  const parts = sharedParts(request);
  let part = 0;
  const params = kernel.params.map((param, i): bigint => {
    if (bound && param.kind !== 'threadgroup') return bound(param.slot);
    if (param.memory) return BigInt(ownMemory);
    if (param.faults) return BigInt(start + area.faults);
    if (param.formats) return BigInt(start + area.printed);
    if (param.kind === 'threadgroup') return BigInt(start + area.shared + windows.shared + parts.starts[part++]!);
    if (param.kind === 'value') return BigInt(start + area.values[i]!);
    const arg = request.args[kernel.reflection.params.findIndex((p) => p.slot === param.slot)];
    return arg?.kind === 'buffer' ? BigInt(addressOf(arg.buffer) ?? 0) : 0n;
  });
  const words = {
    ...dims('ntid', request.block),
    ...dims('nctaid', request.grid),
    threads: product(request.block),
    constant: start + area.constant,
    shared: start + area.shared,
    local: start + area.local,
    records: start + area.records,
    states: start + area.states,
  };
  return { words, params };
}

interface Runnable {
  readonly wasm: WebAssembly.Module;
  /** Threads that go on together. */
  readonly lanes: number;
  readonly watch: Watch | undefined;
  readonly observers: readonly Observer[];
}

function runInstance(
  { memory }: DeviceMemory,
  { wasm, lanes, watch, observers }: Runnable,
  { words, params }: Globals,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const deadline = request.timeoutMs > 0 ? performance.now() + request.timeoutMs : Number.POSITIVE_INFINITY;
  const tick = (): void => {
    if (performance.now() > deadline) throw new TimeIsUp();
    watch?.tick();
  };
  const imports = hostImports(memory, tick);
  Object.assign(imports.env!, watch?.imports, ...observers.map((each) => each.imports));
  const { exports } = new WebAssembly.Instance(wasm, imports);
  const global = (name: string): WebAssembly.Global => exports[name] as WebAssembly.Global;
  for (const [name, value] of Object.entries(words)) global(name).value = value;
  params.forEach((address, i) => {
    global(paramGlobal(i)).value = address;
  });
  watch?.begin(global);
  for (const observer of observers) observer.begin(global);
  const start = performance.now();
  try {
    (exports.run as () => void)();
  } catch (error) {
    reportFault(error, request, lanes, (name) => global(name).value as number, diagnostics);
    return undefined;
  }
  return { durationMs: performance.now() - start };
}

function reportFault(
  error: unknown,
  request: LaunchRequest,
  lanes: number,
  word: (name: WordGlobal) => number,
  diagnostics: Diagnostics,
): void {
  const [nx, ny] = request.block;
  const thread = word('thread');
  const where = {
    kernel: request.kernel,
    block: [word('ctaid.x'), word('ctaid.y'), word('ctaid.z')].join(', '),
    thread: [thread % nx, Math.floor(thread / nx) % ny, Math.floor(thread / (nx * ny))].join(', '),
  };
  // The watch has found it and says so.
  if (error instanceof Deadlock) return;
  // Threads of a strip access memory together.
  const last = Math.min(thread + lanes, product(request.block)) - 1 - thread;
  const others = last > 0 ? ` or one of the ${last} behind it` : '';
  if (error instanceof TooLong) diagnostics.report('CM6016', where);
  else if (error instanceof TimeIsUp) diagnostics.report('CM6010', { ...where, seconds: request.timeoutMs / 1000 });
  else if (error instanceof WebAssembly.RuntimeError) diagnostics.report('CM6011', { ...where, others });
  else throw error;
}
