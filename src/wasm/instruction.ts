/** What is known of an instruction. */

/** What follows the opcode: nothing, one index, alignment and offset of an access, the number of a vector's lane, or both of these. */
export type Immediate = 'none' | 'index' | 'memory' | 'lane' | 'memoryLane';

export interface Instruction {
  /** One byte, or the prefix 0xfc or 0xfd and a number. */
  readonly code: readonly number[];
  readonly immediate: Immediate;
}
