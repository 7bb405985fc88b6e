/** The interface for rows of the table that describe the meaning of an instruction: the IR's builder, and operations of `src/lower`. */
import type { Builder, FloatRange, FloatSpan, Service, Space, Value } from '../../ir/index.ts';

declare const addressBrand: unique symbol;
/** The operand `[a+4]`: opaque to rows, created and used by `src/lower`. */
export interface AddressOperand {
  readonly [addressBrand]: true;
}

/**
 * The state space of an address in an instruction. `param` means the entry's parameters in an entry, and the function's in a function.
 * Source: PTX ISA 9.0, 9.7.9.8.
 */
export type AccessSpace = Space | 'param::entry' | 'param::func' | 'shared::cluster';

/** The word of a barrier in shared memory, of which targets without 64-bit atomics take the highest bit for a lock. */
export interface BarrierWord {
  /** Replaces the word by a function of it, atomically; returns the old one. */
  update(pointer: Value, compute: (old: Value) => Value): Value;
  /** The parity and the tag of the word; other fields are not specified. */
  peek(pointer: Value): Value;
  /** Sets the word, which no other thread accesses at the same time. */
  set(pointer: Value, word: Value): void;
}

/** Straight code for the product of a form, from the gathered registers of a and b, and those of c. */
export type ProductExpansion = (
  ir: RowBuilder,
  form: string,
  a: readonly Value[],
  b: readonly Value[],
  c: readonly Value[],
) => readonly Value[];

/** An address (i64) in global memory, and two values. */
export type ReadingOperands = readonly [Value, Value, Value];

/** Code that computes and reads global memory, of operands. */
export type ReadingCode = (ir: RowBuilder, operands: ReadingOperands) => Value;

/** Straight code without effects, of operands. */
export type PureCode = (ir: RowBuilder, operands: readonly Value[]) => Value;

/** Straight code of an i32 that exchanges values of a warp and reads shared memory; its only special register is the number of the lane. */
export type ExchangeCode = (ir: RowBuilder, given: Value) => Value;

