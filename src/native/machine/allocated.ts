/**
 * Functions whose virtual registers have places: the instructions of each block with the moves, stores and loads between them. A place is the number of a
 * physical register: that of a general one in the encoding, or 32 more than that of a vector one.
 */
import type { MachineBlock, MachineFunction, MachineInst, Register, RegisterClass } from './types.ts';

/** The place of vector register 0. */
export const vectorPlaces = 32;
/** Places of both classes. */
export const placeCount = 64;

/** The place of a physical register. */
export const placeOf = (registerClass: RegisterClass, number: number): number =>
  registerClass === 'general' ? number : vectorPlaces + number;

/** An instruction of the function, or the end of a block, with the places of its operands. `slotOf` is the operand that it reads from a slot, or -1. */
export interface InstStep {
  readonly kind: 'inst';
  /** Undefined for the end of the block. */
  readonly inst: MachineInst | undefined;
  readonly def: number;
  readonly uses: readonly number[];
  readonly temps: readonly number[];
  readonly slotOf: Register;
}

/** Copies the bits of `register` from a place to another, or exchanges two general ones. */
export interface MoveStep {
  readonly kind: 'move' | 'swap';
  readonly register: Register;
  readonly from: number;
  readonly to: number;
}

/** Stores a place to the slot of a register, or to a slot for a moment. The number of the slot is that of `slots`. */
export interface StoreStep {
  readonly kind: 'store';
  readonly register: Register;
  readonly from: number;
  slot: number;
}

export interface LoadStep {
  readonly kind: 'load';
  readonly register: Register;
  readonly to: number;
  slot: number;
}

/** Computes a register anew. */
export interface RemakeStep {
  readonly kind: 'remake';
  readonly register: Register;
  readonly to: number;
}

export type Step = InstStep | MoveStep | StoreStep | LoadStep | RemakeStep;

export interface AllocatedBlock {
  readonly block: MachineBlock;
  /** Moves of the block's one edge from several, instructions, the end with kind `inst`; and the moves of the edge that leaves it, before the end. */
  readonly steps: readonly Step[];
}

/** Bytes on the stack for a spilled value. */
export interface Slot {
  readonly bytes: 8 | 16 | 32 | 64;
  /** From rsp on. */
  readonly offset: number;
}

export interface AllocatedFunction {
  readonly fn: MachineFunction;
  /** The function's blocks, in which critical edges are split. Unreachable blocks have no steps. */
  readonly blocks: readonly AllocatedBlock[];
  readonly slots: readonly Slot[];
  /** The number of the slot of each register, or -1. */
  readonly slotOf: Int32Array;
  readonly frameBytes: number;
  /** Whether a block is the header of a loop. */
  readonly isHeader: readonly boolean[];
}
