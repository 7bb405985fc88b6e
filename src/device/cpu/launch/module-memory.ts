/** The memory of a module's variables, which its kernels share and a host accesses by name. It lives as long as the module. */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { DeviceSymbol } from '../../device.ts';
import { fillModuleMemory, findModuleMemory } from '../../module-memory.ts';
import type { CpuBuffer } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import type { LoadedKernel } from './library.ts';

export interface OwnMemory {
  /** Its address; 0 if the module has none. */
  readonly address: number;
  /** Bytes. */
  readonly size: number;
  readonly symbols: readonly DeviceSymbol[];
}

/** Allocates and initializes the variables of a library's kernels; undefined after reporting CM4053 or CM6012. */
export function ownMemory(memory: DeviceMemory, kernels: readonly LoadedKernel[], diagnostics: Diagnostics): OwnMemory | undefined {
  const described = findModuleMemory(kernels, diagnostics);
  if (described === 'fault') return undefined;
  if (!described) return { address: 0, size: 0, symbols: [] };
  const { size, symbols } = described;
  const address = memory.take(size);
  if (address === undefined) {
    diagnostics.report('CM6012', { bytes: size, what: 'the global variables of a module' });
    return undefined;
  }
  fillModuleMemory(memory.view(address, size), described, BigInt(address));
  return { address, size, symbols: symbols.map((symbol) => symbolAt(memory, address + symbol.offset, symbol)) };
}

const symbolAt = (
  memory: DeviceMemory,
  address: number,
  { name, size }: { readonly name: string; readonly size: number },
): DeviceSymbol => {
  const access = {
    size,
    write: (bytes: Uint8Array, offset = 0) => memory.view(address, size).set(bytes, offset),
    read: () => memory.view(address, size).slice(),
  };
  const buffer: CpuBuffer = {
    ...access,
    owner: memory,
    address,
    isFree: false,
    deviceAddress: () => BigInt(address),
    free: () => undefined,
  };
  return { name, ...access, buffer };
};
