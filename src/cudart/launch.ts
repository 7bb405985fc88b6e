/** Libraries, kernels and launches. */
import { type Extent, extent, Kernel, Module, type ModuleSource, type ModuleSymbol } from '../api/index.ts';
import { answer, type cudaError_t, type cudaStream_t, currentDevice, type Ref, refuse, streamOf } from './state.ts';

/** `dim3`: a number, a list, or an object with x, y and z. */
export type dim3 = Extent | { readonly x: number; readonly y?: number; readonly z?: number };

export const extentOf = (dims: dim3): Extent =>
  typeof dims === 'object' && 'x' in dims ? [dims.x, dims.y ?? 1, dims.z ?? 1] : (dims as Extent);

/** Loads PTX or a metallib. */
export const cudaLibraryLoadData = (library: Ref<Module>, code: ModuleSource): cudaError_t =>
  answer(() => {
    library.value = currentDevice().load(code);
  });

/** Stores the kernel of a library by its name in `kernel`. */
export const cudaLibraryGetKernel = (kernel: Ref<Kernel>, library: Module, name: string): cudaError_t =>
  answer(() => {
    kernel.value = mustBeModule(library).kernel(name);
  });

/** Closes a library. Its memory is released when the pending work has finished. */
export const cudaLibraryUnload = (library: Module): cudaError_t => answer(() => mustBeModule(library).close());

/** A variable of a module, for `cudaMemcpyToSymbol` and similar functions. An extension: in CUDA the compiler resolves the name. */
export const cumetalGetSymbol = (symbol: Ref<ModuleSymbol>, library: Module, name: string): cudaError_t =>
  answer(() => {
    symbol.value = mustBeModule(library).symbol(name);
  });

/** Launches a kernel. Arguments are addresses for pointers, numbers for values, bytes for structs. */
export const cudaLaunchKernel = (
  kernel: Kernel,
  grid: dim3,
  block: dim3,
  args: readonly unknown[],
  sharedBytes = 0,
  stream?: cudaStream_t,
): cudaError_t => answer(() => start(kernel, grid, block, args, sharedBytes, stream));

function start(kernel: Kernel, grid: dim3, block: dim3, args: readonly unknown[], shared: number, stream: cudaStream_t): void {
  const shape = { grid: extentOf(grid), block: extentOf(block) };
  if (!(kernel instanceof Kernel)) refuse('cudaErrorInvalidDeviceFunction');
  if (extent(shape.grid).includes(0) || extent(shape.block).includes(0)) refuse('cudaErrorInvalidConfiguration');
  kernel.launch({ ...shape, args: args as Parameters<Kernel['launch']>[0]['args'], shared, stream: streamOf(stream) });
}

/** The attributes of a kernel; sizes are in bytes. */
export interface cudaFuncAttributes {
  readonly sharedSizeBytes: number;
  readonly maxThreadsPerBlock: number;
}

/** Stores the attributes of a kernel in `attributes`. */
export const cudaFuncGetAttributes = (attributes: Ref<cudaFuncAttributes>, kernel: Kernel): cudaError_t =>
  answer(() => {
    if (!(kernel instanceof Kernel)) refuse('cudaErrorInvalidDeviceFunction');
    const { staticSharedBytes, maxThreads } = kernel.reflection;
    const { maxThreadsPerThreadgroup } = currentDevice().info.limits;
    attributes.value = {
      sharedSizeBytes: staticSharedBytes,
      maxThreadsPerBlock: Math.min(maxThreads ?? maxThreadsPerThreadgroup, maxThreadsPerThreadgroup),
    };
  });

/** An estimate by `coreModels` of `cumetal`. */
export const cudaOccupancyMaxActiveBlocksPerMultiprocessor = (
  blocks: Ref<number>,
  kernel: Kernel,
  blockSize: number,
  sharedBytes: number,
): cudaError_t =>
  answer(() => {
    if (!(kernel instanceof Kernel)) refuse('cudaErrorInvalidDeviceFunction');
    blocks.value = kernel.occupancy(blockSize, sharedBytes).blocksPerCore;
  });

export const mustBeModule = (module: Module): Module => (module instanceof Module ? module : refuse('cudaErrorInvalidResourceHandle'));
