/**
 * LLVM bitcode as a library: modules with typed pointers, written and read at LLVM 14's level, and modules of LLVM 19 and later, read.
 * Knows LLVM; knows neither Metal nor PTX. Start at `model.ts` (what a module is) and `records.ts` (how it is numbered), then `write/index.ts` and `read/index.ts`.
 */
export { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
export { locationFields, locationOf } from './locations.ts';
export * from './model.ts';
export { eachOperand, operandsOf, partsOf, someOperand, successorsOf } from './operands.ts';
export { parseModules } from './parse/index.ts';
export { readModule, tripleOf } from './read/index.ts';
export { disassemble } from './text/module.ts';
export { bitWidth, spell, type Type, type TypeOf, types } from './types.ts';
export { writeModule } from './write/index.ts';
