/**
 * A WebAssembly encoder, and a decoder of what it writes. Knows the binary format; knows nothing of kernels. Start at `module.ts` and
 * `code.ts`; the instruction table is `opcodes.ts`.
 */
export { bodyLimit, type Code, localLimit, newCode } from './code.ts';
export type { Immediate, Instruction } from './instruction.ts';
export { newModule, type Signature, type WasmModule } from './module.ts';
export { hasImmediate, instructions, type NameWith, type NumberType, type OpOf, type ValueType } from './opcodes.ts';
export { type ReadBody, type ReadInstruction, readWasm, type WasmModuleRead } from './read/index.ts';
export { moduleText } from './text.ts';
