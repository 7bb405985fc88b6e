/** Where the code of a module finds what does not belong to one function: globals and imports in the context, other functions, and ways out. */
import type { NumberType, Signature } from '../../wasm/index.ts';
import type { Label } from '../x64/types.ts';

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
