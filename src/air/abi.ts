/**
 * The kernel ABI, version 1: the binding of a kernel by its host. Parameter i of the entry is buffer slot i: a pointer parameter is a
 * `device` buffer, a scalar or struct a `constant` buffer filled by `setBytes`. Dynamic shared memory is threadgroup slot 0. If there are
 * more parameters than slots, all values share one slot after the buffers. Module memory, if the kernel uses it, has the first slot after
 * the parameters. The same description can be read back from the `air.kernel` metadata of any compute metallib.
 */
import type { ClusterRules, Service } from '../ir/index.ts';

/** Element types of buffers, as the reflection spells them. */
export type ElementType = 'u8' | 'i8' | 'u16' | 'i16' | 'f16' | 'bf16' | 'u32' | 'i32' | 'f32' | 'u64' | 'i64' | 'f64';

/** One parameter of a kernel. */
export interface ParamReflection {
  /** The parameter's name in the source, such as `vector_add_param_0`; `arg0` if the file has none. */
  readonly name: string;
  /** Buffer slot, 0 to 30. */
  readonly slot: number;
  /** Byte offset in the slot's content, if several by-value parameters share the slot. */
  readonly offset?: number;
  /** `buffer`: bind a device buffer; `bytes`: set `size` bytes by value. */
  readonly kind: 'buffer' | 'bytes';
  /** Size in bytes: of the value for `bytes`, of one element for `buffer`. */
  readonly size: number;
  readonly align: number;
  /** The type of accesses to the buffer, or of a scalar; absent if unknown (a struct, mixed accesses). */
  readonly element: ElementType | undefined;
  readonly access: 'read' | 'write' | 'read_write' | undefined;
  /** 64 bits by value that the kernel does not read. PTX declares pointers as such integers, so a buffer and null are arguments for it as well. */
  readonly isUnused?: true;
}

/** The memory of a module's `.global` variables: one buffer that all its kernels share and that persists between launches. */
export interface MemoryReflection {
  /** Buffer slot. */
  readonly slot: number;
  /** Bytes. */
  readonly size: number;
  readonly symbols: readonly SymbolReflection[];
}

/** A variable of a module that a host accesses by name. */
export interface SymbolReflection {
  readonly name: string;
  /** Bytes from the start of the buffer. */
  readonly offset: number;
  readonly size: number;
}

/** The buffer that receives a kernel's print records. */
export interface PrintReflection {
  /** Buffer slot. */
  readonly slot: number;
  /** Indexed by the numbers in records, from 1 on; each character is one byte. */
  readonly formats: readonly string[];
}

/** A function constant: a value that the caller supplies before the pipeline is created. */
export interface ConstantReflection {
  readonly name: string;
  /** In Metal's spelling: `float`, `uint3`. */
  readonly type: string;
  /** `[[function_constant(N)]]`. */
  readonly index?: number;
  /** Whether the kernel needs a value; otherwise the kernel can test whether one was given. */
  readonly isRequired: boolean;
}

/** What a host knows of a kernel: its parameters in the order of PTX, its memory and its limits. */
export interface KernelReflection {
  readonly name: string;
  readonly params: readonly ParamReflection[];
  /** Function constants of the kernel's module, if it has any. */
  readonly constants?: readonly ConstantReflection[];
  /** The module memory, if the kernel uses it. */
  readonly memory?: MemoryReflection;
  /** The fault word: 0 if the kernel did not stop itself, n if it stopped for the reason `texts[n - 1]`. */
  readonly faults?: { readonly slot: number; readonly texts: readonly string[] };
  /** The print buffer, in the form of `src/ir/print-buffer.ts`. */
  readonly printf?: PrintReflection;
  /** The lock table of 64-bit atomics, in the form of `src/ir/lock-table.ts`. */
  readonly locks?: { readonly slot: number };
  /** The services of the CPU device that the kernel uses, in the form of `src/ir/services.ts`. */
  readonly services?: readonly { readonly service: Service; readonly slot: number }[];
  /** Bytes of static threadgroup memory. */
  readonly staticSharedBytes: number;
  /** The largest total threadgroup memory, static and dynamic, if the kernel targets a device with more than Apple GPUs. */
  readonly maxSharedBytes?: number;
  /** Whether the kernel has dynamic threadgroup memory (threadgroup slot 0). */
  readonly usesDynamicShared: boolean;
  /** The number of threadgroup arguments that share it, if more than one. */
  readonly sharedArguments?: number;
  /** The largest threadgroup, if the source has a limit (`.maxntid`, `.reqntid`). */
  readonly maxThreads: number | undefined;
  /**
   * Present if a kernel compiled for `cpu` follows member masks of collectives better: `loop` if threads meet in a loop, which gives the same
   * results and takes longer. With the others masks are checked at run time rather than followed: `shape` if they may be wrong only in blocks of
   * several rows whose x extent is no multiple of 32, `divergent` otherwise.
   */
  readonly checkedMasks?: 'loop' | 'shape' | 'divergent';
  /** Present if a kernel compiled for `cpu` has better forms of its barriers, warp-group products or clusters, and clusters of several blocks. */
  readonly isAdapted?: true;
  /** The threadgroup shape that the source requires (`.reqntid`). */
  readonly requiredThreads: readonly [number, number, number] | undefined;
  /** Of a kernel whose blocks run in clusters: what the source says of them. */
  readonly cluster?: ClusterRules;
}

/** The output of `cumetal build --emit reflection`. */
export interface Reflection {
  readonly abi: 1;
  /** The compile target, such as `macos14`; absent for a foreign metallib. */
  readonly target: string | undefined;
  readonly kernels: readonly KernelReflection[];
}
