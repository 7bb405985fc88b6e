/**
 * Facts per target: everything in a metallib that depends on the system it is made for, one row each.
 * Source: real metallibs of macOS 11 to 26 (JuliaGPU/Metal.jl test/metallib, darlinghq/indium, a2flo/floor) and of iOS 17 and 18
 * (untoldengine/UntoldEngine, software-mansion/react-native-svg, nhiroyasu/SwiftGLTF).
 */

export interface Target {
  readonly name: TargetName;
  readonly triple: string;
  readonly airVersion: readonly [number, number, number];
  readonly metalVersion: readonly [number, number, number];
  /** `SDK Version` module flag. */
  readonly sdkVersion: readonly number[];
  /** As the header of the container names it. */
  readonly platform: 'macos' | 'ios';
  readonly container: { readonly major: number; readonly minor: number; readonly patch: number };
  readonly os: { readonly major: number; readonly minor: number; readonly patch: number };
  /** What the LLVM that reads the module knows. */
  readonly dialect: Dialect;
  /** Scope that `air.simdgroup.barrier` is given. */
  readonly simdgroupBarrierScope: number;
  /** Whether operations that only the CPU device understands may be emitted. */
  readonly allowsCpuOnly: boolean;
  /** Whether doubles are computed with pairs of floats where it has none, and not exactly. */
  readonly emulatesDoubles?: boolean;
  readonly shared: SharedLimits;
}

/** Most bytes of threadgroup memory: what a kernel may declare, and that with what a launch adds. */
export interface SharedLimits {
  readonly declared: number;
  readonly total: number;
}

/** Of every Apple GPU. */
const appleShared: SharedLimits = { declared: 32768, total: 32768 };
/** Of NVIDIA GPUs: what ptxas takes for any architecture, and what those of sm_90 give a block that asks for it. */
const nvidiaShared: SharedLimits = { declared: 49152, total: 232448 };

/** What modules of a level of LLVM may hold, and how it is spelled. */
export interface Dialect {
  /** Operands of the records of functions and of variables. */
  readonly functionOperands: 18 | 21;
  readonly variableOperands: 16 | 18;
  /** The highest number of an attribute; a reader that meets a higher one gives up (`Unknown attribute kind`). */
  readonly lastAttribute: number;
  /** Whether a buffer that is only written is said to be so. */
  readonly saysWriteonly: boolean;
  /** Attributes of a definition that keep the frame pointer, and whether a module flag says it too. */
  readonly framePointer: Readonly<Record<string, string>>;
  readonly hasFramePointerFlag: boolean;
  readonly hasFneg: boolean;
  readonly hasBfloat: boolean;
}

/**
 * From macOS 14, AIR 2.6 on. Source: kernel, kernels, constants, sources and debuginfo of macOS 14, 15 and 26 in Metal.jl
 * (records and spellings); UntoldEngine's kernels for macOS 14, iOS 17 and later (`nocallback`, 71, on LLVM's own intrinsics);
 * GPUCompiler.jl (bfloat from Metal 3.1 on).
 */
const llvm14: Dialect = {
  functionOperands: 21,
  variableOperands: 18,
  lastAttribute: 71,
  saysWriteonly: true,
  framePointer: { 'frame-pointer': 'all' },
  hasFramePointerFlag: true,
  hasFneg: true,
  hasBfloat: true,
};

/**
 * Up to macOS 13, AIR 2.5. Source: the same five programs of macOS 13, which one and the same compiler (metalfe 32023.154) made
 * (records; no attribute above `writeonly`, and that nowhere, though `vadd` only writes its third buffer; no flag); what older
 * readers lack besides: DXMT, llvm-downgrade, floor.
 */
const beforeLlvm14: Dialect = {
  functionOperands: 18,
  variableOperands: 16,
  lastAttribute: 52,
  saysWriteonly: false,
  framePointer: { 'no-frame-pointer-elim': 'true', 'no-frame-pointer-elim-non-leaf': 'true' },
  hasFramePointerFlag: false,
  hasFneg: false,
  hasBfloat: false,
};

/** That of a module by its AIR version. */
export const dialectOf = (airVersion: readonly number[]): Dialect => ((airVersion[1] ?? 0) >= 6 ? llvm14 : beforeLlvm14);

/** Whether the target's AIR has fences of memory. */
export const hasFences = ({ airVersion, allowsCpuOnly }: Target): boolean => airVersion[1] >= 7 || allowsCpuOnly;

export type TargetName = 'macos13' | 'macos14' | 'macos15' | 'macos26' | 'ios17' | 'ios18' | 'cpu';

