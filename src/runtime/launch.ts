/** One launch from plan to results: choose the kernel, fill in defaults, bind the arguments, run, read back, check. */
import { closest } from '../base/closest.ts';
import { namesMeant } from '../base/demangle/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { product } from '../base/dim3.ts';
import type { Device, DeviceInfo, DeviceModule, LaunchArgument, LaunchRequest } from '../device/device.ts';
import type { ArgumentSpec, Expectation } from './argument.ts';
import { bindArguments, type HostArgument } from './bind.ts';
import { type Comparison, compareElements } from './compare.ts';
import { type Contents, readContents } from './contents.ts';
import { fillPlan } from './default-launch.ts';
import { elementCount, elements, type Kernel } from './element.ts';
import type { Io } from './io.ts';
import type { FullPlan, LaunchPlan } from './plan.ts';
import { reachedCount, withPointers } from './pointers.ts';
import { saveSymbols, writeSymbols } from './symbols.ts';

export interface LaunchOptions {
  /** How often the kernel runs, at least 1; its buffers are written anew each time. */
  readonly repeat: number;
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** Receives what the kernel prints, after each run, even one that fails. */
  readonly print?: (text: Uint8Array) => void;
  /** Called from time to time with the number of blocks of a run that have ended. */
  readonly progress?: (done: number, total: number) => void;
  /** The order in which the CPU device executes threads. */
  readonly schedule?: LaunchRequest['schedule'];
  /** How the first run is observed. */
  readonly observe?: Observation;
}

/** What the CPU device observes while a kernel runs. */
export type Observation = Pick<LaunchRequest, 'sanitize' | 'trace' | 'profile'>;

/** A buffer after the launch. */
export interface Output extends Contents {
  readonly index: number;
  readonly name: string;
  /** Whether the kernel may have written it. */
  readonly isWritten: boolean;
  readonly expect: Expectation | undefined;
}

export interface LaunchOutcome {
  readonly plan: FullPlan;
  /** Kernel time of each run, milliseconds. */
  readonly durationsMs: readonly number[];
  readonly outputs: readonly Output[];
}

/** The kernel of a launch: the one that is named, by its C++ name too, or else the only one. Undefined after reporting CM5001 to CM5004. */
export function chooseKernel(kernels: readonly Kernel[], name: string | undefined, diagnostics: Diagnostics): Kernel | undefined {
  const names = kernels.map((k) => k.name);
  const meant = name === undefined ? names.slice(0, 1) : namesMeant(name, names);
  if (name !== undefined && meant.length > 1) {
    diagnostics.report('CM5004', { name, count: meant.length, names: meant.map((n) => `\`${n}\``).join(', ') });
    return undefined;
  }
  const found = kernels.find((k) => k.name === meant[0]);
  if (!found && name !== undefined) {
    const near = closest(name, names);
    const help = near ? `did you mean \`${near}\`?` : `the module holds ${names.map((n) => `\`${n}\``).join(', ') || 'none'}`;
    diagnostics.report('CM5001', { name }, { help });
  } else if (!found) {
    diagnostics.report('CM5003', {});
  } else if (name === undefined && kernels.length > 1) {
    diagnostics.report('CM5002', { count: kernels.length, names: names.map((n) => `\`${n}\``).join(', ') });
    return undefined;
  }
  return found;
}

/** Whether the kernel of a launch, or one of those that it may be, cannot be compiled. Reports why. */
function isRefused({ kernels, refused }: DeviceModule, name: string | undefined, diagnostics: Diagnostics): boolean {
  if (!refused || refused.size === 0) return false;
  if (name === undefined) {
    const names = [...kernels.map((k) => k.name), ...refused.keys()];
    diagnostics.report('CM5002', { count: names.length, names: names.map((n) => `\`${n}\``).join(', ') });
    return true;
  }
  const [meant = name] = namesMeant(name, [...refused.keys()]);
  const why = kernels.some((k) => k.name === name) ? undefined : refused.get(meant);
  if (why) diagnostics.addAll(why.list);
  return why !== undefined;
}

