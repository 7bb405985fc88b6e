/** Variables on the device by their symbols: the addresses of what stands for them on the host. */
import type { DeviceSymbol } from '../../device/index.ts';
import type { Allocation } from './allocations.ts';
import { deviceSide, kinds, type Side, side, transfer } from './copies.ts';
import { allocate } from './device-memory.ts';
import { must, type Row, row } from './row.ts';
import { type CodeImage, type CudaState, fail, type Variable } from './state.ts';
import { plainWorkRow, workRow } from './work.ts';

/** The variable of a symbol: that of the device, or what stands for one that no kernel names. */
function symbolSide(state: CudaState, symbol: bigint, offset: number, bytes: number): Side {
  const variable: Variable = state.variables.get(symbol) ?? fail('cudaErrorInvalidSymbol');
  if (offset + bytes > variable.size) fail('cudaErrorInvalidValue');
  const placed = state.placed.get(symbol);
  if (placed) return deviceSide(placed, offset);
  const found = state.moduleOf(variable.image).symbols.find(({ name }) => name === variable.name);
  if (found)
    return {
      read: (at, count) => found.read().subarray(offset + at, offset + at + count),
      write: (at, from) => found.write(from, offset + at),
    };
  const { unused } = variable;
  return { read: (at, count) => unused.subarray(offset + at, offset + at + count), write: (at, from) => unused.set(from, offset + at) };
}

/** The memory of a variable of a module, with an address that kernels may be given. */
function placeVariable(state: CudaState, { buffer, size }: DeviceSymbol): Allocation {
  if (!buffer) fail('cudaErrorNotSupported');
  const address = buffer!.deviceAddress();
  const known = state.allocations.find(address);
  if (known?.offset === 0 && known.allocation.isVariable) return known.allocation;
  const allocation: Allocation = { address, size, buffer: buffer!, host: undefined, isVariable: true };
  state.allocations.add(allocation);
  return allocation;
}

/** The memory of a variable that no kernel of its module names. Only pointers lead to it, so that it can be anywhere. */
function placeUnnamed(state: CudaState, image: CodeImage, name: string): Allocation {
  const known = state.unnamed.get(image)?.get(name);
  if (known) return known;
  const bytes = state.options.initialValues?.(image.text).get(name) ?? fail('cudaErrorSymbolNotFound');
  const allocation = allocate(state, bytes.length, { isVariable: true });
  allocation.buffer.write(bytes);
  const all = state.unnamed.get(image) ?? new Map<string, Allocation>();
  state.unnamed.set(image, all.set(name, allocation));
  return allocation;
}

/** The memory of a variable of a module by its name. */
export function placeNamed(state: CudaState, image: CodeImage, name: string): Allocation {
  const found = state.moduleOf(image).symbols.find((symbol) => symbol.name === name);
  return found ? placeVariable(state, found) : placeUnnamed(state, image, name);
}

/** The memory of the variable of a symbol. */
function placeOf(state: CudaState, symbol: bigint): Allocation {
  const known = state.placed.get(symbol);
  if (known) return known;
  const variable = state.variables.get(symbol) ?? fail('cudaErrorInvalidSymbol');
  const found = state.moduleOf(variable.image).symbols.find(({ name }) => name === variable.name);
  const allocation = found ? placeVariable(state, found) : allocate(state, variable.size, { isVariable: true });
  // No kernel names the variable: only the program has written it.
  if (!found) allocation.buffer.write(variable.unused);
  state.placed.set(symbol, allocation);
  return allocation;
}

const sizeOf = ({ variables }: CudaState, symbol: bigint): number => (variables.get(symbol) ?? fail('cudaErrorInvalidSymbol')).size;

const list = ['pointer', 'pointer', 'size', 'size', 'int'] as const;
function toSymbol(state: CudaState, symbol: bigint, from: bigint, bytes: number, offset: number, kind: number): () => void {
  if (kind === kinds.deviceToHost || kind === kinds.hostToHost) fail('cudaErrorInvalidMemcpyDirection');
  if (offset + bytes > sizeOf(state, symbol)) fail('cudaErrorInvalidValue');
  const wanted = kind === kinds.hostToDevice ? 'host' : 'any';
  return () => transfer(symbolSide(state, symbol, offset, bytes), side(state, from, bytes, wanted), bytes);
}
function fromSymbol(state: CudaState, to: bigint, symbol: bigint, bytes: number, offset: number, kind: number): () => void {
  if (kind === kinds.hostToDevice || kind === kinds.hostToHost) fail('cudaErrorInvalidMemcpyDirection');
  if (offset + bytes > sizeOf(state, symbol)) fail('cudaErrorInvalidValue');
  const wanted = kind === kinds.deviceToHost ? 'host' : 'any';
  return () => transfer(side(state, to, bytes, wanted), symbolSide(state, symbol, offset, bytes), bytes);
}

export const symbols: Readonly<Record<string, Row>> = {
  cudaMemcpyToSymbol: plainWorkRow(list, 'copy', toSymbol),
  cudaMemcpyToSymbolAsync: workRow(list, 'copy', toSymbol),
  cudaMemcpyFromSymbol: plainWorkRow(list, 'copy', fromSymbol),
  cudaMemcpyFromSymbolAsync: workRow(list, 'copy', fromSymbol),
  cudaGetSymbolSize: row(['pointer', 'pointer'], (state, to, symbol) => must(state.memory.putU64(to, sizeOf(state, symbol)))),
  cudaGetSymbolAddress: row(['pointer', 'pointer'], (state, to, symbol) => must(state.memory.putU64(to, placeOf(state, symbol).address))),
};
