/** The native compiler's face. */
export {
  compileNative,
  type NativeCode,
  type NativeEntry,
  type NativeGlobal,
  type NativeImport,
  type NoCode,
} from './compile.ts';
export { contextOffsets } from './select/layout.ts';
export { type Trap, traps } from './select/types.ts';
export type { Features } from './x64/types.ts';
