/** The module's own memory: the variables that its kernels share and a host reaches by name, from loading on for as long as the device is there. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { DeviceSymbol } from '../device.ts';
import type { LoadedKernel } from './library.ts';
import type { DeviceMemory } from './memory.ts';

export interface OwnMemory {
  /** Where it starts; 0 where the module has none. */
  readonly address: number;
  readonly symbols: readonly DeviceSymbol[];
}

/** Memory with initial values for the variables of a library's kernels; nothing after reporting CM4053 or CM6012. */
export function ownMemory(memory: DeviceMemory, kernels: readonly LoadedKernel[], diagnostics: Diagnostics): OwnMemory | undefined {
  const found = kernels.flatMap(({ params, reflection }) =>
    params.flatMap((p) => (p.memory ? [{ of: p.memory, kernel: reflection.name }] : [])),
  );
  const [first] = found;
  if (!first) return { address: 0, symbols: [] };
  // A module has one such memory, which each of its kernels describes.
  const other = found.find(({ of }) => JSON.stringify(of.symbols) !== JSON.stringify(first.of.symbols) || of.size !== first.of.size);
  if (other) {
    diagnostics.report('CM4053', { kernel: other.kernel, why: `global variables that are not those of \`${first.kernel}\`` });
    return undefined;
  }
  const { size, symbols } = first.of;
  const address = memory.take(size);
  if (address === undefined) {
    diagnostics.report('CM6012', { bytes: size, what: 'the global variables of a module' });
    return undefined;
  }
  memory.view(address, size).fill(0);
  for (const { offset, init, addresses = [] } of symbols) {
    if (init) memory.view(address + offset, init.length).set(init);
    for (const { at, to } of addresses) putAddress(memory, address + offset + at, address + to);
  }
  return { address, symbols: symbols.map((symbol) => symbolAt(memory, address + symbol.offset, symbol)) };
}

function putAddress(memory: DeviceMemory, at: number, address: number): void {
  memory.view(at, 8).set(new Uint8Array(BigUint64Array.of(BigInt(address)).buffer));
}

const symbolAt = (
  memory: DeviceMemory,
  address: number,
  { name, size }: { readonly name: string; readonly size: number },
): DeviceSymbol => ({
  name,
  size,
  write: (bytes, offset = 0) => memory.view(address, size).set(bytes, offset),
  read: () => memory.view(address, size).slice(),
});
