/** The profile of a launch: counts of the CPU device for warps of 32 threads, by the model of `docs/profiler.md`. */

import type { Dim3 } from '../base/dim3.ts';
import type { SourceFile } from '../base/source.ts';
import type { GlobalAccesses, SharedAccesses } from '../ir/index.ts';

export type { GlobalAccesses, SharedAccesses };

/** A request to profile a launch. */
export interface ProfileRequest {
  /** The PTX text that the metallib was made from, for lines of its source. */
  readonly source?: SourceFile;
  /** Receives the profile of a launch that has run to its end. */
  readonly take: (profile: Profile) => void;
}

/** Classes of IR operations; accesses are classified by space. */
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
/** A class of IR operations. */
export type OperationClass = (typeof operationClasses)[number];

/** Executions by warps, and by their active threads. */
export interface Executions {
  warps: number;
  lanes: number;
}

/** Floating-point operations by precision; a fused multiply-add is two. */
export interface Flops {
  f16: number;
  f32: number;
  f64: number;
}

/** A kind of memory access. */
export type AccessKind = 'load' | 'store' | 'atomic';

/** Counts of executed operations and accesses. */
export interface ProfileCounts {
  /** Executions of source instructions. */
  readonly executed: Executions;
  readonly flops: Flops;
  readonly global: Record<AccessKind, GlobalAccesses>;
  readonly shared: Record<AccessKind, SharedAccesses>;
  /** Branches that warps executed, and those that diverged. */
  readonly branches: { executed: number; diverged: number };
}

/** The counts of one line of the source. */
export interface ProfileLine extends ProfileCounts {
  /** From 1 on; 0 for instructions without a line. */
  readonly line: number;
  readonly file: string;
  /** FILE:LINE of the source of the PTX, from `.loc`. */
  readonly source: string | undefined;
}

/** The counts of a launch by line and in total. */
export interface Profile {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Warps of the launch. */
  readonly warps: number;
  /** Distinct bytes of global memory that the launch read and wrote, in sectors of 32. */
  readonly footprint: { readonly read: number; readonly written: number };
  readonly total: ProfileCounts;
  /** Executions of IR operations by class. */
  readonly operations: Readonly<Record<OperationClass, Executions>>;
  /** In the order of the text. */
  readonly lines: readonly ProfileLine[];
}
