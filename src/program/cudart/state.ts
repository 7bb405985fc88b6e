/** The state of the CUDA runtime of one program: its device, its code, its memory, its streams and events, and its errors. */
import { type CudaError, cudaErrors } from '../../api/cuda-errors.ts';
import { errorOf } from '../../api/failures.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Device, DeviceModule, LaunchRequest } from '../../device/index.ts';
import type { DevicePool } from '../../device/pool/index.ts';
import type { HostMemory } from '../memory.ts';
import { type Allocation, Allocations } from './allocations.ts';
import type { CudaArray, MipmappedArray, ShadowImage, TextureObject } from './array-types.ts';
import { GraphMemory } from './graph-blocks.ts';
import type { Capture, Graph } from './graph-types.ts';
import type { Link } from './link-types.ts';
import { Pools } from './pool-list.ts';
import type { VirtualMemory } from './virtual-ranges.ts';

/** The name of an error. */
export type CudaErrorName = CudaError['name'];

/** Thrown inside this room by a function that fails, and caught where it was called, which returns the number. */
export class CudaFailure extends Error {
  readonly cuda: CudaErrorName;
  constructor(cuda: CudaErrorName) {
    super(cuda);
    this.cuda = cuda;
  }
}

/** The driver's number of an error. */
export function driverNumberOf(cuda: CudaErrorName): number {
  const { number, driverNumber = number } = (cudaErrors as Readonly<Record<string, CudaError>>)[cuda]!;
  return driverNumber;
}

/** Fails with an error of CUDA. */
export function fail(cuda: CudaErrorName): never {
  throw new CudaFailure(cuda);
}

/** Device code of one file of the program, loaded when it is first used. */
export interface CodeImage {
  /** PTX. */
  readonly text: string;
  module: DeviceModule | undefined;
}

/** What a stub or a variable on the host stands for. */
export interface Named {
  readonly name: string;
  readonly image: CodeImage;
}

/** A variable on the device; `unused` holds the contents of one that no kernel of its code names. */
export interface Variable extends Named {
  readonly size: number;
  readonly unused: Uint8Array;
}

export interface CudaEvent {
  /** Milliseconds, once it is recorded. */
  at: number | undefined;
  readonly isTimed: boolean;
  /** The capture that it was recorded in, and the nodes before it. */
  captured: { readonly capture: Capture; readonly nodes: readonly bigint[] } | undefined;
}

export interface LaunchShape {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly sharedBytes: number;
  readonly stream: bigint;
  /** Whether its blocks run at the same time. */
  readonly cooperative?: boolean;
  /** Blocks of a cluster along each axis. */
  readonly cluster?: readonly [number, number, number];
}

/** What the program gives to the runtime: its memory, and functions that it exports. */
export interface ProgramExports {
  malloc(bytes: bigint): bigint;
  free(pointer: bigint): void;
  /**
   * Gives the program memory at an address of the device, if it can have memory there: managed memory has then one address for both.
   * Without this function, the program follows addresses of managed memory through its own memory.
   */
  share?(address: bigint, bytes: number): boolean;
  /** Takes that memory away. */
  unshare?(address: bigint, bytes: number): void;
  /** The function at a place of the program's table. */
  function(pointer: bigint): ((...args: (bigint | number)[]) => unknown) | undefined;
}

/** A launch that failed. */
export interface FailedLaunch {
  readonly module: DeviceModule;
  readonly block: LaunchShape['block'];
  /** Launches it once more, on a module of the same code. Returns what that reports. */
  again(module: DeviceModule, how: Partial<LaunchRequest>): Diagnostics;
}

/** Device code that a program compiles while it runs. */
export interface RuntimeSource {
  /** The name in messages. */
  readonly name: string;
  readonly text: string;
  /** Headers in memory by the names of their `#include`. */
  readonly headers: ReadonlyMap<string, string>;
  /** Options as words of nvcc. */
  readonly words: readonly string[];
  /** Whether functions without a word for where they run are those of a device. */
  readonly isDeviceByDefault: boolean;
  /** Whether headers are searched in the folder of its name too, from the current one. */
  readonly hasSourceFolder: boolean;
  /** Lines behind the text that are not the program's. */
  readonly suffix: string;
}

