/**
 * Facts per target: the parts of a metallib that depend on the target system, one row each.
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
  /** As in the header of the container. */
  readonly platform: 'macos' | 'ios';
  readonly container: { readonly major: number; readonly minor: number; readonly patch: number };
  readonly os: { readonly major: number; readonly minor: number; readonly patch: number };
  /** The features of the LLVM version that reads the module. */
  readonly dialect: Dialect;
  /** The scope operand of `air.simdgroup.barrier`. */
  readonly simdgroupBarrierScope: number;
  /** Whether operations of the CPU device may be emitted. */
  readonly allowsCpuOnly: boolean;
  /** Whether f64 is computed with pairs of floats instead of exactly, on a target without f64. */
  readonly emulatesDoubles?: boolean;
  readonly shared: SharedLimits;
}

/** Limits of threadgroup memory in bytes: declared by a kernel, and in total with the launch's dynamic part. */
export interface SharedLimits {
  readonly declared: number;
  readonly total: number;
}

/** Every Apple GPU. */
const appleShared: SharedLimits = { declared: 32768, total: 32768 };
/** NVIDIA GPUs: the limit of ptxas for any architecture, and the opt-in limit of a block on sm_90. */
const nvidiaShared: SharedLimits = { declared: 49152, total: 232448 };

/** The features and spellings of an LLVM version. */
export interface Dialect {
  /** The number of operands in the records of functions and variables. */
  readonly functionOperands: 18 | 21;
  readonly variableOperands: 16 | 18;
  /** The highest attribute number; a reader fails at a higher one (`Unknown attribute kind`). */
  readonly lastAttribute: number;
  /** Whether a write-only buffer is marked as such. */
  readonly marksWriteonly: boolean;
  /** Attributes of a definition that keep the frame pointer, and whether there is a module flag for it. */
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
  marksWriteonly: true,
  framePointer: { 'frame-pointer': 'all' },
  hasFramePointerFlag: true,
  hasFneg: true,
  hasBfloat: true,
};

/**
 * Up to macOS 13, AIR 2.5. Source: the same five programs of macOS 13, all made by one compiler (metalfe 32023.154): records; no attribute
 * above `writeonly`, which is not used either, although `vadd` only writes its third buffer; no flag. DXMT, llvm-downgrade and floor list
 * further features that older readers lack.
 */
const llvm13: Dialect = {
  functionOperands: 18,
  variableOperands: 16,
  lastAttribute: 52,
  marksWriteonly: false,
  framePointer: { 'no-frame-pointer-elim': 'true', 'no-frame-pointer-elim-non-leaf': 'true' },
  hasFramePointerFlag: false,
  hasFneg: false,
  hasBfloat: false,
};

/** The dialect of a module by its AIR version. */
export const dialectOf = (airVersion: readonly number[]): Dialect => ((airVersion[1] ?? 0) >= 6 ? llvm14 : llvm13);

/** Whether the target's AIR has memory fences. */
export const hasFences = ({ airVersion, allowsCpuOnly }: Target): boolean => airVersion[1] >= 7 || allowsCpuOnly;

/** The name of a target. */
export type TargetName = 'macos13' | 'macos14' | 'macos15' | 'macos26' | 'ios17' | 'ios18' | 'cpu';

/** All targets up to AIR 2.7: 1 in its output in public repositories, as in DXMT and Metal.jl. */
const oldBarrierScope = 1;

/** As in `kernel.13` of Metal.jl: header, triple, flags and versions. Its compiler came with the SDK of macOS 14.4. */
const macos13: Target = {
  name: 'macos13',
  triple: 'air64-apple-macosx13.0.0',
  airVersion: [2, 5, 0],
  metalVersion: [3, 0, 0],
  sdkVersion: [14, 4],
  platform: 'macos',
  container: { major: 1, minor: 2, patch: 7 },
  os: { major: 13, minor: 0, patch: 0 },
  dialect: llvm13,
  simdgroupBarrierScope: oldBarrierScope,
  allowsCpuOnly: false,
  shared: appleShared,
};

/** As in `kernel.14`. */
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

/** As in `kernel.15`. */
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
 * As in `kernel.26`. From here on Apple gives the simdgroup barrier a scope of its own (its AIR 2.8 in public repositories). Apple's own
 * files name the library in a section `HDYN` and have a reflection list; files of Metal.jl and MetalASM are reported to load without
 * either.
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
 * As in UntoldEngine's library for iOS 17.5 (compute kernels among 55 functions, SDK 17.5), and react-native-svg's for 17.4. Both
 * repositories have the same programs for macOS 14, which differ only in the header's platform, system and macOS bit, the triple, and the
 * SDK's version.
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
 * As in SwiftGLTF's library for iOS 18.5 (8 compute kernels, SDK 18.5), compared with the same program for macOS 15: no other differences.
 * Both have 1.2.7 in the header, which Apple's `metallib` writes where `metal` itself writes 1.2.8.
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

/** Targets by name; `cpu` is macOS 14 AIR plus the CPU device's operations. */
export const targets: Record<TargetName, Target> = {
  macos13,
  macos14,
  macos15,
  macos26,
  ios17,
  ios18,
  cpu: { ...macos14, name: 'cpu', allowsCpuOnly: true, shared: nvidiaShared },
};

/** The default target on systems other than Macs: the oldest macOS with memory fences. */
export const defaultTarget: TargetName = 'macos15';

/** The newest target whose metallibs a macOS loads. */
export function targetOfMacos(major: number): TargetName {
  if (major >= 26) return 'macos26';
  return major >= 15 ? 'macos15' : major === 14 ? 'macos14' : 'macos13';
}

/** The data layout of every known AIR module. */
export const dataLayout =
  'e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32';

/** Kernel limits that all Apple GPUs share. */
export const limits = {
  /** Buffer slots of a pipeline. */
  buffers: 31,
  threadsPerThreadgroup: 1024,
} as const;

/** AIR address spaces by name. */
export const spaces = { thread: 0, device: 1, constant: 2, threadgroup: 3 } as const;
