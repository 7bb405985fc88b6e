/** The pipeline as data: PTX text to metallib, reflection and diagnostics. Every stage can be looked at on the way. */
import type { Reflection } from '../air/abi.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';

/** Apple systems a metallib can be made for; `cpu` is AIR plus what only the CPU device understands. */
export type TargetName = 'macos14' | 'cpu';
export type Fp64Mode = 'soft' | 'native' | 'warn' | 'emulate';

export interface CompileOptions {
  readonly target?: TargetName;
  readonly fp64?: Fp64Mode;
  /** Only these entries; all by default. */
  readonly entries?: readonly string[];
}

export type Emit = 'metallib' | 'air' | 'air-ll' | 'ir' | 'ast' | 'reflection';

export interface Compiled {
  readonly metallib: Uint8Array;
  readonly reflection: Reflection;
}

/** Compiles PTX to a metallib; nothing after reporting errors. */
export declare function compile(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Compiled | undefined;

/** The text or bytes of one stage, as `cumetal build --emit` writes it. */
export declare function emit(
  source: SourceFile,
  what: Emit,
  options: CompileOptions,
  diagnostics: Diagnostics,
): Uint8Array | string | undefined;
