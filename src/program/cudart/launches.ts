/** Launches, and what is known of kernels. */
import { estimate } from '../../api/occupancy.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import type { DeviceModule, LaunchArgument } from '../../device/index.ts';
import { mapHostMemory, syncToDevice, syncToHost } from './device-memory.ts';
import { must, plainRow, type Row, row } from './row.ts';
import { type CudaState, fail, type LaunchShape } from './state.ts';
import { funcAttributes, putStruct } from './structs.ts';

type Reflection = DeviceModule['kernels'][number];

/** The kernel that a stub stands for. */
function kernelOf(state: CudaState, stub: bigint): { readonly module: DeviceModule; readonly kernel: Reflection } {
  const named = state.kernels.get(stub);
  if (!named) fail('cudaErrorInvalidDeviceFunction');
  const module = state.moduleOf(named!.image);
  const kernel = module.kernels.find(({ name }) => name === named!.name);
  if (kernel) return { module, kernel };
  const why = module.refused?.get(named!.name);
  if (why) state.failWith(why);
  fail('cudaErrorInvalidDeviceFunction');
}

/** Three numbers of 32 bits. */
function dims(state: CudaState, pointer: bigint): [number, number, number] {
  const all = [0n, 4n, 8n].map((at) => state.memory.u32(pointer + at));
  if (all.some((n) => n === undefined)) fail('cudaErrorInvalidValue');
  return all as [number, number, number];
}

/** The argument of a pointer parameter. */
function pointerArgument(state: CudaState, value: bigint): LaunchArgument {
  if (value === 0n) return { kind: 'null' };
  if (state.memory.isOwn(value)) {
    const mapped = mapHostMemory(state, value);
    return { kind: 'buffer', buffer: mapped.allocation.buffer, offset: mapped.offset };
  }
  const found = state.allocations.find(value);
  if (!found) fail('cudaErrorIllegalAddress');
  return { kind: 'buffer', buffer: found!.allocation.buffer, offset: found!.offset };
}

/** Arguments from a list of pointers to values. */
function argumentsOf(state: CudaState, { params }: Reflection, list: bigint): LaunchArgument[] {
  return params.map(({ kind, size }, i): LaunchArgument => {
    const at = state.memory.u64(list + BigInt(8 * i));
    const bytes = at === undefined ? undefined : state.memory.slice(at, kind === 'buffer' ? 8 : size)?.slice();
    if (!bytes) fail('cudaErrorInvalidValue');
    if (kind === 'bytes') return { kind: 'bytes', bytes: bytes! };
    return pointerArgument(state, new DataView(bytes!.buffer).getBigUint64(0, true));
  });
}

function launch(state: CudaState, stub: bigint, { grid, block, sharedBytes }: LaunchShape, list: bigint): void {
  const { module, kernel } = kernelOf(state, stub);
  if ([...grid, ...block].some((n) => n === 0)) fail('cudaErrorInvalidConfiguration');
  const args = argumentsOf(state, kernel, list);
  const diagnostics = new Diagnostics();
  syncToDevice(state);
  const { print, instruments } = state.options;
  const request = {
    kernel: kernel.name,
    grid,
    block,
    dynamicSharedBytes: sharedBytes,
    args,
    timeoutMs: 0,
    print,
    ...instruments?.(module),
  };
  const result = module.launch(request, diagnostics);
  syncToHost(state);
  if (!result) state.failWith(diagnostics);
  if (diagnostics.list.length > 0) state.options.report(diagnostics);
}

const launchRow = row(
  ['pointer', 'pointer', 'pointer', 'pointer', 'size', 'pointer'],
  (state, stub, grid, block, list, sharedBytes, stream) =>
    launch(state, stub, { grid: dims(state, grid), block: dims(state, block), sharedBytes, stream }, list),
);

/** Attributes of a launch that change nothing here, by number: none, cooperative, priority. Source: `cudaLaunchAttributeID`. */
const harmlessAttributes = new Set([0, 2, 8]);

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
  cudaLaunchKernel: launchRow,
  cudaLaunchKernelExC: row(['pointer', 'pointer', 'pointer'], (state, config, stub, list) => {
    const sharedBytes = Number(state.memory.u64(config + 24n) ?? fail('cudaErrorInvalidValue'));
    const attributes = state.memory.u64(config + 40n) ?? 0n;
    const count = state.memory.u32(config + 48n) ?? 0;
    for (let i = 0; i < count; i++)
      if (!harmlessAttributes.has(state.memory.u32(attributes + BigInt(72 * i)) ?? -1)) fail('cudaErrorNotSupported');
    launch(state, stub, { grid: dims(state, config), block: dims(state, config + 12n), sharedBytes, stream: 0n }, list);
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
      maxDynamicSharedSizeBytes: Math.max(0, (kernel.maxSharedBytes ?? limits.maxThreadgroupBytes) - kernel.staticSharedBytes),
    };
    putStruct(state.memory, to, funcAttributes, values);
  }),
  // Sizes of shared memory are checked at launches, and caches are not divided here.
  cudaFuncSetAttribute: row(['pointer', 'int', 'int'], (state, stub) => void kernelOf(state, stub)),
  cudaFuncSetCacheConfig: row(['pointer', 'int'], (state, stub) => void kernelOf(state, stub)),
  cudaFuncSetSharedMemConfig: row(['pointer', 'int'], (state, stub) => void kernelOf(state, stub)),
  cudaOccupancyMaxActiveBlocksPerMultiprocessor: row(['pointer', 'pointer', 'int', 'size'], (state, to, stub, threads, bytes) => {
    const { kernel } = kernelOf(state, stub);
    must(state.memory.putU32(to, estimate(state.options.device.info, kernel, threads, bytes).blocksPerCore));
  }),
  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: row(
    ['pointer', 'pointer', 'int', 'size', 'uint'],
    (state, to, stub, threads, bytes) => {
      const { kernel } = kernelOf(state, stub);
      must(state.memory.putU32(to, estimate(state.options.device.info, kernel, threads, bytes).blocksPerCore));
    },
  ),
};
