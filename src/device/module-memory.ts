/** The memory of a module's variables, as its kernels describe it, and its initial contents. */
import type { KernelReflection } from '../air/abi.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { KernelParam } from '../ir/index.ts';

/** The parts of a kernel that describe it. */
interface Described {
  readonly params: readonly KernelParam[];
  readonly reflection: KernelReflection;
}

export type MemoryDescription = NonNullable<KernelParam['memory']>;

/** The memory that the kernels of a library describe; undefined if there is none, `fault` after reporting CM4053. */
export function findModuleMemory(kernels: readonly Described[], diagnostics: Diagnostics): MemoryDescription | 'fault' | undefined {
  const found = kernels.flatMap(({ params, reflection }) =>
    params.flatMap((p) => (p.memory ? [{ of: p.memory, kernel: reflection.name }] : [])),
  );
  const [first] = found;
  // All kernels of a module describe the same memory.
  const other = found.find(({ of }) => JSON.stringify(of.symbols) !== JSON.stringify(first!.of.symbols) || of.size !== first!.of.size);
  if (!other) return first?.of;
  diagnostics.report('CM4053', { kernel: other.kernel, why: `global variables that differ from those of \`${first!.kernel}\`` });
  return 'fault';
}

/** Reports a launch of a module that is closed. */
export function reportClosed(diagnostics: Diagnostics): undefined {
  diagnostics.report('CM5061', { what: 'module', ended: 'closed' });
}

/** Writes the initial contents, part of which are addresses within the memory. */
export function fillModuleMemory(bytes: Uint8Array, { symbols }: MemoryDescription, address: bigint): void {
  bytes.fill(0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const { offset, init, addresses = [] } of symbols) {
    if (init) bytes.set(init, offset);
    for (const { at, to } of addresses) view.setBigUint64(offset + at, address + BigInt(to), true);
  }
}