/** The builder that rows emit into: the IR's builder, and operations of `src/lower`. */
export interface RowBuilder extends Builder {
  /** The number of elements of the destination's brace vector; undefined if the destination is not a vector. */
  readonly lanes: number | undefined;
  /** The bits of a constant; undefined for another value. */
  constantOf(value: Value): bigint | undefined;
  /** Bounds of a float of 32 bits, from the instructions that make it. */
  floatRange(value: Value): FloatRange;
  /** Powers of two that a float of 32 or 64 bits is a multiple of, and at most, from the instructions that make it. */
  floatSpan(value: Value): FloatSpan;
  /** The bits of an integer that are known to be 0. */
  knownZeros(value: Value): bigint;
  /** Whether the code is for the CPU device, or for a target that takes its operations. */
  readonly isForCpu: boolean;
  /** A place that the sanitizer sees, where threads close or wait for groups of operations, also by a barrier in memory; nothing without it. */
  orderPoint(barrier?: Value): void;
  /** Whether matrix products may use the GPU's tile multiplication. */
  readonly isMmaFast: boolean;
  /** Whether the target has products of matrices as an instruction (`mma`). */
  readonly hasMma: boolean;
  /**
   * For a target without that instruction on which functions compute it: notes that the kernel has a form, of which `expand` makes the registers of d
   * from gathered factors (`src/ptx/table/matrix/gathered-product.ts`). Undefined for other targets.
   */
  readonly productFunction: ((form: string, expand: ProductExpansion) => void) | undefined;
  /** The value of long code that reads global memory, as a call of a function with a name of its own. Undefined where code is in place. */
  readonly readingFunction: ((name: string, operands: ReadingOperands, code: ReadingCode) => Value) | undefined;
  /** The value of code without effects of two or three operands, in the same way; `flushed` says that it is never subnormal. */
  readonly pureFunction: ((name: string, operands: readonly Value[], code: PureCode, gives?: 'flushed') => Value) | undefined;
  /** The value of code in which lanes exchange an i32 each and read shared memory, in the same way. */
  readonly exchangeFunction: ((name: string, given: Value, code: ExchangeCode) => Value) | undefined;
  /** The values that the registers of the destination have before the instruction. */
  accumulators(): readonly Value[];
  /** Memory of the thread of at least so many bytes. All instructions share it. */
  threadMemory(bytes: number): Value;
  /** The threads of a warp group, four warps, wait for each other. */
  groupBarrier(): void;
  /** The selector after an operand, with the sign before it (`h1` of `a.h1`, `-` of `-a`), by the operand's name in the row. */
  part(operand: string): string | undefined;
  /** An address operand as an IR pointer, with its offset applied. `generic` if the instruction names no state space. */
  pointer(address: AddressOperand, space: AccessSpace): Value;
  /** A generic address (i64) from the address `a` in a state space (`to` is generic), or the reverse. */
  convertAddress(a: Value, space: AccessSpace, to: 'generic' | 'space'): Value;
  /** Whether a generic address (i64) is of a space; of shared memory, that of the block itself or of any block of its cluster. */
  isspace(a: Value, of: { readonly space: Space | 'shared::cluster' }): Value;
  /** Emits `body` under a condition. Its values must not be used afterwards. */
  when(condition: Value, body: () => void): void;
  /** The address of a 32-bit word of shared memory without a name in the source, one per kernel. */
  blockWord(): Value;
  /** The address (i64) in local memory of so many bytes of the thread's stack; the alignment is an i32, a power of two. */
  alloca(size: Value, align: Value): Value;
  /** The offset of the first free byte of the thread's stack, an i32. */
  stackTop(): Value;
  /** Releases what was taken from the stack since the offset was that; another number stops the kernel. */
  setStackTop(top: Value): void;
  /** The tensor memory of the block (`src/ir/tensor-memory.ts`). */
  tensorMemory(): Value;
  /** The address of the shared memory that is reserved for system software. */
  reservedShared(): Value;
  /** The generic address (i64) of what a service of the CPU device has for the launch; 0 for nothing. */
  service(which: Service): Value;
  /** A word of what the launch has for clusters, an i32, by its offset in bytes (`src/ir/services.ts`). */
  clusterWord(offset: number): Value;
  /** Whether the blocks of a cluster run by turns, so that one of them may have ended while others run. */
  readonly clustersTakeTurns: boolean;
  /** A value that is the same throughout a kernel, computed where the kernel starts; it is known by its key. */
  once(key: string, compute: () => Value): Value;
  /** Arrives at the barrier of the cluster, or waits for the one that the thread has arrived at. */
  clusterBarrier(step: 'arrive' | 'wait'): void;
  /** Atomically replaces a word in memory (i32, or i64) by a function of its value. Returns the old value. */
  update(pointer: Value, compute: (old: Value) => Value, type?: 'i32' | 'i64'): Value;
  /** Accesses of the 64-bit word of a barrier in shared memory (`src/ir/mbarrier.ts`). */
  readonly barrierWord: BarrierWord;
  /** Notes that the instruction has another form than for the CPU device, whose own is better there. */
  adapt(): void;
  /** Reports at the instruction that only the CPU device has it, unless the target is that device. */
  needsCpu(reason: string): void;
  /** Ends the thread and fails the launch with a message. */
  stop(why: string): void;
  /** One of two values, each computed in a block of its own, for an expensive case that is rarely needed. */
  either(condition: Value, yes: () => Value, no: () => Value): Value;
  /** One of two lists of values of the same types, each computed in a block of its own. */
  choose(condition: Value, yes: () => readonly Value[], no: () => readonly Value[]): Value[];
  /** Emits a loop over the numbers from 0 up to `count`, an i32: `body` receives the values that it returned before, initially `first`. */
  repeat(count: Value, first: readonly Value[], body: (i: Value, values: readonly Value[]) => readonly Value[]): Value[];
  /** Emits a loop that tests a condition until it holds, `tries` times at most. Returns whether it held. */
  poll(tries: number, condition: () => Value): Value;
  /** The carry or borrow (i1) of the last instruction with `.cc`; initially 0. */
  carry(): Value;
  /** Sets the carry or borrow. */
  setCarry(carry: Value): void;
  /** Reports at the instruction that it is not supported, and why. */
  refuse(reason: string): undefined;
}
