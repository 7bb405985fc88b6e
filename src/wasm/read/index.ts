/** A decoder of the modules that this room encodes: sections, and the instructions of bodies by their names. */
export type { ReadInstruction } from './instruction.ts';
export { type ReadBody, type ReadExport, type ReadGlobal, type ReadImport, readWasm, type WasmModuleRead } from './module.ts';
