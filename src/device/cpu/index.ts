/**
 * The CPU device: it runs the bytes of a metallib as WebAssembly. It knows AIR through `src/air` and nothing of PTX. `README.md` is a map; start
 * at `launch/library.ts` (from bytes to compiled kernels) and `launch/prepare.ts` (from a request to a launch).
 */
import { targets } from '../../air/index.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Device, DeviceInfo, DeviceModule, LaunchRequest, LoadOptions, NativeMode, OpenOptions, Reservation } from '../device.ts';
import { reportClosed } from '../module-memory.ts';
import { commonProperties } from '../properties.ts';
import { canShare, coreCount } from '../spawn.ts';
import type { CpuBuffer } from './buffer.ts';
import { noteUnused } from './collector.ts';
import { isFused } from './fma-support.ts';
import { isLaunching } from './launch/children.ts';
import { cancelAll, startKernel } from './launch/launch-async.ts';
import { launchKernel } from './launch/launch-blocking.ts';
import { type CompileChoice, type LoadedKernel, loadLibrary } from './launch/library.ts';
import { ownMemory } from './launch/module-memory.ts';
import { endedLaunch } from './launch/scheduler.ts';
import { type DeviceMemory, newMemory } from './memory.ts';
import { canRunNative, nativeMode, nativeTarget } from './native/mode.ts';
import { type Allocation, type Allocations, newAllocations } from './observe/allocations.ts';
import { workerPool } from './workers/pool.ts';

/** Name and limits. The threadgroup limits are those of Apple GPUs; kernels that are compiled for this device may exceed them. */
export const cpuInfo: DeviceInfo = {
  kind: 'cpu',
  name: 'CPU (WebAssembly)',
  limits: { maxThreadsPerThreadgroup: 1024, maxThreadgroupBytes: targets.macos14.shared.total, maxBufferBytes: 2 ** 31, simdWidth: 32 },
  get emulatesFma() {
    return !isFused();
  },
  vectorBits: 128,
  get properties() {
    const { name, limits } = cpuInfo;
    const cores = canShare() ? coreCount() : 1;
    const more = { name, totalGlobalMem: 2 ** 32, multiProcessorCount: cores, maxThreadsDim: [1024, 1024, 1024] };
    return { ...commonProperties(limits, more), sharedMemPerBlockOptin: targets.cpu.shared.total };
  },
};

/**
 * The same with native code, where this machine runs it. What the processor can is asked for when it is needed. The first launches of a kernel are
 * WebAssembly in the mode `auto`.
 */
const infoWith = (native: NativeMode): DeviceInfo =>
  Object.defineProperties({} as DeviceInfo, {
    ...Object.getOwnPropertyDescriptors(cpuInfo),
    emulatesFma: { enumerable: true, get: () => cpuInfo.emulatesFma && !(native === 'always' && canRunNative()) },
    vectorBits: { enumerable: true, get: () => (native !== 'never' && canRunNative() ? 8 * nativeTarget().vectorBytes : 128) },
  });

/** Opens a CPU device with its own memory. */
export function openCpuDevice({ inBackground = false, ...options }: OpenOptions = {}): Device {
  const threads = canShare() ? Math.max(1, options.threads ?? coreCount()) : 1;
  const memory = newMemory(threads > 1 || (inBackground && canShare()));
  const allocations = newAllocations(memory);
  const choice = { ...options, threads, isShared: memory.isShared };
  return {
    info: infoWith(nativeMode(options.native)),
    allocate: (size, diagnostics, _isSeen, alignment) => allocate({ memory, allocations }, size, alignment, diagnostics),
    reserve: (size, diagnostics) => reserve({ memory, allocations }, size, diagnostics),
    load: (metallib, diagnostics, what) => load({ memory, allocations }, metallib, diagnostics, { ...choice, ...what }),
    close() {
      cancelAll(memory);
      workerPool.forgetMemory(memory.memory);
      if (memory.isShared) noteUnused(memory.memory.buffer.byteLength);
    },
  };
}

interface Owner {
  readonly memory: DeviceMemory;
  readonly allocations: Allocations;
}

/** The address of new memory; undefined after reporting CM6012. */
function take({ memory }: Owner, size: number, alignment: number, what: string, diagnostics: Diagnostics): number | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= cpuInfo.limits.maxBufferBytes;
  const address = isSize ? memory.take(size, alignment) : undefined;
  if (address === undefined) diagnostics.report('CM6012', { bytes: size, what });
  return address;
}

