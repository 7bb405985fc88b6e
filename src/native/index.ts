/**
 * The native compiler: modules of WebAssembly, as `src/wasm` encodes them, to machine code of x86-64 with the same results. Knows nothing of kernels, and runs
 * no code. Start at `compile.ts`, which has the steps in their order.
 */
export {
  compileNative,
  type NativeCode,
  type NativeEntry,
  type NativeGlobal,
  type NativeImport,
  type NoCode,
} from './compile.ts';
export { contextOffsets, type Trap, traps } from './context.ts';
export type { Features } from './x64/types.ts';
