/** A kernel of a loaded library, and its compiled code. */
import type { KernelReflection } from '../../../air/index.ts';
import type { FmaMode } from '../../../engine/codegen/fma-mode.ts';
import type { Plan } from '../../../engine/index.ts';
import type { Kernel } from '../../../ir/index.ts';
import type { Dim3, SanitizeKind } from '../../device.ts';
import type { KernelCode } from '../native/module.ts';
import type { Instrumented } from '../observe/observer.ts';
import type { AccessChecks } from '../sanitizer/fast/insert-checks.ts';
import type { Instruments } from './instruments.ts';
import type { KnownLaunch } from './launch-facts.ts';
import type { NativeTwin } from './native-twin.ts';
import type { Rivals } from './rivals.ts';

export interface LoadedKernel extends Rivals<CompiledKernel> {
  /** Bytes of the stack of a thread; 0 for a kernel without one. */
  readonly stackBytes: number;
  /** The kernel with a stack of so many bytes; undefined for a kernel without one. */
  withStack(bytes: number): LoadedKernel | undefined;
  readonly reflection: KernelReflection;
  /** The parameters of the raised kernel, whose slots the arguments are bound to. */
  readonly params: Kernel['params'];
  /** Initial bytes of the constant window. */
  readonly constants: Uint8Array;
  /** The code for blocks of a shape, for a launch of which something is known, compiled at the first call. */
  compiled(block: Dim3, facts?: KnownLaunch): CompiledKernel;
  /** Scalar code with instruments, compiled at the first call with these. */
  instrumented(how: Instruments): CompiledKernel;
  /** Vectorized code with fast checks for blocks of a shape, compiled at the first call; undefined if that is impossible. */
  checked(kinds: ReadonlySet<SanitizeKind>, block: Dim3): CompiledKernel | undefined;
}

export interface StorableCode {
  /** The module, or machine code. */
  readonly bytes: Uint8Array;
  /** How this machine computes multiply-adds, if the code depends on that. */
  readonly fma: FmaMode | undefined;
  /** What the code depends on of that which is known of a launch, as text. */
  readonly facts: string;
}

export interface CompiledKernel {
  /** Its module, or its native code; undefined if the module exceeds a limit of the engine. */
  readonly wasm: KernelCode | undefined;
  /** Of a module: the native code for the same blocks. */
  readonly twin?: NativeTwin<CompiledKernel> | undefined;
  /** Of code that is to be stored. */
  readonly stored?: StorableCode | undefined;
  /** The constant pool, which is at the end of the constant window. */
  readonly pool?: Uint8Array;
  /** The limit that the module exceeds, as text. */
  readonly excess: string | undefined;
  readonly windows: Plan['windows'];
  /** Bytes of the spill area of a block. */
  readonly recordBytes: number;
  /** Of scalar code: bytes behind the thread records in which products of matrices are computed. */
  readonly stagingBytes?: number;
  /** Threads of a lane group, of which a fault names the first; 1 for scalar code. */
  readonly lanes: number;
  /** Why a kernel that should be vectorized runs as scalar code. */
  readonly scalarReason: string | undefined;
  /** The fast checks of checked code. */
  readonly checks?: AccessChecks | undefined;
  readonly instrumented?: Instrumented | undefined;
  /** Of code that runs blocks in parts. */
  readonly parts?: { readonly hasClock: boolean } | undefined;
}