export interface CudaOptions {
  readonly device: Device;
  /** Loads PTX on the device. Undefined after reporting. */
  load(ptx: string, diagnostics: Diagnostics): DeviceModule | undefined;
  /** The initial bytes of the variables of PTX by name. Without it, variables that no kernel names start with zeros. */
  initialValues?(ptx: string): ReadonlyMap<string, Uint8Array>;
  /**
   * The PTX that a fat binary has at a pointer of the program; text with a zero byte behind it by default. `parts` are the fat binaries that it was
   * linked of, if nvcc has linked it.
   */
  readImage?(memory: HostMemory, pointer: bigint, parts?: readonly bigint[]): string | undefined;
  /** The bytes of a file that the program may read. */
  readFile?(path: string): Uint8Array | undefined;
  /** Compiles device code while the program runs: PTX if that worked, and what was said. Absent if nothing compiles. */
  compile?(source: RuntimeSource): { readonly ptx: string | undefined; readonly log: string };
  /** The PTX of several modules as one; undefined after reporting. Absent if nothing links. */
  link?(texts: readonly string[]): string | undefined;
  /** Adds to the diagnostics of a kernel that accessed an address outside of memory where it did. */
  explainFault?(fault: Diagnostics, launch: FailedLaunch): void;
  /** Receives diagnostics of code and of launches. */
  report(diagnostics: Diagnostics): void;
  /** What the next launch of a kernel is run with: limits, and instruments that report. */
  instruments?(
    module: DeviceModule,
    kernel: string,
  ): Partial<Pick<LaunchRequest, 'timeoutMs' | 'sanitize' | 'schedule' | 'profile' | 'trace'>>;
  /** Receives each pool of memory that the program uses, for its statistics. */
  observePool?(pool: DevicePool): void;
  /** Receives what kernels print. */
  print(text: Uint8Array): void;
  /** Milliseconds since some moment. */
  now(): number;
}

/** A variable of an image, whose initial bytes are looked for when they are first needed. */
class RegisteredVariable implements Variable {
  readonly name: string;
  readonly image: CodeImage;
  readonly size: number;
  readonly #initial: CudaOptions['initialValues'];
  #unused: Uint8Array | undefined;

  constructor({ name, image }: Named, size: number, initial: CudaOptions['initialValues']) {
    this.name = name;
    this.image = image;
    this.size = size;
    this.#initial = initial;
  }

