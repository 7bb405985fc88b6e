/**
 * The approximate reciprocal in AIR: a quotient of 1 that may be a reciprocal and an approximation (`arcp afn`). Its error is one unit in the last
 * place in Metal's fast arithmetic. Source: Metal Shading Language Specification 3.2, table 8.2.
 */
import type { Constant, InstructionOf } from '../bitcode/model.ts';
import { types } from '../bitcode/types.ts';

/** `arcp` and `afn`. */
export const reciprocalFlags = 16 | 64;

const ones = {
  f32: { kind: 'constant', form: 'float', type: types.float, bits: 0x3f80_0000n },
  f64: { kind: 'constant', form: 'float', type: types.double, bits: 0x3ff0_0000_0000_0000n },
} as const satisfies Record<string, Constant>;

/** 1 as a constant; doubles are those of the CPU device. */
export const oneOf = (type: string): Constant => (type === 'f64' ? ones.f64 : ones.f32);

/** Whether an instruction is such a quotient, also with further flags. */
export const isReciprocal = ({ opcode, flags, a, type }: InstructionOf<'binary'>): boolean =>
  opcode === 'fdiv' &&
  (flags & reciprocalFlags) === reciprocalFlags &&
  (type === types.float || type === types.double) &&
  a.kind === 'constant' &&
  a.form === 'float' &&
  a.bits === (type === types.double ? ones.f64 : ones.f32).bits;
