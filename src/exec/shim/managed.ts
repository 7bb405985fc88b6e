/**
 * Managed variables as nvcc's host code has them: a pointer that the runtime sets. The device has the variable in the memory of its module, and
 * the program has pages of its own for it, whose contents count between launches.
 */
import { Diagnostics } from '../../base/diagnostic.ts';
import { type CudaState, must, plainRow, type Row } from '../../program/index.ts';

const pageBytes = 4096;

function registerManaged(state: CudaState, handle: bigint, pointerTo: bigint, deviceName: bigint, size: number): void {
  const image = state.images.get(handle);
  const name = state.memory.cString(deviceName);
  const symbol = image && state.moduleOf(image).symbols.find((each) => each.name === name);
  if (!symbol?.buffer) return;
  const bytes = Math.ceil(size / pageBytes) * pageBytes;
  // An address that is of this variable alone.
  const place = state.options.device.allocate(bytes, new Diagnostics(), true, pageBytes);
  if (!place) return;
  const address = place.deviceAddress();
  if (!state.exports.share?.(address, bytes)) return;
  // Kernels that are given this address get that of the variable.
  state.allocations.add({ address, size, buffer: symbol.buffer, host: { pointer: address, kind: 'managed' }, isVariable: true });
  must(state.memory.put(address, symbol.read()) && state.memory.putU64(pointerTo, address));
}

export const managed: Readonly<Record<string, Row>> = {
  __cudaRegisterManagedVar: plainRow(['pointer', 'pointer', 'pointer', 'size'], 'void', (state, handle, pointerTo, name, size) => {
    registerManaged(state, handle, pointerTo, name, size);
    return undefined;
  }),
};
