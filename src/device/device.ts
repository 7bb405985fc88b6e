/**
 * The interface of every device. A device loads the bytes of a metallib, never PTX. The exception is the CUDA device, the reference for
 * the others, which loads PTX only (`loadPtx`). Errors of a launch are diagnostics, not exceptions.
 */
import type { KernelReflection } from '../air/abi.ts';
import type { GivenConstant } from '../air/raise/function-constants.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { SourceFile } from '../base/source.ts';
import type { DeviceImages } from './images.ts';
import type { ProfileRequest } from './profile.ts';
import type { TraceRequest } from './trace.ts';

export type { Dim3 } from '../base/dim3.ts';

/** The limits of a device; sizes are in bytes. */
export interface DeviceLimits {
  readonly maxThreadsPerThreadgroup: number;
  readonly maxThreadgroupBytes: number;
  readonly maxBufferBytes: number;
  readonly simdWidth: number;
}

/**
 * The kind of a device to open: `auto` is the GPU of a Mac, otherwise the CPU device; `cuda:1` is the second CUDA device. Any other string is
 * accepted, and an unknown kind is CM6001 when it is opened.
 */
export type DeviceKind = 'auto' | DeviceInfo['kind'] | (string & {});

/** The kind, the name and the limits of a device. */
export interface DeviceInfo {
  readonly kind: 'cpu' | 'metal' | 'cuda' | 'opencl' | 'webgpu';
  /** The number among the CUDA devices, but for the first: `cuda:1` opens the one with 1. */
  readonly ordinal?: number;
  /** The name for people, with version or chip. */
  readonly name: string;
  readonly limits: DeviceLimits;
  /**
   * Whether a fused multiply-add takes several instructions: on the CPU device in engines whose vectors have none. A kernel for such a device is several
   * times as fast if it rounds products and sums each.
   */
  readonly emulatesFma?: boolean;
  /** On the CPU device: the bits of the vectors in which kernels run, 128 in WebAssembly and more as native code, which launches that take long become. */
  readonly vectorBits?: 128 | 256 | 512;
  /** Further properties, by the names of `cudaDeviceProp` where CUDA has one. */
  readonly properties?: DeviceProperties;
}

/** Properties by name; a list has one number for each dimension. */
export type DeviceProperties = Readonly<Record<string, string | number | readonly number[]>>;

/**
 * The compiler of the CPU device. `lane`: the scalar compiler, one thread after the other, which is the reference. `simd`: the vectorizer, lane
 * groups in vectors, if the kernel allows it. `auto`: the vectorizer for blocks that are worth it.
 */
export type Engine = 'auto' | 'lane' | 'simd';
/** `exact`: one rounding. `fast`: two roundings where the machine's vectors have no fused operation, so last bits may differ. */
export type Fma = 'exact' | 'fast';

/** Single-precision subnormals: `keep` computes with them, as IEEE 754 and NVIDIA GPUs do; `flush` treats them as zeros, as Apple GPUs do. */
export type Denormals = 'keep' | 'flush';

/** `always` compiles every kernel natively before its first launch. `auto` does so when launches have taken long enough to pay for it. */
export const nativeModes = ['never', 'auto', 'always'] as const;
/** When the CPU device runs kernels as native code. */
export type NativeMode = (typeof nativeModes)[number];

/** How the CPU device runs kernels; other devices ignore it. */
export interface EngineOptions {
  readonly engine?: Engine;
  readonly fma?: Fma;
  readonly denormals?: Denormals;
  /** Lanes of a lane group, if they are not chosen by the vectorizer: 4, 8, 16 or 32. Warp collectives always take a whole warp. */
  readonly lanes?: number;
  /**
   * Most threads that run the blocks of a launch; the number of cores by default. With 1, `DeviceModule.launch` uses the calling thread only,
   * and a launch in the background one worker.
   */
  readonly threads?: number;
  /** Whether the CPU device runs native code in place of WebAssembly where it can: under Bun on x86-64 Linux. `auto` is the default. */
  readonly native?: NativeMode;
}

