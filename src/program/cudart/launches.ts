/** Launches, and what is known of kernels. */
import { estimate } from '../../api/occupancy.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { type DeviceModule, defaultStackBytes, type LaunchArgument, type LaunchRequest, pointerRange } from '../../device/index.ts';
import { maxSharedOf } from '../../device/validate-launch.ts';
import {
  activeClusters,
  assertClusters,
  blocksPerCore,
  type LaunchConfig,
  type LoadedKernel,
  launchAttributes,
  potentialCluster,
} from './clusters.ts';
import { mappedMemory, syncToDevice, syncToHost } from './device-memory.ts';
import { fillImages, readImages } from './device-textures.ts';
import { coresOf, heapLimit, stackLimit, usualShared } from './devices.ts';
import { kernelOfName } from './kernel-names.ts';
import { must, plainRow, type Row, row } from './row.ts';
import { type CudaState, type FailedLaunch, fail, type LaunchShape, type Named } from './state.ts';
import { funcAttributes, putStruct } from './structs.ts';
import { work } from './work.ts';

export { usualShared };

type Reflection = DeviceModule['kernels'][number];

/** The kernel that a stub, or a function of the driver API, stands for. */
export function kernelOf(state: CudaState, stub: bigint): LoadedKernel {
  return kernelNamed(state, state.kernels.get(stub) ?? state.functions.get(stub) ?? fail('cudaErrorInvalidDeviceFunction'));
}

export function kernelNamed(state: CudaState, named: Named): LoadedKernel {
  const module = state.moduleOf(named.image);
  const kernel = kernelOfName(module.kernels, named.name);
  if (kernel) return { module, kernel };
  const why = module.refused?.get(named.name);
  if (why) state.failWith(why);
  fail('cudaErrorInvalidDeviceFunction');
}

/** Three numbers of 32 bits. */
export function dims(state: CudaState, pointer: bigint): [number, number, number] {
  const all = [0n, 4n, 8n].map((at) => state.memory.u32(pointer + at));
  if (all.some((n) => n === undefined)) fail('cudaErrorInvalidValue');
  return all as [number, number, number];
}

/** The argument of a pointer parameter. */
function pointerArgument(state: CudaState, value: bigint): LaunchArgument {
  if (value === 0n) return { kind: 'null' };
  // Of a driver's textures the handles are no addresses.
  if (state.options.device.images && (state.textures.has(value) || state.surfaces.has(value)))
    return { kind: 'bytes', bytes: new Uint8Array(BigUint64Array.of(value).buffer), isHandle: true };
  const found = (state.memory.isOwn(value) ? mappedMemory(state, value) : undefined) ?? state.allocations.find(value);
  if (found) return { kind: 'buffer', buffer: found.allocation.buffer, offset: found.offset };
  const near = isPlainAddress(state, value) ? state.allocations.near(value) : undefined;
  if (!near) fail('cudaErrorIllegalAddress');
  return { kind: 'buffer', buffer: near!.allocation.buffer, offset: near!.offset, isOutside: true };
}

/** Whether the device can have a pointer to no allocation: the end of an array, for example, that a loop compares with. */
function isPlainAddress({ options }: CudaState, value: bigint): boolean {
  const { kind } = options.device.info;
  // The code of the CPU device has addresses of 32 bits.
  return kind === 'cuda' || (kind === 'cpu' && value >= pointerRange.from && value < pointerRange.to);
}

/** The bytes of each argument by its place. */
export type ArgumentBytes = (i: number, bytes: number) => Uint8Array;

/** Arguments from a list of pointers to values. */
export const argumentsAt =
  ({ memory }: CudaState, list: bigint): ArgumentBytes =>
  (i, bytes) => {
    const at = memory.u64(list + BigInt(8 * i));
    return (at === undefined ? undefined : memory.slice(at, bytes)?.slice()) ?? fail('cudaErrorInvalidValue');
  };

/** Numbers of `cudaFuncAttribute` that can be set: most dynamic shared memory, and the part of the cache that is shared memory. */
const [dynamicAttribute, carveoutAttribute] = [8, 9];
/** Those of clusters: of more than 8 blocks, and how they are placed. */
const [largeClusterAttribute, placingAttribute] = [14, 15];

/** Most shared memory that a kernel can have. */
export const maxSharedBytesOf = ({ options: { device } }: CudaState, kernel: Reflection): number => maxSharedOf(device.info, kernel);

function occupancy(state: CudaState, to: bigint, stub: bigint, threads: number, bytes: number): void {
  must(state.memory.putU32(to, blocksPerCore(state, kernelOf(state, stub), threads, bytes)));
}

/** Most bytes of dynamic shared memory of a kernel: what the program has allowed, or what every kernel has. */
function dynamicBytes(state: CudaState, kernel: Reflection, stub: bigint): number {
  return state.dynamicShared.get(stub) ?? Math.max(0, usualShared - kernel.staticSharedBytes);
}

