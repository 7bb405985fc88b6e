/** Options of a compilation. */
import { defaultTarget, type Reflection, type TargetName } from '../air/index.ts';
import type { AfterPass } from '../ir/index.ts';

/**
 * For Apple targets: `soft` (the default) is exact double precision in integer arithmetic, `warn` the same with a warning for
 * each use; `emulate` computes with pairs of floats, to 44 bits and more, with a warning; `native` emits double-precision operations,
 * as the target `cpu` always does.
 */
export const fp64Modes = ['soft', 'warn', 'emulate', 'native'] as const;
export type Fp64Mode = (typeof fp64Modes)[number];

/**
 * Products of matrices by warps: `exact` (the default) computes each thread's elements by itself, `fast` by matrices of 8 by 8 that the
 * GPU multiplies (`simdgroup_matrix`), where the result is as near as the instruction's row promises; the others stay exact.
 */
export const mmaModes = ['exact', 'fast'] as const;
export type MmaMode = (typeof mmaModes)[number];

/**
 * What is not exact, and compiled only where it is asked for: a `clock` that counts its readings, on targets without one; doubles as pairs of
 * floats (`fp64`, as `fp64: 'emulate'`); products of matrices by `simdgroup_matrix` (`mma`, as `mma: 'fast'`).
 */
export const fallbacks = ['clock', 'fp64', 'mma'] as const;
export type Fallback = (typeof fallbacks)[number];

/** The options of a compilation. */
export interface CompileOptions {
  /** `hostTarget` by default. */
  readonly target?: TargetName;
  /** The target of this system, which the command line and the API pass on a Mac; `macos15` by default. */
  readonly hostTarget?: TargetName | undefined;
  readonly fp64?: Fp64Mode;
  readonly mma?: MmaMode;
  /** Fallbacks for what the target cannot express exactly; none by default. `fp64` and `mma`, where they are given, come first. */
  readonly allowFallback?: readonly Fallback[];
  /**
   * Whether the target `cpu` is for devices that text is printed for: products of matrices become shuffles and sums, and clusters of blocks single blocks,
   * as such devices have no others.
   */
  readonly isForText?: boolean;
  /** The entries to compile; all by default. */
  readonly entries?: readonly string[];
  /** Whether forms that ptxas refuses and this compiler accepts are errors: versions, targets, unknown pragmas. */
  readonly ptxStrict?: boolean;
  /** Whether to report lints, and errors in functions that are not compiled. */
  readonly lints?: boolean;
  /** Whether the metallib carries information for the sanitizer: locations of instructions, and member masks of collectives. */
  readonly sanitize?: boolean;
  /** Whether the metallib carries information for the profiler and the trace: the start of each instruction. */
  readonly marks?: boolean;
  /** Observes each kernel after each pass of `passNames`. */
  readonly afterPass?: AfterPass | undefined;
  /** Whether the IR is verified after each pass; a broken promise is a bug that names the pass. */
  readonly verifiesPasses?: boolean;
  /** The host's SHA-256, if it is faster than the portable one. */
  readonly sha256?: (bytes: Uint8Array) => Uint8Array;
}

/** The name of the target that options choose. */
export const targetNameOf = ({ target, hostTarget }: CompileOptions): TargetName => target ?? hostTarget ?? defaultTarget;

/** Stages that `cumetal build --emit` writes. */
export const emits = ['metallib', 'air', 'air-ll', 'ir', 'ast', 'reflection'] as const;
/** A stage of the pipeline that `emit` returns. */
export type Emit = (typeof emits)[number];

/** A compiled module: the bytes of the metallib, and the reflection of its kernels. */
export interface Compiled {
  readonly metallib: Uint8Array;
  readonly reflection: Reflection;
}
