/**
 * Functions in instructions of a processor with virtual registers, before and after the allocation of registers. An instruction is opaque: it says which
 * registers it reads and writes, and encodes itself once they are known.
 */
import type { Assembler, Label, MemoryOperand } from '../x64/types.ts';

export type RegisterClass = 'general' | 'vector';

/** The number of a virtual register in its function. Like values of SSA form, each is defined once, by an instruction or as a parameter of a block. */
export type Register = number;

export interface RegisterInfo {
  readonly class: RegisterClass;
  /** Bytes of its value, which a spill stores: 4 or 8 for general ones, 4 to 64 for vectors. */
  readonly bytes: 4 | 8 | 16 | 32 | 64;
  /**
   * Computes the register anew from nothing but constants and reserved registers, which takes the place of a load of its spilled value: `to` is a physical
   * register.
   */
  readonly remake?: (out: Assembler, to: number) => void;
}

/** Physical registers by their numbers in the encoding, as a bit set for each class. */
export interface PhysicalSet {
  readonly general: number;
  readonly vector: number;
}

/** What an instruction encodes itself with: physical registers. */
export interface Places {
  readonly def: number;
  readonly uses: readonly number[];
  readonly temps: readonly number[];
  /** The stack slot of the operand `inMemory`, where that operand is not in a register (its place in `uses` is then meaningless). */
  readonly slot: MemoryOperand | undefined;
  /** Bytes of the frame: the return address is at `rsp + frameBytes`, and argument i of the function at `rsp + frameBytes + 8 + 16 * i`. */
  readonly frameBytes: number;
}

export interface MachineInst {
  readonly def?: Register;
  readonly uses: readonly Register[];
  /** The index of the operand in whose register the result is computed (two-address instructions). The operand is copied if it lives on. */
  readonly tied?: number;
  /**
   * Further operands in whose register the result can be computed instead, which saves the copy of an operand that lives on. The instruction finds the one
   * that was chosen as the first of `tied` and these whose place is `places.def`.
   */
  readonly tiedChoices?: readonly number[];
  /** Registers that the instruction needs for itself; they differ from the operands, from the result and from each other. */
  readonly temps?: readonly RegisterClass[];
  /** Whether the result is written before the last operand is read, so that it shares a register with none of them (other than a tied one). */
  readonly isEarly?: boolean;
  /** Physical registers that operands and the result have to be in. */
  readonly fixedUses?: readonly (number | undefined)[];
  readonly fixedDef?: number;
  /** Physical registers that the instruction destroys, besides those of its result; temps and operands that die there may not be in them, fixed operands may. */
  readonly clobbers?: PhysicalSet;
  /** The index of an operand that the instruction can read from its stack slot instead of a register. */
  readonly inMemory?: number;
  /** Whether the instruction copies its one operand to its result, so that both should share a register. */
  readonly isMove?: boolean;
  emit(out: Assembler, places: Places): void;
}

/** The end of a block: reads registers, and jumps to the labels of its edges. `next` is the number of the edge whose block follows, if one does. */
export interface MachineEnd {
  readonly uses: readonly Register[];
  readonly fixedUses?: readonly (number | undefined)[];
  readonly temps?: readonly RegisterClass[];
  emit(out: Assembler, places: Places, labels: readonly Label[], next: number | undefined): void;
}

export interface MachineEdge {
  readonly block: number;
  readonly args: readonly Register[];
}

export interface MachineBlock {
  readonly params: readonly Register[];
  readonly insts: readonly MachineInst[];
  readonly end: MachineEnd;
  /** Critical edges (from a block with several to a block with several) have no args: the lowering puts a block on them. */
  readonly edges: readonly MachineEdge[];
  readonly loopDepth: number;
  /** Blocks that are seldom executed are placed behind all others. */
  readonly isRare: boolean;
}

export interface MachineFunction {
  readonly registers: readonly RegisterInfo[];
  /** In an order in which a block follows its immediate dominator, and loops are contiguous; block 0 is the entry and has no params. */
  readonly blocks: readonly MachineBlock[];
  /** Bytes at the bottom of the frame, from rsp on, for arguments of calls: argument i is at `rsp + 16 * i`. */
  readonly outgoingBytes: number;
}

/** The registers that the allocator may use. */
export interface RegisterFile {
  readonly general: readonly number[];
  readonly vector: readonly number[];
}

/** Registers with a meaning in all native code; the allocator does not use them. */
export const reserved = {
  stack: 4,
  /** The address of the context: globals, imported functions, what a trap needs. */
  context: 13,
  /** The address of the memory of WebAssembly. */
  memory: 14,
  /** Bytes of that memory. */
  memoryBytes: 15,
} as const;
