/**
 * The approximate reciprocal in AIR: a quotient of 1 that may be a reciprocal and an approximation (`arcp afn`). Its error is one unit in the last
 * place in Metal's fast arithmetic. Source: Metal Shading Language Specification 3.2, table 8.2.
 */
import type { Constant, InstructionOf } from '../bitcode/model.ts';
import { types } from '../bitcode/types.ts';

/** `arcp` and `afn`. */
export const reciprocalFlags = 16 | 64;

export const floatOne: Constant = { kind: 'constant', form: 'float', type: types.float, bits: 0x3f80_0000n };

/** Whether an instruction is such a quotient, also with further flags. */
export const isReciprocal = ({ opcode, flags, a, type }: InstructionOf<'binary'>): boolean =>
  opcode === 'fdiv' &&
  (flags & reciprocalFlags) === reciprocalFlags &&
  type === types.float &&
  a.kind === 'constant' &&
  a.form === 'float' &&
  a.bits === floatOne.bits;