/** How a device is opened. */
export interface OpenOptions extends EngineOptions {
  /**
   * Has the CPU device run `DeviceModule.start` on a worker even if `threads` is 1, so that the calling thread continues and can cancel the
   * launch. By default that takes at least two threads, because code for memory that threads share has slower atomics.
   */
  readonly inBackground?: boolean;
  /** On the Metal device: what the driver gets of a library. `auto` is the default. */
  readonly via?: Via;
  /** On the WebGPU device: which operations on floats are exact. `exact` is the default. */
  readonly fp?: Fp;
}

/**
 * `exact` is IEEE 754 as PTX has it, in integers where the GPU is not measured to be exact; `fast` takes the operators and functions of WGSL as they
 * are, which may take subnormal numbers for zeros, fuse products with sums, and be off in quotients, roots and functions.
 */
export const fps = ['exact', 'fast'] as const;
/** Which operations on floats are exact. */
export type Fp = (typeof fps)[number];

/**
 * A metallib as it is; its kernels as text in the Metal Shading Language, which the driver compiles; or the text if the driver refuses the
 * metallib.
 */
export const vias = ['auto', 'metallib', 'source'] as const;
/** What the driver of the Metal device gets of a library. */
export type Via = (typeof vias)[number];

/** Memory of one device. Reading and writing copy. */
export interface DeviceBuffer {
  readonly size: number;
  write(bytes: Uint8Array, offset?: number): void;
  read(): Uint8Array;
  /** A view of the memory, if device and host share it: valid until `free`, and unchanged while no kernel runs. */
  view?(): Uint8Array;
  /** The memory of some of the bytes, all of which the caller writes at once, if device and host share it. */
  place?(offset: number, bytes: number): Uint8Array;
  /**
   * Copies from a buffer of this device, or of another one of its kind, without the host; false if there is no such way, and then nothing is
   * copied. Throws where `read` does.
   */
  copyFrom?(from: DeviceBuffer, fromOffset: number, bytes: number, offset: number): boolean;
  /**
   * Sets bytes behind the launches that are queued, without waiting for them; false if that is not there. Throws where `write` does.
   */
  fill?(value: number, offset: number, bytes: number): boolean;
  /** The address of the buffer for kernels that read it from memory. From then on, every launch may access the buffer. */
  deviceAddress(): bigint;
  /** Frees the memory; the buffer must not be used afterwards. */
  free(): void;
}

/** A buffer over a part of reserved memory, whose contents are those that the memory has. */
export interface PartBuffer extends DeviceBuffer {
  /** Makes it an allocation for whatever observes memory; `free` ends that. Kernels may use it in between. */
  begin(): void;
}

/** Memory that is divided into buffers by who has reserved it. */
export interface Reservation {
  readonly size: number;
  /** The buffer over some bytes from a multiple of 256 on. */
  part(offset: number, size: number): PartBuffer;
  /** Frees all of it; no part may be used afterwards. */
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
      /** Whether that byte may be outside of the buffer, on the CPU and CUDA devices: kernels compare such pointers, and index back into the buffer. */
      readonly isOutside?: boolean;
    }
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      /** Whether they are the handle of a texture or a surface of the driver (`Device.images`), which kernels follow like a pointer elsewhere. */
      readonly isHandle?: boolean;
    }
  /** The null pointer, for a parameter that is a pointer. */
  | { readonly kind: 'null' }
);

/** The faults that the CPU device can look for while a kernel runs. */
export const sanitizeKinds = ['memory', 'race', 'init', 'sync'] as const;
/** `writer` is no fault: it finds the last writer of the place in `SanitizeRequest.writer`. */
export type SanitizeKind = (typeof sanitizeKinds)[number] | 'writer';

/** A request to run a launch with the sanitizer. */
export interface SanitizeRequest {
  readonly kinds: ReadonlySet<SanitizeKind>;
  /** Findings that are reported; the rest are counted. 20 by default. */
  readonly limit?: number;
  /** The PTX text that the metallib was made from, for places in reports. */
  readonly source?: SourceFile;
  /** A query of the last writer, if `writer` is among the kinds. */
  readonly writer?: WriterQuery;
}