/**
 * Whether a kernel with dynamic shared memory has a size for it; reports CM5034 otherwise. A launch file without a size says 0, by its format,
 * which is a warning (CM5036).
 */
function hasSharedSize(
  { name, usesDynamicShared }: Kernel,
  { sharedBytes, isSharedDefault }: LaunchPlan,
  diagnostics: Diagnostics,
): boolean {
  if (!usesDynamicShared) return true;
  if (isSharedDefault) diagnostics.report('CM5036', { kernel: name });
  if (sharedBytes === undefined) diagnostics.report('CM5034', { kernel: name });
  return sharedBytes !== undefined;
}

/** Runs a plan; undefined after reporting CM50xx, or CM60xx by the device. */
export function launch(
  device: Device,
  module: DeviceModule,
  plan: LaunchPlan,
  { repeat, ...options }: LaunchOptions,
  { io, diagnostics }: { readonly io: Io; readonly diagnostics: Diagnostics },
): LaunchOutcome | undefined {
  const kernel = isRefused(module, plan.kernel, diagnostics) ? undefined : chooseKernel(module.kernels, plan.kernel, diagnostics);
  if (!kernel || !hasSharedSize(kernel, plan, diagnostics) || !writeSymbols(module, plan.constants, io, diagnostics)) return undefined;
  const full = fillPlan(plan, kernel, device.info.limits);
  if (!mayEnd(device.info, full, options, diagnostics)) return undefined;
  if (!fitMemory(full.args, device.info.limits.maxBufferBytes, io, diagnostics)) return undefined;
  const host = bindArguments(full, kernel, io, diagnostics);
  const allocated = host && allocateBuffers(device, host, diagnostics);
  if (!allocated) return undefined;
  try {
    const args = withPointers(allocated, host, full, diagnostics);
    if (!args) return undefined;
    const passed = args.length - reachedCount(full.args, kernel.params.length);
    const durationsMs = runTimes({ module, full, host, args, passed, options }, repeat, diagnostics);
    return durationsMs && { plan: full, durationsMs, outputs: args.flatMap((_, index) => readBack({ full, kernel, host, args }, index)) };
  } finally {
    freeBuffers(allocated);
  }
}

/** The largest number of threads of a launch on a CPU without a time limit. */
const maxEndlessThreads = 2 ** 38;

/** Whether a launch ends within hours or has a time limit. Reports CM5047. */
function mayEnd({ kind, name }: DeviceInfo, { grid, block }: FullPlan, { timeoutMs }: Run['options'], diagnostics: Diagnostics): boolean {
  if (kind !== 'cpu' || timeoutMs > 0 || product(grid) * product(block) <= maxEndlessThreads) return true;
  diagnostics.report('CM5047', { grid: grid.join(' x '), block: block.join(' x '), limit: maxEndlessThreads, who: name });
  return false;
}

/**
 * Whether the buffers of a shape can be allocated, each on the device and twice on the host: initial contents and results. Reports CM6012 or
 * CM5045. Buffers from files exist already.
 */
function fitMemory(args: readonly ArgumentSpec[], maxBufferBytes: number, io: Io, diagnostics: Diagnostics): boolean {
  const sizes = args.map((arg) => (arg.kind === 'buffer' ? elementCount(arg.shape) * elements[arg.element].size : 0));
  const large = sizes.find((size) => size > maxBufferBytes);
  const bytes = 3 * sizes.reduce((sum, size) => sum + size, 0);
  const available = io.availableMemory?.() ?? Number.POSITIVE_INFINITY;
  if (large !== undefined) diagnostics.report('CM6012', { bytes: large, what: 'a buffer' });
  else if (bytes > available) diagnostics.report('CM5045', { bytes, available });
  return large === undefined && bytes <= available;
}

