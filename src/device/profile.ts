/** What a launch did, as the CPU device counted it for warps of 32 threads; `docs/profiler.md` says by which model. */

import type { Dim3 } from '../base/dim3.ts';
import type { SourceFile } from '../base/source.ts';

export interface ProfileRequest {
  /** The PTX text that the metallib was made from, for lines of its source. */
  readonly source?: SourceFile;
  /** Takes the profile when the launch has ended well. */
  readonly take: (profile: Profile) => void;
}

/** Kinds of operations of the IR, and of memory that is accessed. */
export const operationClasses = [
  'float',
  'function',
  'integer',
  'address',
  'compare',
  'convert',
  'move',
  'global',
  'shared',
  'local',
  'constant',
  'atomic',
  'warp',
  'barrier',
  'branch',
  'other',
] as const;
export type OperationClass = (typeof operationClasses)[number];

/** How often something was executed: once for a warp, and once for each of its threads that took part. */
export interface Executions {
  warps: number;
  lanes: number;
}

export interface Flops {
  f16: number;
  f32: number;
  f64: number;
}

export type AccessKind = 'load' | 'store' | 'atomic';

/** Accesses of global memory by warps. */
export interface GlobalAccesses {
  requests: number;
  /** Threads that took part. */
  lanes: number;
  /** Bytes that were asked for, those that several threads of a warp ask for once. */
  bytes: number;
  /** Pieces of 32 and of 128 bytes, at multiples of these, that hold them. */
  sectors: number;
  lines: number;
  /** The fewest sectors that could hold as many bytes. */
  leastSectors: number;
}

/** Accesses of shared memory by warps. */
export interface SharedAccesses {
  requests: number;
  lanes: number;
  /** Steps in which the banks answer, and how many there would be without conflicts. */
  wavefronts: number;
  leastWavefronts: number;
}

export interface ProfileCounts {
  /** Instructions of the source: how often warps and threads executed them. */
  readonly executed: Executions;
  readonly flops: Flops;
  readonly global: Record<AccessKind, GlobalAccesses>;
  readonly shared: Record<AccessKind, SharedAccesses>;
  /** Branches that warps executed, and those at which their threads parted. */
  readonly branches: { executed: number; diverged: number };
}

export interface ProfileLine extends ProfileCounts {
  /** From 1 on; 0 for what has none. */
  readonly line: number;
  readonly file: string;
  /** FILE:LINE of the source of the PTX, where `.loc` says it. */
  readonly source: string | undefined;
}

export interface Profile {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Warps of the launch. */
  readonly warps: number;
  /** Bytes of global memory that the launch read and wrote at all, in sectors of 32. */
  readonly footprint: { readonly read: number; readonly written: number };
  readonly total: ProfileCounts;
  /** Operations of the IR, which is what the compiler has made of the source. */
  readonly operations: Readonly<Record<OperationClass, Executions>>;
  /** In the order of the text. */
  readonly lines: readonly ProfileLine[];
}
