/** Ranges of addresses, and memory that is mapped to them. */
import type { Allocation } from './allocations.ts';

export interface Mapping {
  readonly offset: number;
  readonly memory: Memory;
  /** `CUmemAccess_flags`: none before `cuMemSetAccess`. */
  access: number;
}

export interface Memory {
  readonly handle: bigint;
  readonly size: number;
  /** The bytes of `CUmemAllocationProp`. */
  readonly properties: Uint8Array;
  /** How many handles the program has. */
  references: number;
  mapping: Mapping | undefined;
  /** What it has while it is mapped nowhere. */
  contents: Uint8Array | undefined;
}

export interface Range {
  readonly allocation: Allocation;
  readonly mappings: Mapping[];
}

/** What a program has reserved and created: ranges by their first address, memory by handle. */
export interface VirtualMemory {
  readonly ranges: Map<bigint, Range>;
  readonly memories: Map<bigint, Memory>;
}