function allocate(owner: Owner, size: number, alignment: number | undefined, diagnostics: Diagnostics): CpuBuffer | undefined {
  const address = take(owner, size, alignment ?? 1, 'a buffer', diagnostics);
  if (address === undefined) return undefined;
  owner.memory.view(address, size).fill(0);
  return bufferOver(owner, owner.allocations.add(address, size, 'a buffer', 'none'));
}

/** Parts are allocations of their own, so that the sanitizer knows their bounds and not those of the whole. */
function reserve(owner: Owner, size: number, diagnostics: Diagnostics): Reservation | undefined {
  const { memory, allocations } = owner;
  const start = take(owner, size, 1, 'a pool', diagnostics);
  if (start === undefined) return undefined;
  return {
    size,
    part(offset, bytes) {
      const allocation: Allocation = {
        address: start + offset,
        size: bytes,
        what: 'a buffer',
        isFree: true,
        isPart: true,
        written: 'none',
      };
      const begin = (): void => {
        allocations.forgetParts(allocation.address, bytes);
        allocations.begin(allocation);
      };
      return Object.assign(bufferOver(owner, allocation), { begin });
    },
    free() {
      allocations.forgetParts(start, size);
      memory.give(start);
    },
  };
}

function bufferOver({ memory, allocations }: Owner, allocation: Allocation): CpuBuffer {
  const { address, size } = allocation;
  const canView = memory.isShared || 'toResizableBuffer' in memory.memory;
  /** Writes through a view are not observed, so a view counts as a write of everything. */
  const viewed = (view: Uint8Array): Uint8Array => {
    allocations.write(allocation, 0, size);
    return view;
  };
  return {
    get isFree() {
      return allocation.isFree;
    },
    owner: memory,
    address,
    size,
    write(bytes, offset = 0) {
      memory.view(address, size).set(bytes, offset);
      allocations.write(allocation, offset, bytes.length);
    },
    place(offset, bytes) {
      allocations.write(allocation, offset, bytes);
      return memory.view(address + offset, bytes);
    },
    read: () => memory.view(address, size).slice(),
    ...(canView ? { view: () => viewed(memory.lastingView(address, size)!) } : {}),
    deviceAddress: () => BigInt(address),
    // A second call must not free another buffer at the same address.
    free: () => allocations.free(allocation),
  };
}

function load(
  { memory, allocations }: Owner,
  metallib: Uint8Array,
  diagnostics: Diagnostics,
  options: CompileChoice & LoadOptions,
): DeviceModule | undefined {
  const library = loadLibrary(metallib, diagnostics, options);
  // What a kernel launches may use variables that it does not use itself.
  const own = library && ownMemory(memory, library.kernels.some(isLaunching) ? library.all() : library.kernels, diagnostics);
  if (!own) return undefined;
  const { kernels, refused } = library;
  const variables = own.address > 0 ? allocations.add(own.address, own.size, 'the global variables of the module', 'all') : undefined;
  let isClosed = false;
  const environment = {
    ...{ info: cpuInfo, ownMemory: own.address, allocations, kernels: library.all },
    ...{ threads: options.threads ?? 1, native: nativeMode(options.native) },
  };
  const kernelOf = ({ kernel: name }: LaunchRequest, to: Diagnostics): LoadedKernel | undefined => {
    const kernel = kernels.find((each) => each.reflection.name === name);
    if (isClosed) return reportClosed(to);
    if (kernel) return kernel;
    const why = refused.get(name);
    if (why) to.addAll(why.list);
    else to.report('CM5001', { name });
    return undefined;
  };
  return {
    kernels: kernels.map((kernel) => kernel.reflection),
    refused,
    symbols: own.symbols,
    launch(request, to) {
      const kernel = kernelOf(request, to);
      return kernel && launchKernel(memory, environment, kernel, request, to);
    },
    start(request, to) {
      const kernel = kernelOf(request, to);
      return kernel ? startKernel(memory, environment, kernel, request, to) : endedLaunch(undefined);
    },
    close() {
      if (variables && !isClosed) allocations.free(variables);
      isClosed = true;
    },
  };
}
