/** Machine instructions: allocation of registers, and the code of allocated functions. */
export { allocate } from './allocate.ts';
export type { AllocatedBlock, AllocatedFunction, Slot, Step } from './allocated.ts';
export { emitFunction } from './emit.ts';
export * from './types.ts';