/** A query of the last writer of a place in a buffer. */
export interface WriterQuery {
  /** The index of the buffer argument. */
  readonly argument: number;
  /** Bytes, both. */
  readonly offset: number;
  readonly size: number;
  /** Called when the launch has ended, if there was a write. */
  take(writer: Writer): void;
}

/** A thread that has written, and the line of PTX, if the metallib has lines. */
export interface Writer {
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly line: number | undefined;
}

/**
 * The order in which blocks, the warps of a block, and threads between two barriers are executed: by number, in reverse, or in a random order
 * of a seed, a 32-bit integer.
 */
export type Order = { readonly kind: 'in-order' | 'reverse' } | { readonly kind: 'rand'; readonly seed: number };

/** One launch of a kernel. */
export interface LaunchRequest {
  readonly kernel: string;
  /** Threadgroups in the grid. */
  readonly grid: Dim3;
  /** Threads in a threadgroup. */
  readonly block: Dim3;
  readonly dynamicSharedBytes: number;
  /** Whether all blocks run at the same time, so that they can wait for each other. */
  readonly cooperative?: boolean;
  /** Blocks of a cluster along each axis, on the CPU device and on a CUDA device that has clusters; what the kernel requires by default, or one. */
  readonly cluster?: Dim3;
  /** Bytes of the heap of kernels, if this is the first launch of the device that needs it; 8 MiB by default. */
  readonly heapBytes?: number;
  /** Bytes of the stack of each thread, for a kernel that needs one; 8 KiB by default. */
  readonly stackBytes?: number;
  /** Bytes of each part, for a kernel with several threadgroup arguments. Parts start at multiples of 16. */
  readonly dynamicSharedParts?: readonly number[];
  readonly args: readonly LaunchArgument[];
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** Runs the launch with a sanitizer. Findings are reported (CM61xx), and the launch continues where it can. */
  readonly sanitize?: SanitizeRequest;
  /** On the CPU device: executes one thread at a time, in this order. A kernel without races and atomics gives the same result in any order. */
  readonly schedule?: Order;
  /** On the CPU device: traces one thread. */
  readonly trace?: TraceRequest;
  /** On the CPU device: counts what warps execute. */
  readonly profile?: ProfileRequest;
  /** Receives what the kernel prints after it has ended or failed, in one piece or several. */
  readonly print?: (text: Uint8Array) => void;
  /** Called from time to time with the number of blocks that have ended, by devices that know it. */
  readonly progress?: (done: number, total: number) => void;
}

/** The result of a launch that has run to its end. */
export interface LaunchResult {
  /** Kernel time without compilation, milliseconds. */
  readonly durationMs: number;
}

/** A running launch. */
export interface PendingLaunch<Result extends LaunchResult = LaunchResult> {
  /** The result of `launch`; never rejects. Diagnostics are reported before it resolves. */
  readonly done: Promise<Result | undefined>;
  /** Of a launch that has ended before the call returned: what `done` resolves to. */
  readonly ended?: { readonly result: Result | undefined };
  /** Stops the launch; `done` then resolves to undefined after CM6016. The device stays usable. */
  cancel(): void;
  /** The number of blocks that have ended, and of all blocks. */
  progress(): { readonly done: number; readonly total: number };
}

/** A `.global` variable of a module, which keeps its contents between launches. Reading and writing copy. */
export interface DeviceSymbol {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  write(bytes: Uint8Array, offset?: number): void;
  read(): Uint8Array;
  /** The variable as a buffer, whose address kernels may be given and which lives as long as the module; absent where the device has none. */
  readonly buffer?: DeviceBuffer;
}

