/**
 * The CUDA runtime as imports of a program: one table of functions, over the interface of every device. Calls are done when they return, since
 * the program cannot be suspended. A function that is not in the table stops the program where it is called, by its name.
 */
import { arrayCopies } from './array-copies.ts';
import { arrays } from './arrays.ts';
import { boxes } from './boxes.ts';
import { captures } from './capture.ts';
import { conditionalNodes } from './conditional-nodes.ts';
import { copies } from './copies.ts';
import { deviceMemory } from './device-memory.ts';
import { devices } from './devices.ts';
import { driver } from './driver.ts';
import { graphMemory } from './graph-memory.ts';
import { graphs } from './graphs.ts';
import { launches } from './launches.ts';
import { nvrtc } from './nvrtc.ts';
import { pools } from './pools.ts';
import { registration } from './registration.ts';
import { importOf, type Row } from './row.ts';
import type { CudaState } from './state.ts';
import { streams } from './streams.ts';
import { symbols } from './symbols.ts';
import { textureObjects } from './texture-objects.ts';

export { managedPointer } from './device-memory.ts';

export { linkedBinary } from './registration.ts';
export { importOf, must, plainRow, type Row } from './row.ts';
export { CudaFailure, type CudaOptions, CudaState, type RuntimeSource } from './state.ts';

/** Imports of programs that give them memory at addresses of the device: managed memory. */
export const sharing: ReadonlySet<string> = new Set(['env.cudaMallocManaged', 'env.cuMemAllocManaged']);

/** The functions that programs can call, by what they are for. */
export const cudaFunctionGroups: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'Calls of the compiler': registration,
  'Launches, attributes of kernels and occupancy': launches,
  Memory: deviceMemory,
  'Allocation in stream order': pools,
  'Copies and fills': copies,
  'Three dimensions': boxes,
  Arrays: arrays,
  'Copies of arrays': arrayCopies,
  'Textures and surfaces': textureObjects,
  'Variables on the device': symbols,
  'Streams and events': streams,
  Graphs: { ...captures, ...graphs, ...graphMemory, ...conditionalNodes },
  'The driver API': driver,
  'Compilation at run time': nvrtc,
  'Devices, limits and errors': devices,
};

/** Every function by name. */
export const cudaFunctions: Readonly<Record<string, Row>> = Object.assign({}, ...Object.values(cudaFunctionGroups));

/** The imports `env` of a program that are of CUDA. */
export const cudaImports = (state: CudaState): Record<string, (...args: (bigint | number)[]) => bigint | number | undefined> =>
  Object.fromEntries(Object.entries(cudaFunctions).map(([name, row]) => [name, importOf(state, row)]));