/** The arguments with device memory for their buffers; undefined after a failed allocation, with nothing allocated. */
function allocateBuffers(device: Device, host: readonly HostArgument[], diagnostics: Diagnostics): LaunchArgument[] | undefined {
  const args: LaunchArgument[] = [];
  for (const argument of host) {
    if (argument.kind !== 'buffer') args.push(argument);
    else {
      const buffer = device.allocate(argument.buffer.bytes.length, diagnostics);
      if (!buffer) {
        freeBuffers(args);
        return undefined;
      }
      args.push({ ...argument, buffer });
    }
  }
  return args;
}

function freeBuffers(args: readonly LaunchArgument[]): void {
  for (const argument of args) if (argument.kind === 'buffer') argument.buffer.free();
}

/** The arguments of a launch on the host and on the device, by the same indices. */
interface Arguments {
  readonly full: FullPlan;
  readonly host: readonly HostArgument[];
  readonly args: readonly LaunchArgument[];
}

interface Run extends Arguments {
  /** The number of arguments that are parameters of the kernel. */
  readonly passed: number;
  readonly module: DeviceModule;
  readonly options: Omit<LaunchOptions, 'repeat'>;
}

function runTimes(run: Run, repeat: number, diagnostics: Diagnostics): number[] | undefined {
  const { module, host, args } = run;
  const durations: number[] = [];
  const restoreSymbols = saveSymbols(module);
  for (let i = 0; i < repeat; i++) {
    if (i > 0) restoreSymbols();
    args.forEach((argument, index) => {
      const from = host[index]!;
      if (argument.kind === 'buffer' && from.kind === 'buffer') argument.buffer.write(from.buffer.bytes);
    });
    const result = module.launch(requestOf(run, i === 0), diagnostics);
    if (!result) return undefined;
    durations.push(result.durationMs);
  }
  return durations;
}

function requestOf({ full, args, passed, options }: Run, isFirst: boolean): LaunchRequest {
  const { kernel, grid, block, sharedBytes, sharedParts, cooperative, cluster, stackBytes } = full;
  const { observe, timeoutMs, print, schedule, progress } = options;
  return {
    kernel,
    grid,
    block,
    dynamicSharedBytes: sharedBytes,
    ...(sharedParts ? { dynamicSharedParts: sharedParts } : {}),
    ...(cooperative ? { cooperative } : {}),
    ...(cluster ? { cluster } : {}),
    ...(stackBytes === undefined ? {} : { stackBytes }),
    args: args.slice(0, passed),
    timeoutMs,
    ...(print ? { print } : {}),
    ...(progress ? { progress } : {}),
    ...(schedule ? { schedule } : {}),
    ...(isFirst ? observe : {}),
  };
}

function readBack({ full, kernel, host, args }: Arguments & { readonly kernel: Kernel }, index: number): Output[] {
  const [from, argument, spec] = [host[index]!, args[index]!, full.args[index]!];
  if (argument.kind !== 'buffer' || from.kind !== 'buffer') return [];
  // A buffer that only a struct points to has no parameter.
  const { name, access } = kernel.params[index] ?? { name: `buffer${index}`, access: 'read_write' };
  const bytes = argument.buffer.read();
  return [{ index, name: spec.name ?? name, isWritten: access !== 'read', ...from.buffer, bytes, expect: spec.expect }];
}

/** The outcome of one `expect` or `--check`. */
export interface Check extends Comparison {
  readonly index: number;
  readonly name: string;
  readonly want: Contents;
}

/** Compares an output with a file; undefined after reporting that the file has another type, shape or size. */
export function checkOutput(output: Output, expect: Expectation, io: Io, diagnostics: Diagnostics): Check | undefined {
  const want = readContents(io, expect.path, output, diagnostics);
  if (!want) return undefined;
  return { index: output.index, name: output.name, want, ...compareElements(output.element, output.bytes, want.bytes, expect) };
}

/** Elements of a buffer. */
export const lengthOf = ({ element, bytes }: Contents): number => Math.floor(bytes.length / elements[element].size);