  get unused(): Uint8Array {
    if (this.#unused) return this.#unused;
    this.#unused = new Uint8Array(this.size);
    this.#unused.set(this.#initial?.(this.image.text).get(this.name)?.subarray(0, this.size) ?? []);
    return this.#unused;
  }
}

/** Says beside faults of accesses that memory was refused before. */
function explainNull({ list }: Diagnostics, bytes: number): void {
  list.forEach((each, i) => {
    if (each.code !== 'CM6011') return;
    const note = `an allocation of ${bytes} bytes failed before: the device had no memory left, and the pointer is null or unset`;
    list[i] = { ...each, notes: [...each.notes, note] };
  });
}

export class CudaState {
  readonly options: CudaOptions;
  readonly allocations = new Allocations();
  readonly kernels = new Map<bigint, Named>();
  readonly variables = new Map<bigint, Variable>();
  /** Where variables are whose addresses the program has asked for. */
  readonly placed = new Map<bigint, Allocation>();
  /** Where variables of modules are that no kernel names. */
  readonly unnamed = new Map<CodeImage, Map<string, Allocation>>();
  readonly images = new Map<bigint, CodeImage>();
  readonly configurations: LaunchShape[] = [];
  readonly streams = new Map<bigint, { readonly flags: number; readonly priority: number }>();
  readonly events = new Map<bigint, CudaEvent>();
  /** Memory of the host that was allocated or registered for copies: bytes by pointer. */
  readonly pinned = new Map<bigint, { readonly bytes: number; readonly flags: number }>();
  /** Captures by stream, and graphs by handle. */
  readonly captures = new Map<bigint, Capture>();
  readonly graphs = new Map<bigint, Graph>();
  readonly executables = new Map<bigint, Graph>();
  readonly graphMemory = new GraphMemory();
  /** How a capture treats other threads; kept for programs that ask. */
  captureMode = 0;
  readonly pools: Pools;
  /** Links that are going on, by handle. */
  readonly links = new Map<bigint, Link>();
  readonly virtual: VirtualMemory = { ranges: new Map(), memories: new Map() };
  /** Arrays, mipmapped ones, and textures and surfaces by handle. */
  readonly arrays = new Map<bigint, CudaArray>();
  readonly mipmaps = new Map<bigint, MipmappedArray>();
  readonly textures = new Map<bigint, TextureObject>();
  readonly surfaces = new Map<bigint, TextureObject>();
  /** Images of arrays by their memory, on a device whose driver has images. */
  readonly shadows = new Map<Allocation, ShadowImage>();
  /** Whether a kernel has used the heap, whose size is then fixed. */
  hasHeap = false;
  /** Limits that the program has set, by number. */
  readonly limits = new Map<number, number>();
  /** Most dynamic shared memory that the program allows, by stub. */
  readonly dynamicShared = new Map<bigint, number>();
  /** Kernels, by stub, that the program allows clusters of more than 8 blocks. */
  readonly largeClusters = new Set<bigint>();
  /** Contexts of the driver API: the current one last. */
  readonly contexts: bigint[] = [];
  /** Those that the program has created and not destroyed, whether they are current or not. */
  readonly ownContexts = new Set<bigint>();
  /** Modules and functions of the driver API by handle. */
  readonly modules = new Map<bigint, CodeImage>();
  readonly functions = new Map<bigint, Named>();
  /** Whether the program has called `cuInit` or a function of the runtime. */
  isInitialized = false;
  /** Whether the program has called a function of the runtime, which uses the device's own context. */
  usesRuntime = false;
  /** Texts of the runtime in memory of the program, which live as long as it. */
  readonly texts = new Map<string, bigint>();
  /** Bytes of the first allocation of the device that failed. Programs that do not look give kernels a null pointer then. */
  refusedBytes: number | undefined;
  /** The release of the runtime that a program of the machine is linked to: 11 to 13. Undefined for programs with headers of this package. */
  version: number | undefined;
  memory!: HostMemory;
  exports!: ProgramExports;
  /** The error of the last call that failed. */
  last: CudaErrorName = 'cudaSuccess';
  /** The error that all later calls return. */
  sticky: CudaErrorName | undefined;
  #handles = 0n;

  constructor(options: CudaOptions) {
    this.options = options;
    this.pools = new Pools(options.device, (pool) => options.observePool?.(pool));
  }

  /** A number for an opaque pointer, which is no address of the host or of a device. */
  newHandle(): bigint {
    this.#handles += 16n;
    return (1n << 48n) + this.#handles;
  }

  /** Registers a variable of the device by what stands for it on the host. */
  addVariable(pointer: bigint, named: Named, size: number): void {
    this.variables.set(pointer, new RegisteredVariable(named, size, this.options.initialValues));
  }

  /** The loaded code of an image. */
  moduleOf(image: CodeImage): DeviceModule {
    if (image.module) return image.module;
    const diagnostics = new Diagnostics();
    const module = this.options.load(image.text, diagnostics);
    if (!module) this.failWith(diagnostics);
    image.module = module;
    return module!;
  }

  /** Reports diagnostics, and fails with the error of CUDA that they stand for. */
  failWith(diagnostics: Diagnostics): never {
    if (this.refusedBytes !== undefined) explainNull(diagnostics, this.refusedBytes);
    this.options.report(diagnostics);
    const { name, isSticky } = errorOf(diagnostics).cuda;
    if (isSticky) this.sticky ??= name;
    fail(name);
  }

  /** The number of an error, which becomes the last one. */
  note(cuda: CudaErrorName): number {
    if (cuda !== 'cudaSuccess') this.last = cuda;
    return (cudaErrors as Readonly<Record<string, CudaError>>)[cuda]!.number;
  }
}
