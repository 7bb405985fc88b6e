/**
 * The API over every device: devices, typed buffers, modules, kernels, streams, events, and errors as exceptions. The room implements
 * CUDA's ordering rules and errors over the interface of `src/device/device.ts`, and does not depend on a particular device. Start at
 * `device.ts`; `schedule.ts` orders the work, `failures.ts` maps diagnostics to exceptions.
 */
export type { Arrays, Data, ValueOf } from './arrays.ts';
export { type Buffer, type KernelBuffer, type Part, partOf, type StreamOption } from './buffer.ts';
export type { Print } from './context.ts';
export { type CudaError, type CudaErrorName, cudaErrorNumbered, cudaErrors } from './cuda-errors.ts';
export { Device, type DeviceOptions, devices } from './device.ts';
export { Event, type EventOptions } from './event.ts';
export {
  CompileError,
  CumetalError,
  DeviceLostError,
  DeviceNotFoundError,
  type Failure,
  failureOf,
  failures,
  KernelNotFoundError,
  LaunchError,
  PipelineCreationError,
  ResourceError,
} from './failures.ts';
export { type Extent, extent, Kernel, type LaunchOptions } from './kernel.ts';
export { type BoundLibrary, bindLibrary, type LibraryOptions, type NamedLaunch } from './library.ts';
export type { ModuleOptions, ModuleSource } from './load.ts';
export type { BufferState } from './memory.ts';
export { Module, ModuleSymbol, type SymbolOptions } from './module.ts';
export { type CoreModel, coreModels, type Occupancy } from './occupancy.ts';
export type { KernelArgument } from './pack.ts';
export { MemoryPool, type MemoryPoolOptions, type MemoryPoolStatistics } from './pool.ts';
export type { ArgumentOf, ArgumentsOf, Signature, SignatureWord } from './signature.ts';
export { Stream, type StreamOptions } from './stream.ts';
export { type TensorMapOptions, tensorMap } from './tensor-map.ts';
export type { LaunchReport, Work } from './work.ts';
