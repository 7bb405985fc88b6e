/** One launch from plan to results: choose the kernel, fill the plan, bind, run, read back, check. */
import { closest } from '../base/closest.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { product } from '../base/dim3.ts';
import type { Device, DeviceBuffer, DeviceModule, Dim3, LaunchArgument, LaunchRequest } from '../device/device.ts';
import type { Expectation } from './argument.ts';
import { type BoundArgument, bindArguments } from './bind.ts';
import { type Comparison, compareElements } from './compare.ts';
import { type Contents, readContents } from './contents.ts';
import { fillPlan } from './default-launch.ts';
import { elements, type Kernel } from './element.ts';
import type { Io } from './io.ts';
import type { FullPlan, LaunchPlan } from './plan.ts';
import { keepSymbols, writeSymbols } from './symbols.ts';

export interface LaunchOptions {
  /** Times the kernel runs; its buffers start afresh each time. At least 1. */
  readonly repeat: number;
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** Takes what the kernel prints, each time that it runs, whether it ends well or not. */
  readonly print?: (text: Uint8Array) => void;
  /** Told now and then how many blocks of a run have ended, of how many. */
  readonly progress?: (done: number, total: number) => void;
  /** In which order threads are taken, on the CPU device. */
  readonly schedule?: LaunchRequest['schedule'];
  /** How the first run is watched. */
  readonly watch?: Watched;
}

/** What the CPU device does besides while a kernel runs. */
export type Watched = Pick<LaunchRequest, 'sanitize' | 'trace' | 'profile'>;

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

