/** Loads PTX or a metallib as a module on a device. PTX is compiled for the device. */
import { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { beyondTarget, prefersCpu } from '../compile/about-targets.ts';
import { type Compiled, type CompileOptions, compile, initialValues, reflect } from '../compile/index.ts';
import type { DeviceModule, LoadOptions, Device as LowDevice } from '../device/device.ts';
import { hostTarget } from '../device/host-target.ts';

/** PTX as text or as a source file, or the bytes of a metallib. */
export type ModuleSource = string | SourceFile | Uint8Array;

/**
 * How the CPU device runs PTX of programs that count on warps in lockstep, as they were before sm_70: without barriers, threads of a warp read
 * what others of it have written to shared memory, which such sources declare `volatile`. Lane groups of whole warps give them that.
 */
export const warpSynchronous = (ptx: string): Pick<LoadOptions, 'lanes'> =>
  /\b(?:ld|st)\.volatile\.shared\b/.test(ptx) ? { lanes: 32 } : {};

/** The initial bytes of the variables of PTX, by name. */
export const initialValuesOf = (ptx: string): ReadonlyMap<string, Uint8Array> => initialValues(new SourceFile('module.ptx', ptx));

/** The options of loading a module. */
export interface ModuleOptions extends LoadOptions {
  /** The compile options of PTX. */
  readonly compile?: CompileOptions;
  /** The compiler of PTX, which may have a cache. */
  readonly compiler?: Compiler;
}

type Compiler = typeof compile;

/** Loads a module; undefined after reporting CM10xx to CM21xx, CM40xx, CM60xx. */
export function loadSource(
  low: LowDevice,
  source: ModuleSource,
  { compile: how = {}, compiler = compile, ...options }: ModuleOptions,
  diagnostics: Diagnostics,
): DeviceModule | undefined {
  if (source instanceof Uint8Array) return low.load(source, diagnostics, options);
  const file = typeof source === 'string' ? new SourceFile('module.ptx', source) : source;
  if (low.loadPtx) return loadPtx(low, file, { ...onlyNamed(options), ...how }, diagnostics);
  const compiled = compileFor(low, file, { hostTarget: hostTarget(), ...onlyNamed(options), ...how }, compiler, diagnostics);
  return compiled && low.load(compiled.metallib, diagnostics, options);
}

/** Loads PTX unchanged on a device that accepts it, with the reflection of our own front end. */
function loadPtx(low: LowDevice, file: SourceFile, options: CompileOptions, diagnostics: Diagnostics): DeviceModule | undefined {
  const own = new Diagnostics(file);
  const reflection = reflect(file, options, own);
  const module = reflection && low.loadPtx?.({ source: file, kernels: reflection.kernels }, own);
  diagnostics.addAll(own.sorted());
  return module;
}

/** Compiles only the requested kernels. */
const onlyNamed = ({ kernels }: LoadOptions): CompileOptions => (kernels ? { entries: kernels } : {});

/** Compiles PTX for a device. On the CPU device, a module that no Apple target supports is compiled for `cpu`. */
function compileFor(
  low: LowDevice,
  file: SourceFile,
  options: CompileOptions,
  compiler: Compiler,
  diagnostics: Diagnostics,
): Compiled | undefined {
  const first = new Diagnostics(file);
  const isOpen = low.info.kind === 'cpu' && options.target === undefined;
  const ofCpu: CompileOptions = { ...options, target: 'cpu' };
  const isPreferred = isOpen && prefersCpu(file.text);
  const compiled = compiler(file, isPreferred ? ofCpu : options, first);
  const own = isOpen && !isPreferred && (!compiled ? beyondTarget(first) !== undefined : needsCpu(compiled, low));
  const second = new Diagnostics(file);
  const forCpu = own ? compiler(file, ofCpu, second) : undefined;
  diagnostics.addAll((forCpu ? second : first).sorted());
  return forCpu ?? compiled;
}

/** Whether a kernel needs more shared memory than Apple GPUs have, has masks that they check or follow in a loop, 64-bit atomics that take locks there, clusters that are single blocks, or other forms of instructions. */
const needsCpu = ({ reflection }: Compiled, { info }: LowDevice): boolean =>
  reflection.kernels.some(
    (kernel) =>
      kernel.checkedMasks !== undefined ||
      kernel.locks !== undefined ||
      kernel.isAdapted ||
      kernel.cluster?.group !== undefined ||
      kernel.staticSharedBytes > info.limits.maxThreadgroupBytes,
  );
