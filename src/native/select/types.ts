/** What the rules of instruction selection work with. */
import type { Trap } from '../context.ts';
import type { MachineInst, Places, Register, RegisterClass } from '../machine/types.ts';
import type { Inst, SsaFunction, SsaType, Value } from '../ssa/types.ts';
import type { Assembler, Condition, Features, Label, MemoryOperand } from '../x64/types.ts';

/** Where an access finds its memory: registers that it uses, of which its instruction forms the operand. */
export interface Address {
  readonly uses: readonly Register[];
  /** The operand; `first` is the index in the instruction's `uses` of the first of `uses`. */
  operand(places: Places, first: number): MemoryOperand;
}

/** A condition as flags: `compare` sets them from the registers in `places.uses` from `first` on. */
export interface Test {
  readonly uses: readonly Register[];
  readonly temps?: readonly RegisterClass[];
  compare(out: Assembler, places: Places, first: number): void;
  /** It holds where one of these conditions of the flags does (`some`), or where all do (`every`): at most two. */
  readonly holds: { readonly some: readonly Condition[] } | { readonly every: readonly Condition[] };
}

export interface Selection {
  readonly fn: SsaFunction;
  readonly features: Features;
  /**
   * The register of a value. Instructions are selected from the last one to the first, and one without effects only where the register of its result was
   * asked for, so whoever computes a value with its operands' operands (`definition`) does not ask for the operands.
   */
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
  /** Whether nothing asked for the register of the value so far, so that its last use is most likely the one being selected. */
  isLast(value: Value): boolean;
  /** Whether the value is defined in the block that is being selected: its definition may be computed again in an instruction that uses it. */
  isInBlock(value: Value): boolean;
  /** Lets the allocator compute a register anew, from constants and reserved registers, where it would load the spilled value. */
  remake(register: Register, how: (out: Assembler, to: number) => void): void;
  /** The address of a load, a store or an atomic access, whose bytes follow from its name and types. Adds the check of its bounds where it needs one. */
  address(inst: Inst): Address;
  /**
   * The load that defines a value, if it can be done by the instruction being selected, its only user: in the same block, and with nothing in between that
   * writes memory or calls. The address has no check of bounds, which stays where the load was.
   */
  memoryOf(value: Value): { readonly inst: Inst; readonly address: Address } | undefined;
  /** The code that leaves the module for a reason. It destroys nothing that it needs, so any instruction may jump there. */
  trap(trap: Trap): Label;
}

/** Adds the machine instructions of an instruction. */
export type Rule = (s: Selection, inst: Inst) => void;
/** The condition that an instruction's i32 is not 0, as flags, with the operands of the instruction; for branches and selects. */
export type TestRule = (s: Selection, inst: Inst) => Test;
