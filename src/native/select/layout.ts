/** Where the code of a module finds what does not belong to one function: globals and imports in the context, other functions, and ways out. */
import type { NumberType, Signature } from '../../wasm/index.ts';
import type { Label } from '../x64/types.ts';

/** Offsets in the context, which `reserved.context` holds the address of. */
export const contextOffsets = {
  /** The stack pointer of the entry, of 8 bytes. */
  stack: 0,
  /** Why the module was left: one of `traps`, or 0. */
  trap: 8,
  /** The address of the memory, and its bytes: 8 bytes each. */
  memory: 16,
  memoryBytes: 24,
  /** The result of an exported function, of 8 bytes. */
  result: 32,
  /** The addresses of imported functions, 8 bytes each; globals follow. */
  imports: 64,
} as const;

export interface GlobalLayout {
  readonly type: NumberType;
  /** Its offset in the context; 8 bytes, of which an i32 or f32 has the lower 4. */
  readonly offset: number;
}

export interface ImportLayout {
  readonly signature: Signature;
  /** The offset of its address in the context. */
  readonly offset: number;
}

export interface LocalLayout {
  readonly signature: Signature;
  readonly label: Label;
}

export interface ModuleLayout {
  /** By the number of a function in the module: imports first. */
  readonly functions: readonly (ImportLayout | LocalLayout)[];
  readonly globals: readonly GlobalLayout[];
  /** By trap code, from 1 on: code that stores it and leaves. */
  readonly traps: readonly Label[];
  /** Code that leaves the module with the trap code that the context has. */
  readonly leave: Label;
}
