/** Conditions of graphs: words of the device that kernels set, and launches. */
import type { DeviceBuffer } from '../../device/index.ts';
import { graphOf } from './capture.ts';
import { allocate, bytesOfBuffer } from './device-memory.ts';
import type { Condition } from './graph-types.ts';
import { must } from './row.ts';
import { type CudaState, fail } from './state.ts';

/** Source: `cudaGraphCondAssignDefault`. */
const assignDefault = 1;

export function createCondition(state: CudaState, to: bigint, handle: bigint, initial: number, flags: number): void {
  const graph = graphOf(state, handle);
  if (flags > assignDefault) fail('cudaErrorInvalidValue');
  const { address } = allocate(state, 4);
  graph.conditions!.push({ address, initial: flags === assignDefault ? initial : undefined });
  must(state.memory.putU64(to, address));
}

const bufferOf = (state: CudaState, { address }: Condition): DeviceBuffer =>
  (state.allocations.find(address) ?? fail('cudaErrorInvalidValue')).allocation.buffer;

/** Sets conditions to what they are at the start of a launch. */
export function resetConditions(state: CudaState, conditions: readonly Condition[]): void {
  for (const condition of conditions)
    if (condition.initial !== undefined) bufferOf(state, condition).write(new Uint8Array(new Uint32Array([condition.initial]).buffer));
}

export function readCondition(state: CudaState, condition: Condition): number {
  const bytes = bytesOfBuffer(bufferOf(state, condition));
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
}
