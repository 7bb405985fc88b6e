/** Memory of the device by address. */
import type { DeviceBuffer } from '../../device/index.ts';

export interface Allocation {
  readonly address: bigint;
  readonly size: number;
  readonly buffer: DeviceBuffer;
  /**
   * Where the host has these bytes, if it sees them: managed memory, and host memory that the device sees. The host's bytes count between
   * launches; a launch copies them to the device before it and back after it.
   */
  readonly host: { readonly pointer: bigint; readonly kind: 'managed' | 'mapped' } | undefined;
  /** Whether it is a variable of a module, which the program cannot free. */
  readonly isVariable?: true;
}

export class Allocations {
  /** In order of address. */
  readonly #list: Allocation[] = [];
  #bytes = 0;

  /** Bytes of all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  add(allocation: Allocation): void {
    this.#list.splice(this.#firstAbove(allocation.address), 0, allocation);
    if (!allocation.isVariable) this.#bytes += allocation.size;
  }

  /** The allocation that an address is in, with the offset. */
  find(address: bigint): { readonly allocation: Allocation; readonly offset: number } | undefined {
    const allocation = this.#list[this.#firstAbove(address) - 1];
    if (!allocation) return undefined;
    const offset = Number(address - allocation.address);
    return offset < Math.max(1, allocation.size) ? { allocation, offset } : undefined;
  }

  /** The allocation that begins last before an address, or the first, with the offset, which may be outside of it. */
  near(address: bigint): { readonly allocation: Allocation; readonly offset: number } | undefined {
    const allocation = this.#list[Math.max(0, this.#firstAbove(address) - 1)];
    return allocation && { allocation, offset: Number(address - allocation.address) };
  }

  /** The allocation that the device sees host memory through: memory that was mapped for it, or a managed variable. */
  mapping(pointer: bigint): Allocation | undefined {
    return this.#list.find(
      ({ host, size, isVariable }) =>
        host && (host.kind === 'mapped' || isVariable) && pointer >= host.pointer && pointer < host.pointer + BigInt(Math.max(1, size)),
    );
  }

  remove(allocation: Allocation): void {
    const at = this.#list.indexOf(allocation);
    if (at < 0) return;
    this.#list.splice(at, 1);
    if (!allocation.isVariable) this.#bytes -= allocation.size;
  }

  /** Those that the host sees as well. */
  shared(): Allocation[] {
    return this.#list.filter(({ host }) => host !== undefined);
  }

  all(): readonly Allocation[] {
    return this.#list;
  }

  #firstAbove(address: bigint): number {
    let [low, high] = [0, this.#list.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#list[middle]!.address <= address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