/** The kernel a launch means: the one named, or the only one. Nothing after reporting CM5001 to CM5003. */
export function chooseKernel(kernels: readonly Kernel[], name: string | undefined, diagnostics: Diagnostics): Kernel | undefined {
  const names = kernels.map((k) => k.name);
  const found = name === undefined ? kernels[0] : kernels.find((k) => k.name === name);
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

/** Reports why a kernel is not run that a launch names, or may mean where it names none. */
function isRefused({ kernels, refused }: DeviceModule, name: string | undefined, diagnostics: Diagnostics): boolean {
  if (!refused || refused.size === 0) return false;
  if (name === undefined) {
    const names = [...kernels.map((k) => k.name), ...refused.keys()];
    diagnostics.report('CM5002', { count: names.length, names: names.map((n) => `\`${n}\``).join(', ') });
    return true;
  }
  const why = refused.get(name);
  if (why) diagnostics.addAll(why.list);
  return why !== undefined;
}

/** Runs a plan; nothing after reporting CM50xx, or CM60xx by the device. */
export function launch(
  device: Device,
  module: DeviceModule,
  plan: LaunchPlan,
  { repeat, ...options }: LaunchOptions,
  { io, diagnostics }: { readonly io: Io; readonly diagnostics: Diagnostics },
): LaunchOutcome | undefined {
  const kernel = isRefused(module, plan.kernel, diagnostics) ? undefined : chooseKernel(module.kernels, plan.kernel, diagnostics);
  if (!kernel || !writeSymbols(module, plan.constants, io, diagnostics)) return undefined;
  const full = fillPlan(plan, kernel, device.info.limits);
  if (!fits(full, kernel, device, diagnostics)) return undefined;
  const bound = bindArguments(full, kernel, io, diagnostics);
  if (!bound) return undefined;
  const buffers = allocate(device, bound, diagnostics);
  const durationsMs = buffers && runTimes({ module, full, bound, buffers, options }, repeat, diagnostics);
  const outputs = buffers && durationsMs && bound.flatMap((b, index) => readBack(b, index, buffers[index]));
  for (const buffer of buffers ?? []) buffer?.free();
  return durationsMs && outputs && { plan: full, durationsMs, outputs };
}

/** Whether block and shared memory suit kernel and device; CM5020 to CM5022 are reported where not. */
function fits(plan: FullPlan, kernel: Kernel, { info }: Device, diagnostics: Diagnostics): boolean {
  const given = product(plan.block);
  const { maxThreads } = kernel;
  const before = diagnostics.list.length;
  if (!checkBlock(kernel, plan.block, diagnostics)) {
    // The limits below are those of other shapes.
  } else if (maxThreads !== undefined && given > maxThreads) {
    diagnostics.report('CM5021', { given, limit: maxThreads, who: `\`.maxntid\` of \`${kernel.name}\`` });
  } else if (given > info.limits.maxThreadsPerThreadgroup) {
    diagnostics.report('CM5021', { given, limit: info.limits.maxThreadsPerThreadgroup, who: info.name });
  }
  const shared = kernel.staticSharedBytes + plan.sharedBytes;
  const most = kernel.maxSharedBytes ?? info.limits.maxThreadgroupBytes;
  if (shared > most) diagnostics.report('CM5022', { given: shared, limit: most });
  return diagnostics.list.length === before;
}

/** Whether a block has the shape that the source demands; CM5020 is reported where not. */
export function checkBlock({ name, requiredThreads }: Kernel, block: Dim3, diagnostics: Diagnostics): boolean {
  if (!requiredThreads?.some((n, i) => n !== block[i])) return true;
  diagnostics.report('CM5020', { kernel: name, wanted: requiredThreads.join(' x '), given: block.join(' x ') });
  return false;
}

/** A device buffer for each buffer argument; none at all after a failed allocation. */
function allocate(device: Device, bound: readonly BoundArgument[], diagnostics: Diagnostics): (DeviceBuffer | undefined)[] | undefined {
  const buffers: (DeviceBuffer | undefined)[] = [];
  for (const b of bound) {
    const buffer = b.kind === 'buffer' ? device.allocate(b.contents.bytes.length, diagnostics) : undefined;
    buffers.push(buffer);
    if (b.kind !== 'buffer' || buffer) continue;
    for (const other of buffers) other?.free();
    return undefined;
  }
  return buffers;
}

interface Run {
  readonly module: DeviceModule;
  readonly full: FullPlan;
  readonly bound: readonly BoundArgument[];
  readonly buffers: readonly (DeviceBuffer | undefined)[];
  readonly options: Omit<LaunchOptions, 'repeat'>;
}

function runTimes({ module, full, bound, buffers, options }: Run, repeat: number, diagnostics: Diagnostics): number[] | undefined {
  const args = bound.map((b, i): LaunchArgument => (b.kind === 'bytes' ? b : { kind: 'buffer', buffer: buffers[i]! }));
  const durations: number[] = [];
  const restoreSymbols = keepSymbols(module);
  for (let i = 0; i < repeat; i++) {
    if (i > 0) restoreSymbols();
    for (const [j, b] of bound.entries()) if (b.kind === 'buffer') buffers[j]!.write(b.contents.bytes);
    const { kernel, grid, block, sharedBytes, sharedParts } = full;
    const shared = { dynamicSharedBytes: sharedBytes, ...(sharedParts ? { dynamicSharedParts: sharedParts } : {}) };
    const { watch, timeoutMs, print, schedule, progress } = options;
    const wanted = {
      timeoutMs,
      ...(print ? { print } : {}),
      ...(progress ? { progress } : {}),
      ...(schedule ? { schedule } : {}),
      ...(i === 0 ? watch : {}),
    };
    const result = module.launch({ kernel, grid, block, ...shared, args, ...wanted }, diagnostics);
    if (!result) return undefined;
    durations.push(result.durationMs);
  }
  return durations;
}

function readBack(b: BoundArgument, index: number, buffer: DeviceBuffer | undefined): Output[] {
  if (b.kind !== 'buffer' || !buffer) return [];
  const { name, access } = b.parameter;
  const isWritten = access !== 'read';
  return [{ index, name: b.argument.name ?? name, isWritten, ...b.contents, bytes: buffer.read(), expect: b.argument.expect }];
}

/** The outcome of one `expect` or `--check`. */
export interface Check extends Comparison {
  readonly index: number;
  readonly name: string;
  readonly want: Contents;
}

/** Compares an output with a file; nothing after reporting that the file is not of its type, shape or size. */
export function checkOutput(output: Output, expect: Expectation, io: Io, diagnostics: Diagnostics): Check | undefined {
  const want = readContents(io, expect.path, output, diagnostics);
  if (!want) return undefined;
  return { index: output.index, name: output.name, want, ...compareElements(output.element, output.bytes, want.bytes, expect) };
}

/** Elements of a buffer. */
export const lengthOf = ({ element, bytes }: Contents): number => Math.floor(bytes.length / elements[element].size);