/** A loaded library. */
export interface DeviceModule {
  readonly kernels: readonly KernelReflection[];
  /** The diagnostics of kernels that the device cannot run, by name. */
  readonly refused?: ReadonlyMap<string, Diagnostics>;
  /** The module's variables. */
  readonly symbols: readonly DeviceSymbol[];
  /**
   * Runs one kernel to its end. Returns undefined after reporting CM50xx (arguments, sizes, limits) or CM60xx (the kernel
   * failed: timeout, deadlocked barrier, access outside memory).
   */
  launch(request: LaunchRequest, diagnostics: Diagnostics): LaunchResult | undefined;
  /** Runs one kernel while the caller continues. Running launches may overlap; memory that they use must stay allocated until they are done. */
  start?(request: LaunchRequest, diagnostics: Diagnostics): PendingLaunch;
  /** Whether launches of a kernel can be queued, by name. */
  canQueue?(kernel: string): boolean;
  /**
   * Queues a launch of such a kernel behind those of the device that are queued, and returns what waits for its end: the result of `launch`, with its
   * diagnostics. Ends are asked for in the order of the launches. Memory that it uses must stay allocated until then.
   */
  queue?(request: LaunchRequest, diagnostics: Diagnostics): () => LaunchResult | undefined;
  /** Blocks of a kernel that a core runs at the same time, by a driver that knows it: the registers of a kernel limit them too. */
  blocksPerCore?(kernel: string, threads: number, dynamicSharedBytes: number): number | undefined;
  /**
   * Frees the memory of its variables and everything else that the device holds for it. None of its launches may be running; later ones are
   * refused (CM5061), and its symbols must not be used.
   */
  close(): void;
}

/** The options of loading a library. */
export interface LoadOptions {
  /** Values of function constants, by name or number; `KernelReflection.constants` lists those of a kernel. */
  readonly constants?: readonly GivenConstant[];
  /** The kernels that will be launched: others need not be loaded. Ignored if the file has none of them. */
  readonly kernels?: readonly string[];
  /** On the CPU device: lanes of a lane group for this library, in place of `EngineOptions.lanes`. */
  readonly lanes?: number;
  /** On the CPU device: where the code of kernels is kept. */
  readonly codes?: CodeStore;
}

/** A store of compiled code that outlives the process. What it returns is run, so only the user may be able to write it. */
export interface CodeStore {
  /** A key of texts and bytes, of this build of the program and of the runtime, whose features the code depends on. */
  keyOf(parts: readonly (string | Uint8Array)[]): string;
  /** The bytes of a key; undefined if there are none. */
  read(key: string): Uint8Array | undefined;
  write(key: string, bytes: Uint8Array): void;
}

/** PTX with the reflection of our own front end: the driver does not provide the layout of the parameters. */
export interface PtxModule {
  readonly source: SourceFile;
  readonly kernels: readonly KernelReflection[];
}

/** An open device. */
export interface Device {
  readonly info: DeviceInfo;
  /**
   * Allocates zeroed memory; undefined after reporting CM6012. `isSeen`: memory that the host can access (`view`), if the device has several
   * kinds. `alignment`: a power of two of which the address is a multiple, on the CPU device; others have one of their own.
   */
  allocate(sizeBytes: number, diagnostics: Diagnostics, isSeen?: boolean, alignment?: number): DeviceBuffer | undefined;
  /** Reserves memory for a pool, with any contents; undefined after reporting CM6012. `isSeen` as for `allocate`. */
  reserve?(sizeBytes: number, diagnostics: Diagnostics, isSeen?: boolean): Reservation | undefined;
  /** Reads and compiles a metallib; undefined after reporting CM40xx or CM20xx. */
  load(metallib: Uint8Array, diagnostics: Diagnostics, options?: LoadOptions): DeviceModule | undefined;
  /** Loads PTX: the CUDA device only, which does not load metallibs. Undefined after reporting CM6041 or CM6012. */
  loadPtx?(module: PtxModule, diagnostics: Diagnostics): DeviceModule | undefined;
  /** Textures and surfaces of a driver. Kernels of devices without them read descriptors in memory. */
  readonly images?: DeviceImages;
  close(): void;
}
