/** What the rules of instruction selection work with. */
import type { MachineInst, Register, RegisterClass } from '../machine/types.ts';
import type { Inst, SsaFunction, SsaType, Value } from '../ssa/types.ts';
import type { Features } from '../x64/types.ts';

export interface Selection {
  readonly fn: SsaFunction;
  readonly features: Features;
  /** The register of a value. */
  register(value: Value): Register;
  typeOf(value: Value): SsaType;
  /** A new register for a step between instructions. */
  fresh(registerClass: RegisterClass, bytes: 4 | 8 | 16 | 32 | 64): Register;
  add(inst: MachineInst): void;
  /** The instruction that defines a value; undefined for a parameter. */
  definition(value: Value): Inst | undefined;
  /** How often a value is used. */
  useCount(value: Value): number;
  /** The number that an integer constant is; undefined for any other value. */
  constant(value: Value): bigint | undefined;
}

/** Adds the machine instructions of an instruction. */
export type Rule = (s: Selection, inst: Inst) => void;
