/** Memory of graphs: what their allocation nodes have, by address, and how much of it there is. */
import type { Graph, GraphBlock } from './graph-types.ts';

/** Sizes by the number of the attribute. Source: `cudaGraphMemAttributeType`. */
const attributes = ['used', 'usedMost', 'reserved', 'reservedMost'] as const;

export class GraphMemory {
  readonly #blocks = new Map<bigint, GraphBlock>();
  readonly #most = { usedMost: 0, reservedMost: 0 };

  /** The block at an address. */
  at(address: bigint): GraphBlock | undefined {
    return this.#blocks.get(address);
  }

  add(address: bigint, bytes: number, owner: Graph): GraphBlock {
    const block: GraphBlock = { address, bytes, isLive: false, isReserved: false, owners: new Set([owner]) };
    this.#blocks.set(address, block);
    return block;
  }

  /** Forgets a block that nothing names. */
  remove(block: GraphBlock): void {
    this.#blocks.delete(block.address);
  }

  /** Blocks that a graph names. */
  of(owner: Graph): GraphBlock[] {
    return [...this.#blocks.values()].filter(({ owners }) => owners.has(owner));
  }

  /** A launch allocates a block. */
  take(block: GraphBlock): void {
    block.isLive = true;
    block.isReserved = true;
    this.#most.usedMost = Math.max(
      this.#most.usedMost,
      this.#sum(({ isLive }) => isLive),
    );
    this.#most.reservedMost = Math.max(
      this.#most.reservedMost,
      this.#sum(({ isReserved }) => isReserved),
    );
  }

  /** Gives back what no launch has allocated now. */
  trim(): void {
    for (const block of this.#blocks.values()) block.isReserved &&= block.isLive;
  }

  /** The value of an attribute; undefined if there is none of that number. */
  attribute(number: number): number | undefined {
    const name = attributes[number];
    if (name === 'used') return this.#sum(({ isLive }) => isLive);
    if (name === 'reserved') return this.#sum(({ isReserved }) => isReserved);
    return name && this.#most[name];
  }

  /** Sets what has been most back to zero; false if the attribute is no such one. */
  reset(number: number): boolean {
    const name = attributes[number];
    if (name !== 'usedMost' && name !== 'reservedMost') return false;
    this.#most[name] = 0;
    return true;
  }

  clear(): void {
    this.#blocks.clear();
  }

  #sum(isCounted: (block: GraphBlock) => boolean): number {
    let bytes = 0;
    for (const block of this.#blocks.values()) if (isCounted(block)) bytes += block.bytes;
    return bytes;
  }
}
