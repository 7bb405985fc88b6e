/** Native code of a kernel's module as this process has it: data that a message to a worker can have. */
import type { ImportSignature, ScalarType } from '../../../ffi/native/calls.ts';

export interface NativeEntry {
  /** The offset of its first instruction. */
  readonly offset: number;
  readonly hasResult: boolean;
}

export interface NativeGlobal {
  readonly name: string | undefined;
  readonly type: ScalarType;
  /** Its offset in the context. */
  readonly offset: number;
  /** Its first bits. */
  readonly initial: bigint;
}

/** A function that is imported. */
export interface NativeImport extends ImportSignature {
  readonly name: string;
  /** The offset of its address in the context. */
  readonly offset: number;
}

/** What is known of native code, wherever it is. */
export interface NativeParts {
  readonly contextBytes: number;
  readonly entries: Readonly<Record<string, NativeEntry>>;
  readonly imports: readonly NativeImport[];
  readonly globals: readonly NativeGlobal[];
}

/** What a launch has in the place of a `WebAssembly.Module`. */
export interface NativeModule extends NativeParts {
  /** Where the code is. It stays there until the object that placed it is collected, which is on the thread that starts launches. */
  readonly address: number;
}

/** Code that runs blocks: a module of WebAssembly, or native code of one. */
export type KernelCode = WebAssembly.Module | NativeModule;

export const isNative = (code: KernelCode): code is NativeModule => 'contextBytes' in code;