/** What a launch does, with its arguments as they are now. */
export function prepareLaunch(state: CudaState, stub: bigint, shape: LaunchShape, arguments_: ArgumentBytes): () => void {
  const { module, kernel } = kernelOf(state, stub);
  const { grid, block, sharedBytes, cooperative = false, cluster } = shape;
  if ([...grid, ...block].some((n) => n === 0)) fail('cudaErrorInvalidConfiguration');
  if (sharedBytes > dynamicBytes(state, kernel, stub)) fail('cudaErrorInvalidValue');
  assertClusters(state, stub, kernel, shape);
  const values = kernel.params.map(({ kind, size }, i) => arguments_(i, kind === 'buffer' ? 8 : size));
  return () => {
    // Memory of the host may have become memory of the device since.
    const args = kernel.params.map(({ kind }, i): LaunchArgument => {
      if (kind === 'bytes') return { kind, bytes: values[i]! };
      return pointerArgument(state, new DataView(values[i]!.buffer).getBigUint64(0, true));
    });
    const diagnostics = new Diagnostics();
    syncToDevice(state);
    fillImages(state);
    const { print, instruments } = state.options;
    const heapBytes = state.limits.get(heapLimit);
    if (kernel.services?.some(({ service }) => service === 'heap')) state.hasHeap = true;
    // A frame may take more than one of NVIDIA's compiler, so that less than is usual here is never asked for.
    const stackBytes = Math.max(state.limits.get(stackLimit) ?? 0, defaultStackBytes);
    const how = {
      timeoutMs: 0,
      print,
      stackBytes,
      ...(heapBytes === undefined ? {} : { heapBytes }),
      ...instruments?.(module, kernel.name),
    };
    const request = {
      kernel: kernel.name,
      grid,
      block,
      dynamicSharedBytes: sharedBytes,
      args,
      cooperative,
      ...(cluster ? { cluster } : {}),
      ...how,
    };
    const result = module.launch(request, diagnostics);
    syncToHost(state);
    if (result) readImages(state);
    if (!result) {
      const again: FailedLaunch['again'] = (other, more) => launchedAgain(other, { ...request, ...more }, module);
      state.options.explainFault?.(diagnostics, { module, block, again });
      state.failWith(diagnostics);
    }
    if (diagnostics.list.length > 0) state.options.report(diagnostics);
  };
}

/** What a launch on another module of the same code reports, with the variables as this one has them. Nothing is printed. */
function launchedAgain(other: DeviceModule, request: LaunchRequest, { symbols }: DeviceModule): Diagnostics {
  for (const { name, read } of symbols) other.symbols.find((symbol) => symbol.name === name)?.write(read());
  const diagnostics = new Diagnostics();
  other.launch({ ...request, print: () => undefined }, diagnostics);
  return diagnostics;
}

const launch = (state: CudaState, stub: bigint, shape: LaunchShape, list: bigint): void =>
  work(state, shape.stream, 'kernel', prepareLaunch(state, stub, shape, argumentsAt(state, list)));

/** What a `cudaLaunchConfig_t` says. */
function launchConfig(state: CudaState, config: bigint): LaunchConfig {
  const { memory } = state;
  const sharedBytes = Number(memory.u64(config + 24n) ?? fail('cudaErrorInvalidValue'));
  const stream = memory.u64(config + 32n) ?? fail('cudaErrorInvalidValue');
  const { isTogether, ...more } = launchAttributes(state, memory.u64(config + 40n) ?? 0n, memory.u32(config + 48n) ?? 0);
  return { isTogether, shape: { grid: dims(state, config), block: dims(state, config + 12n), sharedBytes, stream, ...more } };
}

/** Fails where the blocks of a cooperative launch cannot run at the same time. */
export function assertTogether(state: CudaState, loaded: LoadedKernel, shape: LaunchShape): void {
  const [blocks, threads] = [shape.grid, shape.block].map(([x, y, z]) => x * y * z) as [number, number];
  const cores = coresOf(state);
  if (threads > 0 && blocks > blocksPerCore(state, loaded, threads, shape.sharedBytes) * cores) fail('cudaErrorCooperativeLaunchTooLarge');
}

/** The blocks of a cooperative launch run at the same time. */
function launchTogether(state: CudaState, stub: bigint, shape: LaunchShape, list: bigint): void {
  assertTogether(state, kernelOf(state, stub), shape);
  launch(state, stub, { ...shape, cooperative: true }, list);
}

type How = typeof launch;
const launchRow = (how: How): Row =>
  row(['pointer', 'pointer', 'pointer', 'pointer', 'size', 'pointer'], (state, stub, grid, block, list, sharedBytes, stream) =>
    how(state, stub, { grid: dims(state, grid), block: dims(state, block), sharedBytes, stream }, list),
  );