/** What all targets up to AIR 2.7 give: its output in public repositories has 1, as DXMT and Metal.jl do. */
const oldBarrierScope = 1;

/** As `kernel.13` of Metal.jl has it: header, triple, flags and versions. Its compiler came with the SDK of macOS 14.4. */
const macos13: Target = {
  name: 'macos13',
  triple: 'air64-apple-macosx13.0.0',
  airVersion: [2, 5, 0],
  metalVersion: [3, 0, 0],
  sdkVersion: [14, 4],
  platform: 'macos',
  container: { major: 1, minor: 2, patch: 7 },
  os: { major: 13, minor: 0, patch: 0 },
  dialect: beforeLlvm14,
  simdgroupBarrierScope: oldBarrierScope,
  allowsCpuOnly: false,
  shared: appleShared,
};

/** As `kernel.14`. */
const macos14: Target = {
  name: 'macos14',
  triple: 'air64-apple-macosx14.0.0',
  airVersion: [2, 6, 0],
  metalVersion: [3, 1, 0],
  sdkVersion: [14, 4],
  platform: 'macos',
  container: { major: 1, minor: 2, patch: 7 },
  os: { major: 14, minor: 0, patch: 0 },
  dialect: llvm14,
  simdgroupBarrierScope: oldBarrierScope,
  allowsCpuOnly: false,
  shared: appleShared,
};

/** As `kernel.15`. */
const macos15: Target = {
  name: 'macos15',
  triple: 'air64-apple-macosx15.0.0',
  airVersion: [2, 7, 0],
  metalVersion: [3, 2, 0],
  sdkVersion: [15, 0],
  platform: 'macos',
  container: { major: 1, minor: 2, patch: 8 },
  os: { major: 15, minor: 0, patch: 0 },
  dialect: llvm14,
  simdgroupBarrierScope: oldBarrierScope,
  allowsCpuOnly: false,
  shared: appleShared,
};

/**
 * As `kernel.26`. From here on Apple gives the barrier of a simdgroup its own scope (its AIR 2.8 in public repositories). Its own
 * files name the library in a section `HDYN` and have a reflection list; those of Metal.jl and MetalASM are reported to load without either.
 */
const macos26: Target = {
  name: 'macos26',
  triple: 'air64_v28-apple-macosx26.0.0',
  airVersion: [2, 8, 0],
  metalVersion: [4, 0, 0],
  sdkVersion: [26, 5],
  platform: 'macos',
  container: { major: 1, minor: 2, patch: 9 },
  os: { major: 26, minor: 0, patch: 0 },
  dialect: llvm14,
  simdgroupBarrierScope: 4,
  allowsCpuOnly: false,
  shared: appleShared,
};

/**
 * As UntoldEngine's library for iOS 17.5 has it (kernels of compute among 55 functions, SDK 17.5), and react-native-svg's for 17.4:
 * beside the same programs for macOS 14, which stand in both repositories, nothing differs but the header's platform, system
 * and missing macOS bit, the triple, and the SDK's version.
 */
const ios17: Target = {
  ...macos14,
  name: 'ios17',
  triple: 'air64-apple-ios17.0.0',
  sdkVersion: [17, 5],
  platform: 'ios',
  os: { major: 17, minor: 0, patch: 0 },
};

/**
 * As SwiftGLTF's library for iOS 18.5 has it (8 kernels of compute, SDK 18.5), beside the same program for macOS 15: again nothing else differs.
 * Both say 1.2.7 in the header, which Apple's `metallib` writes where `metal` itself writes 1.2.8.
 */
const ios18: Target = {
  ...macos15,
  name: 'ios18',
  triple: 'air64-apple-ios18.0.0',
  sdkVersion: [18, 5],
  platform: 'ios',
  container: { major: 1, minor: 2, patch: 7 },
  os: { major: 18, minor: 0, patch: 0 },
};

/** Targets by name; `cpu` is macOS 14 AIR plus what only the CPU device runs. */
export const targets: Record<TargetName, Target> = {
  macos13,
  macos14,
  macos15,
  macos26,
  ios17,
  ios18,
  cpu: { ...macos14, name: 'cpu', allowsCpuOnly: true, shared: nvidiaShared },
};

/** The data layout of every AIR module seen. */
export const dataLayout =
  'e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32';

/** Limits of a kernel that every Apple GPU shares. */
export const limits = {
  /** Buffer slots of a pipeline. */
  buffers: 31,
  threadsPerThreadgroup: 1024,
} as const;

/** AIR address spaces by what they are. */
export const spaces = { thread: 0, device: 1, constant: 2, threadgroup: 3 } as const;
