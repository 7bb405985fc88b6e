/**
 * Facts per target: everything in a metallib that depends on the system it is made for, one row each.
 * Source: real metallibs of macOS 11 to 26 (JuliaGPU/Metal.jl test/metallib, darlinghq/indium, a2flo/floor).
 */

export interface Target {
  readonly name: TargetName;
  readonly triple: string;
  readonly airVersion: readonly [number, number, number];
  readonly metalVersion: readonly [number, number, number];
  /** `SDK Version` module flag. */
  readonly sdkVersion: readonly number[];
  readonly container: { readonly major: number; readonly minor: number; readonly patch: number };
  readonly os: { readonly major: number; readonly minor: number; readonly patch: number };
  /** Whether operations that only the CPU device understands may be emitted. */
  readonly allowsCpuOnly: boolean;
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

/** Whether the target's AIR has fences of memory. */
export const hasFences = ({ airVersion, allowsCpuOnly }: Target): boolean => airVersion[1] >= 7 || allowsCpuOnly;

export type TargetName = 'macos14' | 'macos15' | 'cpu';

const macos14: Target = {
  name: 'macos14',
  triple: 'air64-apple-macosx14.0.0',
  airVersion: [2, 6, 0],
  metalVersion: [3, 1, 0],
  sdkVersion: [14, 4],
  container: { major: 1, minor: 2, patch: 7 },
  os: { major: 14, minor: 0, patch: 0 },
  allowsCpuOnly: false,
  shared: appleShared,
};

const macos15: Target = {
  name: 'macos15',
  triple: 'air64-apple-macosx15.0.0',
  airVersion: [2, 7, 0],
  metalVersion: [3, 2, 0],
  sdkVersion: [15, 0],
  container: { major: 1, minor: 2, patch: 8 },
  os: { major: 15, minor: 0, patch: 0 },
  allowsCpuOnly: false,
  shared: appleShared,
};

/** Targets by name; `cpu` is macOS 14 AIR plus what only the CPU device runs. */
export const targets: Record<TargetName, Target> = {
  macos14,
  macos15,
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