export const launches: Readonly<Record<string, Row>> = {
  __cudaPushCallConfiguration: plainRow(['pointer', 'pointer', 'size', 'pointer'], 'uint', (state, grid, block, sharedBytes, stream) => {
    state.configurations.push({ grid: dims(state, grid), block: dims(state, block), sharedBytes, stream });
    return 0;
  }),
  __cudaPopCallConfiguration: row(['pointer', 'pointer', 'pointer', 'pointer'], (state, grid, block, sharedBytes, stream) => {
    const top = state.configurations.pop();
    if (!top) fail('cudaErrorInvalidConfiguration');
    for (const [at, list] of [[grid, top!.grid] as const, [block, top!.block] as const])
      for (const [i, n] of list.entries()) must(state.memory.putU32(at + BigInt(4 * i), n));
    must(state.memory.putU64(sharedBytes, top!.sharedBytes) && state.memory.putU64(stream, top!.stream));
  }),
  cudaLaunchKernel: launchRow(launch),
  cudaLaunchCooperativeKernel: launchRow(launchTogether),
  cudaLaunchKernelExC: row(['pointer', 'pointer', 'pointer'], (state, config, stub, list) => {
    const { shape, isTogether } = launchConfig(state, config);
    (isTogether ? launchTogether : launch)(state, stub, shape, list);
  }),
  cudaFuncGetAttributes: row(['pointer', 'pointer'], (state, to, stub) => {
    const { kernel } = kernelOf(state, stub);
    const { limits } = state.options.device.info;
    const values = {
      sharedSizeBytes: kernel.staticSharedBytes,
      maxThreadsPerBlock: Math.min(kernel.maxThreads ?? limits.maxThreadsPerThreadgroup, limits.maxThreadsPerThreadgroup),
      numRegs: 32,
      ptxVersion: 80,
      binaryVersion: 80,
      maxDynamicSharedSizeBytes: dynamicBytes(state, kernel, stub),
      preferredShmemCarveout: -1,
      clusterDimMustBeSet: kernel.cluster?.isExplicit || kernel.cluster?.required ? 1 : 0,
      requiredClusterWidth: kernel.cluster?.required?.[0] ?? 0,
      requiredClusterHeight: kernel.cluster?.required?.[1] ?? 0,
      requiredClusterDepth: kernel.cluster?.required?.[2] ?? 0,
      nonPortableClusterSizeAllowed: state.largeClusters.has(stub) ? 1 : 0,
    };
    putStruct(state.memory, to, funcAttributes, values);
  }),
  cudaFuncSetAttribute: row(['pointer', 'int', 'int'], (state, stub, attribute, value) => {
    const { kernel } = kernelOf(state, stub);
    if (attribute === dynamicAttribute) {
      if (value < 0 || value + kernel.staticSharedBytes > maxSharedBytesOf(state, kernel)) fail('cudaErrorInvalidValue');
      state.dynamicShared.set(stub, value);
      // How caches are divided and clusters are placed are hints.
    } else if (attribute === largeClusterAttribute) {
      if (value === 0) state.largeClusters.delete(stub);
      else state.largeClusters.add(stub);
    } else if (attribute !== carveoutAttribute && attribute !== placingAttribute)
      fail(attribute > carveoutAttribute && attribute < 16 ? 'cudaErrorNotSupported' : 'cudaErrorInvalidValue');
  }),
  cudaFuncSetCacheConfig: row(['pointer', 'int'], (state, stub) => void kernelOf(state, stub)),
  cudaFuncSetSharedMemConfig: row(['pointer', 'int'], (state, stub) => void kernelOf(state, stub)),
  cudaOccupancyMaxActiveBlocksPerMultiprocessor: row(['pointer', 'pointer', 'int', 'size'], occupancy),
  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: row(['pointer', 'pointer', 'int', 'size', 'uint'], occupancy),
  cudaOccupancyAvailableDynamicSMemPerBlock: row(['pointer', 'pointer', 'int', 'int'], (state, to, stub, blocks, threads) => {
    const loaded = kernelOf(state, stub);
    const { kernel } = loaded;
    const { model } = estimate(state.options.device.info, kernel, threads, 0);
    if (blocks < 1 || blocks > blocksPerCore(state, loaded, threads, 0)) fail('cudaErrorInvalidValue');
    const each = Math.floor(model.sharedBytes / blocks / model.sharedStep) * model.sharedStep - model.sharedOfBlock;
    must(state.memory.putU64(to, Math.max(0, Math.min(each, maxSharedBytesOf(state, kernel)) - kernel.staticSharedBytes)));
  }),
  cudaOccupancyMaxActiveClusters: row(['pointer', 'pointer', 'pointer'], (state, to, stub, config) => {
    must(state.memory.putU32(to, activeClusters(state, stub, kernelOf(state, stub), launchConfig(state, config).shape)));
  }),
  cudaOccupancyMaxPotentialClusterSize: row(['pointer', 'pointer', 'pointer'], (state, to, stub, config) => {
    must(state.memory.putU32(to, potentialCluster(state, stub, kernelOf(state, stub), launchConfig(state, config).shape)));
  }),
};
