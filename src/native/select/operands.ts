/** Operands of instructions: registers, immediates and stack slots by what a value is. */
import type { Places, Register } from '../machine/types.ts';
import type { SsaType, Value } from '../ssa/types.ts';
import {
  type Assembler,
  type GeneralOperand,
  general,
  type ImmediateOperand,
  immediate,
  type MemoryOperand,
  type VectorOperand,
  vector,
} from '../x64/types.ts';
import type { Selection } from './types.ts';

/** Bytes of an integer's register that instructions use. */
export const widthOf = (type: SsaType): 4 | 8 => (type === 'i64' || type === 'f64' ? 8 : 4);

/** The general register of use number `i`. */
export const generalUse = (places: Places, i: number, bytes: 1 | 2 | 4 | 8): GeneralOperand => general(places.uses[i]!, bytes);

/** The vector register of use number `i`, of which an instruction uses a scalar or 128 bits. */
export const vectorUse = (places: Places, i: number): VectorOperand => vector(places.uses[i]!);

/** An integer constant that an instruction of so many bytes has as an immediate, sign-extended from 32 bits. */
export function immediateOf(s: Selection, value: Value, bytes: 4 | 8): bigint | undefined {
  const bits = s.constant(value);
  if (bits === undefined) return undefined;
  const signed = BigInt.asIntN(bytes * 8, bits);
  return BigInt.asIntN(32, signed) === signed ? signed : undefined;
}

/** An operand that is an immediate, memory, a register or its stack slot. */
export interface Source {
  readonly uses: readonly Register[];
  /** Whether it is a register, which may be read from its stack slot. */
  readonly isRegister: boolean;
  operand(places: Places, first: number): GeneralOperand | MemoryOperand | ImmediateOperand;
}

const loads = { 4: 'i32.load', 8: 'i64.load' } as const;

/** The integer `value` as the last operand of an instruction, which is allowed to be an immediate or memory. */
export function sourceOf(s: Selection, value: Value, bytes: 4 | 8): Source {
  const constant = immediateOf(s, value, bytes);
  if (constant !== undefined) return { uses: [], isRegister: false, operand: () => immediate(constant) };
  const load = s.definition(value)?.op === loads[bytes] ? s.memoryOf(value) : undefined;
  if (load) return { uses: load.address.uses, isRegister: false, operand: (places, first) => load.address.operand(places, first) };
  return { uses: [s.register(value)], isRegister: true, operand: (places, first) => places.slot ?? general(places.uses[first]!, bytes) };
}

/** The last operand in the register that it has, or its stack slot. */
export const generalOrSlot = (places: Places, i: number, bytes: 1 | 2 | 4 | 8): GeneralOperand | MemoryOperand =>
  places.slot ?? general(places.uses[i]!, bytes);

export const vectorOrSlot = (places: Places, i: number): VectorOperand | MemoryOperand => places.slot ?? vector(places.uses[i]!);

/** Sets a general register to an unsigned number of up to 64 bits. It changes no flags. */
export function setConstant(out: Assembler, to: number, bits: bigint): void {
  const signed = BigInt.asIntN(64, bits);
  if (bits <= 0xffff_ffffn) out.emit('mov', general(to, 4), immediate(bits));
  else out.emit('mov', general(to, 8), immediate(signed));
}
