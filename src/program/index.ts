/**
 * The host half of a CUDA program: a WebAssembly module with 64-bit pointers, as clang makes it of the host code of `.cu` files. `lower/` gives
 * it a memory of 32 bits, `wasi/` files, streams and clocks, `cudart/` the CUDA runtime over a device, and `host/` the machine under Bun and
 * Node. Start at `run.ts`.
 */
export {
  CudaFailure,
  type CudaOptions,
  CudaState,
  cudaFunctions,
  importOf,
  must,
  plainRow,
  type Row,
  type RuntimeSource,
} from './cudart/index.ts';
export { keepingLines, keptPrefix, staticVariables, withPlainNames } from './cudart/static-variables.ts';
export { imageOf, relocatableCodes, relocatableKey, withDeviceCode, withLinkedCode } from './device-code.ts';
export { type HostOptions, machineHost } from './host/index.ts';
export { type LowerOptions, lowerMemory } from './lower/index.ts';
export { type HostMemory, programBase, programWindow } from './memory.ts';
export { type RunOptions, runProgram, stoppedCode } from './run.ts';
export type { Folder, OpenFile, OpenFlags, ProgramHost, Status } from './wasi/host.ts';
