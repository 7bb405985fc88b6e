/** What the rules of scalar instructions work with, besides what all rules have. */
import type { MachineInst, Register, RegisterClass, RegisterInfo } from '../machine/types.ts';
import type { Inst, SsaType, Value } from '../ssa/types.ts';
import type { Anchor, BoundsPlan } from './bounds.ts';
import type { ModuleLayout } from './layout.ts';
import type { Selection } from './types.ts';

/** A selection with what only the scalar rules need. */
export interface Scope extends Selection {
  readonly layout: ModuleLayout;
  readonly bounds: BoundsPlan;
  readonly registers: readonly RegisterInfo[];
  /** The register of an address that accesses are relative to, if something asked for it. */
  anchorRegister(anchor: Anchor): Register;
  /** Says which block comes next. */
  enter(block: number): void;
  /** Says that an instruction comes next, which stands before all that came in this block. */
  pass(inst: Inst): void;
  /** The instructions that were added since the last call, behind the integer constants that they use. */
  take(): MachineInst[];
  /** Whether something asked for the register of the value. */
  isAsked(value: Value): boolean;
  /** The most bytes that a call passes on the stack. */
  outgoing(bytes: number): void;
  readonly outgoingBytes: number;
}

/** The class of registers that hold values of a type. */
export const classOf = (type: SsaType): RegisterClass => (type === 'i32' || type === 'i64' ? 'general' : 'vector');
