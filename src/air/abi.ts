/**
 * The kernel ABI, version 1: how a host binds one of our kernels. Parameter i of the entry is buffer slot i: a pointer
 * parameter a `device` buffer, a scalar or struct a `constant` buffer filled by `setBytes`; dynamic shared memory is
 * threadgroup slot 0; where there are more parameters than slots, all values share one behind the buffers; the module's own memory, where a kernel reaches it, the first slot behind the parameters. The same
 * description is read back from the `air.kernel` metadata of any compute metallib.
 */

/** Element types a buffer can be described with, in the contract's spelling. */
export type ElementType = 'u8' | 'i8' | 'u16' | 'i16' | 'f16' | 'bf16' | 'u32' | 'i32' | 'f32' | 'u64' | 'i64' | 'f64';

export interface ParamReflection {
  /** The parameter's name in the source, `vector_add_param_0` say; `arg0` where the file has none. */
  readonly name: string;
  /** Buffer slot, 0 to 30. */
  readonly slot: number;
  /** Bytes from the start of what the slot holds, where several parameters by value share one. */
  readonly offset?: number;
  /** `buffer`: bind a device buffer; `bytes`: set `size` bytes by value. */
  readonly kind: 'buffer' | 'bytes';
  /** Bytes: of the value for `bytes`, of one element for `buffer`. */
  readonly size: number;
  readonly align: number;
  /** What the buffer is read or written as, or the type of a scalar; absent where unknown (a struct, mixed accesses). */
  readonly element: ElementType | undefined;
  readonly access: 'read' | 'write' | 'read_write' | undefined;
}

/** The memory of a module's `.global` variables: one buffer that all its kernels share and that outlives launches. */
export interface MemoryReflection {
  /** Buffer slot. */
  readonly slot: number;
  /** Bytes. */
  readonly size: number;
  readonly symbols: readonly SymbolReflection[];
}

export interface SymbolReflection {
  readonly name: string;
  /** Bytes from the start of the buffer. */
  readonly offset: number;
  readonly size: number;
}

/** The buffer that a kernel leaves records of what it prints in. */
export interface PrintReflection {
  /** Buffer slot. */
  readonly slot: number;
  /** By their numbers in records, from 1 on; each character stands for one byte. */
  readonly formats: readonly string[];
}

/** A function constant: a value that the caller gives before a kernel is made ready. */
export interface ConstantReflection {
  readonly name: string;
  /** In Metal's spelling: `float`, `uint3`. */
  readonly type: string;
  /** `[[function_constant(N)]]`. */
  readonly index?: number;
  /** Whether there is no kernel without a value; else the kernel asks whether there is one. */
  readonly isRequired: boolean;
}

export interface KernelReflection {
  readonly name: string;
  readonly params: readonly ParamReflection[];
  /** Function constants of the kernel's module, where it has any. */
  readonly constants?: readonly ConstantReflection[];
  /** The module's own memory, where the kernel reaches it. */
  readonly memory?: MemoryReflection;
  /** Where the kernel says that it stopped itself: a word that is 0 before, and n after where it stopped for `texts[n - 1]`. */
  readonly faults?: { readonly slot: number; readonly texts: readonly string[] };
  /** What the kernel prints: a buffer as `src/ir/print-buffer.ts` describes it. */
  readonly printf?: PrintReflection;
  /** Bytes of static threadgroup memory. */
  readonly staticSharedBytes: number;
  /** Most bytes of threadgroup memory, static and dynamic, where the kernel is for a device that has more than Apple GPUs. */
  readonly maxSharedBytes?: number;
  /** Whether the kernel takes dynamic threadgroup memory (threadgroup slot 0). */
  readonly usesDynamicShared: boolean;
  /** How many threadgroup arguments share it, where that is more than one. */
  readonly sharedArguments?: number;
  /** Most threads a threadgroup may have, where the source says (`.maxntid`, `.reqntid`). */
  readonly maxThreads: number | undefined;
  /** The threadgroup shape the source demands (`.reqntid`). */
  readonly requiredThreads: readonly [number, number, number] | undefined;
}

/** What `cumetal build --emit reflection` writes beside a metallib. */
export interface Reflection {
  readonly abi: 1;
  /** The compile target, `macos14` say; absent for a metallib of other origin. */
  readonly target: string | undefined;
  readonly kernels: readonly KernelReflection[];
}
