/** From PTX or a metallib to a module on a device: compiled for what the device is. */
import { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { beyondTarget } from '../compile/about-targets.ts';
import { type Compiled, type CompileOptions, compile, reflect } from '../compile/index.ts';
import type { DeviceModule, LoadOptions, Device as LowDevice } from '../device/device.ts';
import type { Kernel } from '../runtime/index.ts';

/** PTX as text or with its path, or the bytes of a metallib. */
export type ModuleSource = string | SourceFile | Uint8Array;

export interface ModuleOptions extends LoadOptions {
  /** How PTX is compiled. */
  readonly compile?: CompileOptions;
}

/** Loads a module; nothing after reporting CM10xx to CM21xx, CM40xx, CM60xx. */
export function loadSource(
  low: LowDevice,
  source: ModuleSource,
  { compile: how = {}, ...options }: ModuleOptions,
  diagnostics: Diagnostics,
): DeviceModule | undefined {
  if (source instanceof Uint8Array) return low.load(source, diagnostics, options);
  const file = typeof source === 'string' ? new SourceFile('module.ptx', source) : source;
  if (low.loadPtx) return loadPtx(low, file, { ...onlyNamed(options), ...how }, diagnostics);
  const compiled = compileFor(low, file, { ...onlyNamed(options), ...how }, diagnostics);
  const module = compiled && low.load(compiled.metallib, diagnostics, options);
  return module && { ...module, kernels: module.kernels.map((kernel) => withDemands(kernel, compiled)) };
}

/** PTX as it is, for a device that takes that, with what our own front end says of it. */
function loadPtx(low: LowDevice, file: SourceFile, options: CompileOptions, diagnostics: Diagnostics): DeviceModule | undefined {
  const own = new Diagnostics(file);
  const reflection = reflect(file, options, own);
  const module = reflection && low.loadPtx?.({ source: file, kernels: reflection.kernels }, own);
  diagnostics.addAll(own.sorted());
  return module;
}

/** A library says how many threads a block has at most, but not the shape that the source demands. */
function withDemands(kernel: Kernel, { reflection }: Compiled): Kernel {
  const { requiredThreads } = reflection.kernels.find(({ name }) => name === kernel.name) ?? kernel;
  return { ...kernel, requiredThreads };
}

/** Kernels that are not going to be launched need not compile. */
const onlyNamed = ({ kernels }: LoadOptions): CompileOptions => (kernels ? { entries: kernels } : {});

/** PTX compiled for a device. On the CPU device, what no Apple target can say is tried once more for that device alone. */
function compileFor(low: LowDevice, file: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Compiled | undefined {
  const first = new Diagnostics(file);
  const compiled = compile(file, options, first);
  const own =
    low.info.kind === 'cpu' &&
    options.target === undefined &&
    (!compiled ? beyondTarget(first) !== undefined : wantsMoreShared(compiled, low));
  const second = new Diagnostics(file);
  const forCpu = own ? compile(file, { ...options, target: 'cpu' }, second) : undefined;
  diagnostics.addAll((forCpu ? second : first).sorted());
  return forCpu ?? compiled;
}

/** Whether a kernel has more shared memory than Apple GPUs. */
const wantsMoreShared = ({ reflection }: Compiled, { info }: LowDevice): boolean =>
  reflection.kernels.some((kernel) => kernel.staticSharedBytes > info.limits.maxThreadgroupBytes);
