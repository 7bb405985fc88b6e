/**
 * What every device offers, whatever runs underneath. A device takes the bytes of a metallib, never PTX; the CUDA device, the judge
 * of the others, is the exception and takes nothing else (`loadPtx`). Errors of a launch are diagnostics in the result, not exceptions.
 */
import type { KernelReflection } from '../air/abi.ts';
import type { GivenConstant } from '../air/raise/function-constants.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { SourceFile } from '../base/source.ts';
import type { ProfileRequest } from './profile.ts';
import type { TraceRequest } from './trace.ts';

export type { Dim3 } from '../base/dim3.ts';

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
  /** What is known of it beyond that, by the names of `cudaDeviceProp` where CUDA has one. */
  readonly properties?: DeviceProperties;
}

export type DeviceProperties = Readonly<Record<string, string | number | readonly number[]>>;

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
  /** Threads of a strip where they are not to be chosen: 4, 8, 16 or 32. What a warp does together takes a whole warp all the same. */
  readonly lanes?: number;
  /** Threads that run the blocks of a launch, where it is worth that; as many as the machine has cores where nothing is said. 1: only the one that calls. */
  readonly threads?: number;
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

/**
 * The argument for one kernel parameter; a launch has one for each parameter, in their order. `Buffer` is where the memory of a
 * buffer is: on the device when the kernel is launched, on the host before that.
 */
export type LaunchArgument<Buffer = DeviceBuffer> = {
  /** The argument as the user wrote it (`f32:1024`), for messages. */
  readonly label?: string;
} & (
  | {
      readonly kind: 'buffer';
      readonly buffer: Buffer;
      /** The byte of the buffer that the kernel sees as its start; 0 by default. */
      readonly offset?: number;
    }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
);

/** What the CPU device can look for while a kernel runs. */
export const sanitizeKinds = ['memory', 'race', 'init', 'sync'] as const;
/** Besides these `writer`, which is no fault: who writes where `SanitizeRequest.writer` asks. */
export type SanitizeKind = (typeof sanitizeKinds)[number] | 'writer';

export interface SanitizeRequest {
  readonly kinds: ReadonlySet<SanitizeKind>;
  /** Findings that are reported; the rest are counted. 20 where nothing is said. */
  readonly limit?: number;
  /** The PTX text that the metallib was made from, for places in reports. */
  readonly source?: SourceFile;
  /** Has who wrote last somewhere told, where `writer` is among the kinds. */
  readonly writer?: WriterQuery;
}

/** A place in a buffer whose writer is wanted. */
export interface WriterQuery {
  /** The argument that the buffer is. */
  readonly argument: number;
  /** Bytes, both. */
  readonly offset: number;
  readonly size: number;
  /** Called when the launch has ended, unless nobody wrote there. */
  tell(writer: Writer): void;
}

/** A thread that wrote, and the line of PTX by which, where the metallib says. */
export interface Writer {
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly line: number | undefined;
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
  /** Told now and then how many blocks have ended, of how many, by devices that know. */
  readonly progress?: (done: number, total: number) => void;
}

export interface LaunchResult {
  /** Kernel time without compilation, milliseconds. */
  readonly durationMs: number;
}

/** A launch under way. */
export interface PendingLaunch {
  /** What `launch` would have given; never rejects. Diagnostics are reported before it resolves. */
  readonly done: Promise<LaunchResult | undefined>;
  /** Stops it; `done` then resolves to nothing after CM6016 is reported. The device stays usable. */
  cancel(): void;
  /** Blocks that have ended, of how many. */
  progress(): { readonly done: number; readonly total: number };
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
  /** Has one kernel run while the caller goes on. Launches that are under way at once may run at once; memory that they use has to stay until they are done. */
  start?(request: LaunchRequest, diagnostics: Diagnostics): PendingLaunch;
}

export interface LoadOptions {
  /** Values of function constants, by name or number; `KernelReflection.constants` says which a kernel has. */
  readonly constants?: readonly GivenConstant[];
  /** The kernels that are going to be launched, where the file has them: the others need not be made ready. */
  readonly kernels?: readonly string[];
}

/** PTX with what our own front end found in it: the layout of the kernels' parameters is not the driver's to say. */
export interface PtxModule {
  readonly source: SourceFile;
  readonly kernels: readonly KernelReflection[];
}

export interface Device {
  readonly info: DeviceInfo;
  /** Memory of zeros; nothing after reporting CM6012. `isSeen`: where the device has memory of several kinds, one that the host sees (`view`). */
  allocate(sizeBytes: number, diagnostics: Diagnostics, isSeen?: boolean): DeviceBuffer | undefined;
  /** Reads and compiles a metallib; nothing after reporting CM40xx or CM20xx. */
  load(metallib: Uint8Array, diagnostics: Diagnostics, options?: LoadOptions): DeviceModule | undefined;
  /** Takes PTX as it is: the CUDA device alone, which has no use for a metallib. Nothing after reporting CM6041 or CM6012. */
  loadPtx?(module: PtxModule, diagnostics: Diagnostics): DeviceModule | undefined;
  close(): void;
}
