/**
 * What every device offers, whatever runs underneath. A device takes the bytes of a metallib, never PTX (the CUDA device will
 * be the exception, as the judge). Errors of a launch are diagnostics in the result, not exceptions.
 */
import type { KernelReflection } from '../air/abi.ts';
import type { GivenConstant } from '../air/function-constants.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import type { Dim3 } from './dim3.ts';
import type { ProfileRequest } from './profile.ts';
import type { TraceRequest } from './trace.ts';

export type { Dim3 } from './dim3.ts';

export interface DeviceLimits {
  readonly maxThreadsPerThreadgroup: number;
  readonly maxThreadgroupBytes: number;
  readonly maxBufferBytes: number;
  readonly simdWidth: number;
}

export interface DeviceInfo {
  readonly kind: 'cpu' | 'metal' | 'cuda';
  /** What a person would call it, with version or chip. */
  readonly name: string;
  readonly limits: DeviceLimits;
}

/**
 * Which of its two compilers the CPU device takes. `lane`: one thread after the other, plain and the judge of the other. `simd`: strips of threads
 * in vectors, where the kernel allows it. `auto`: that, for blocks that are worth it.
 */
export type Engine = 'auto' | 'lane' | 'simd';
/** `exact`: one rounding. `fast`: two roundings where the machine's vectors have no fused operation, so last bits may differ. */
export type Fma = 'exact' | 'fast';

/** What becomes of subnormal singles: `keep` computes with them, as IEEE 754 and NVIDIA GPUs do; `flush` takes them for zeros, as Apple GPUs do. */
export type Denormals = 'keep' | 'flush';

/** How the CPU device runs kernels; other devices have no choice. */
export interface EngineOptions {
  readonly engine?: Engine;
  readonly fma?: Fma;
  readonly denormals?: Denormals;
}

/** Memory of one device. Reading and writing copy. */
export interface DeviceBuffer {
  readonly size: number;
  write(bytes: Uint8Array, offset?: number): void;
  read(): Uint8Array;
  /** The memory itself, where device and host share it and it stays where it is: good until `free`, and at rest while no kernel runs. */
  view?(): Uint8Array;
  /** Where kernels see the buffer, to be put into memory that they read; from then on every launch lets them reach it. */
  deviceAddress(): bigint;
  /** Gives the memory back; using the buffer afterwards is a fault of the caller. */
  free(): void;
}

/** One argument by kernel parameter, in the order of the parameters. */
export type LaunchArgument =
  | { readonly kind: 'buffer'; readonly buffer: DeviceBuffer }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** What the CPU device can look for while a kernel runs. */
export const sanitizeKinds = ['memory', 'race', 'init', 'sync'] as const;
export type SanitizeKind = (typeof sanitizeKinds)[number];

export interface SanitizeRequest {
  readonly kinds: ReadonlySet<SanitizeKind>;
  /** Findings that are reported; the rest are counted. 20 where nothing is said. */
  readonly limit?: number;
  /** The PTX text that the metallib was made from, for places in reports. */
  readonly source?: SourceFile;
}

/**
 * In which order blocks, the warps of a block, and threads between two barriers are taken, one after the other: by their numbers, the last
 * one first, or in an order that follows from the seed, an integer of 32 bits.
 */
export type Order = { readonly kind: 'in-order' | 'reverse' } | { readonly kind: 'rand'; readonly seed: number };

export interface LaunchRequest {
  readonly kernel: string;
  /** Threadgroups in the grid. */
  readonly grid: Dim3;
  /** Threads in a threadgroup. */
  readonly block: Dim3;
  readonly dynamicSharedBytes: number;
  /** How they are divided, where a kernel has several threadgroup arguments: bytes of each, which start at multiples of 16. */
  readonly dynamicSharedParts?: readonly number[];
  readonly args: readonly LaunchArgument[];
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** Has the launch watched. What is found is reported (CM61xx), and the launch goes on where it can. */
  readonly sanitize?: SanitizeRequest;
  /** On the CPU device: one thread at a time, in this order. A kernel without races and atomics gives the same in any. */
  readonly schedule?: Order;
  /** On the CPU device: has one thread traced. */
  readonly trace?: TraceRequest;
  /** On the CPU device: has counted what warps do. */
  readonly profile?: ProfileRequest;
  /** Takes what the kernel prints, when it has ended or failed: bytes in order, in one piece or in several. */
  readonly print?: (text: Uint8Array) => void;
}

export interface LaunchResult {
  /** Kernel time without compilation, milliseconds. */
  readonly durationMs: number;
}

/** A `.global` variable of a module, which keeps what launches leave in it. Reading and writing copy. */
export interface DeviceSymbol {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  write(bytes: Uint8Array, offset?: number): void;
  read(): Uint8Array;
}

/** A library made ready to launch. */
export interface DeviceModule {
  readonly kernels: readonly KernelReflection[];
  /** What is said of kernels of the file that the device does not run, by their names. */
  readonly refused?: ReadonlyMap<string, Diagnostics>;
  /** Of the module's own memory. */
  readonly symbols: readonly DeviceSymbol[];
  /**
   * Runs one kernel to its end. Returns nothing after reporting CM50xx (arguments, sizes, limits) or CM60xx (the kernel
   * failed: timeout, deadlocked barrier, access outside memory).
   */
  launch(request: LaunchRequest, diagnostics: Diagnostics): LaunchResult | undefined;
}

export interface LoadOptions {
  /** Values of function constants, by name or number; `KernelReflection.constants` says which a kernel has. */
  readonly constants?: readonly GivenConstant[];
  /** The kernels that are going to be launched, where the file has them: the others need not be made ready. */
  readonly kernels?: readonly string[];
}

export interface Device {
  readonly info: DeviceInfo;
  allocate(sizeBytes: number, diagnostics: Diagnostics): DeviceBuffer | undefined;
  /** Reads and compiles a metallib; nothing after reporting CM40xx or CM20xx. */
  load(metallib: Uint8Array, diagnostics: Diagnostics, options?: LoadOptions): DeviceModule | undefined;
  close(): void;
}
