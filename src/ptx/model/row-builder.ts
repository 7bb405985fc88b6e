/** What the rows of the table are handed to say what an instruction does: the IR's builder, and what only `src/lower` knows. */
import type { Builder, Space, Value } from '../../ir/index.ts';

declare const addressBrand: unique symbol;
/** The operand `[a+4]`: opaque to rows, made and understood by `src/lower`. */
export interface AddressOperand {
  readonly [addressBrand]: true;
}

/**
 * The state space of an address in an instruction. `param` leaves open whose parameters are meant: in an entry its own, in a
 * function those of the function. Source: PTX ISA 9.0, 9.7.9.8.
 */
export type AccessSpace = Space | 'param::entry' | 'param::func';

/** What a row emits into: the IR's builder, and the few things that only `src/lower` knows. */
export interface RowBuilder extends Builder {
  /** How many elements the brace vector in the destination's place has; nothing where the destination is not one. */
  readonly lanes: number | undefined;
  /** Whether products of matrices may be of tiles that the GPU multiplies. */
  readonly isMmaFast: boolean;
  /** The word after an operand that picks parts of it (`h1` of `a.h1`), by the name in the row. */
  part(operand: string): string | undefined;
  /** An address operand as an IR pointer, its offset applied. `generic` where the instruction names no state space. */
  pointer(address: AddressOperand, space: AccessSpace): Value;
  /** A generic address (i64) from the address `a` in a state space (`to` is generic), or the reverse. */
  convertAddress(a: Value, space: AccessSpace, to: 'generic' | 'space'): Value;
  /** What `body` emits runs only where a condition holds; values made there are not to be used behind it. */
  when(condition: Value, body: () => void): void;
  /** The address of a word of shared memory that no name of the source stands for, one for each kernel. */
  blockWord(): Value;
  /** The address of the shared memory that is kept for system software. */
  reservedShared(): Value;
  /** Replaces a word of 32 bits in memory (i32) by what is computed of it, in one step; gives the word before. */
  update(pointer: Value, compute: (old: Value) => Value): Value;
  /** Ends the thread, and fails the launch with what it says. */
  stop(why: string): void;
  /** One of two values, each computed in a block of its own: where one way is long and rarely needed. */
  either(condition: Value, yes: () => Value, no: () => Value): Value;
  /** The carry or borrow (i1) that the last instruction with `.cc` left; before the first it is 0. */
  carry(): Value;
  /** Leaves a carry or borrow. */
  setCarry(carry: Value): void;
  /** Reports at the instruction that it is not supported, and why. */
  refuse(reason: string): undefined;
}
