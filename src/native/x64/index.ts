/** The assembler of x86-64. */
export { newAssembler } from './assembler.ts';
export * from './types.ts';
