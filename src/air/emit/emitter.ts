/** Shared types of emission: the emitter that rules use, offsets and roots of addresses, signatures. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Argument, Attribute, Value as LlvmValue } from '../../bitcode/model.ts';
import type { Kernel, KnownBits, PureFunction, Space, Sreg, Value } from '../../ir/index.ts';
import type { KernelInput } from '../inputs.ts';
import type { Intrinsic } from '../intrinsics.ts';
import type { LineWriter } from '../lines.ts';
import type { Target } from '../targets.ts';
import type { FunctionBuilder } from './function-builder.ts';

/** The interface of the rules during emission of a kernel. */
export interface KernelEmitter {
  readonly kernel: Kernel;
  readonly target: Target;
  readonly diagnostics: Diagnostics;
  /** Line tables, if the module is for instruments of the CPU device. */
  readonly lines?: LineWriter | undefined;
  readonly b: FunctionBuilder;
  /** At the end of the entry block, where allocas go. */
  readonly entry: FunctionBuilder;
  /** The LLVM value of an IR value; for a pointer without LLVM pointer, its address as i64. */
  value(value: Value): LlvmValue;
  /** Calls a function that adds instructions to the end of the block of a value, so that those of an address that a loop does not change are not in it. */
  behind<T>(value: Value, make: () => T): T;
  /** What is known of the bits of an integer. */
  bits(value: Value): KnownBits;
  /** `none` prevents a tail call, for pointers to the thread's own memory. */
  call(intrinsic: Intrinsic, args: readonly LlvmValue[], tail?: 'tail' | 'none'): LlvmValue;
  /** A call of one of the kernel's helper functions, or of one that emission makes. */
  callFunction(name: string, args: readonly LlvmValue[], made?: PureFunction): LlvmValue;
  sreg(name: Sreg): LlvmValue;
  paramRoot(index: number): Root;
  variableRoot(space: Space, name: string): Root;
  /** The variable that an address was computed from, if that is one. */
  variableOf(pointer: Value): string | undefined;
  /**
   * The root for an address that is a number, which is `offset`, and is relative to the root then. `whole` gives it as an instruction, for an
   * address that may be in static or in dynamic memory; `variable` is what it was computed from, where that is known.
   */
  windowRootAt(space: Space, offset: Offset, whole: () => LlvmValue, variable?: string): Root;
  windowOffset(space: Space, name: string): number;
}

/** A sum of products to add to a root, in bytes. */
export interface Offset {
  terms: { value: Value; scale: bigint }[];
  constant: bigint;
  /** An address computed elsewhere, as an addend. */
  start?: LlvmValue;
  /** Whether no term can leave the signed 64-bit range, because all are extended from 32 bits. */
  isBounded: boolean;
}

export interface Root {
  /** A typed LLVM pointer, or an i64 address. */
  readonly pointer: LlvmValue;
  readonly space: number;
  /** The offset of a variable in its window, in bytes. */
  readonly base: bigint;
  /** The known alignment of the root. */
  readonly align: number;
  readonly isObject: boolean;
}

export interface Signature {
  readonly args: Argument[];
  readonly attributes: Attribute[][];
  /** By IR parameter. */
  readonly roots: Root[];
  readonly dynamicShared: Root | undefined;
  /** Inputs in the order of their parameters, with the components each has. */
  readonly inputs: readonly { readonly input: KernelInput; readonly arg: Argument; readonly components: 1 | 3 }[];
  /** For each special register, how to read it from the arguments. */
  readonly sregs: ReadonlyMap<Sreg, (b: FunctionBuilder) => LlvmValue>;
  /** Bits of the widest vector among the parameters. */
  readonly widestVector: number;
}
