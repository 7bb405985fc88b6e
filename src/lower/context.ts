/** What lowering one entry carries along. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Builder, Kernel, Value } from '../ir/index.ts';
import type { MatchedOperand, Register, RowBuilder, Scope } from '../ptx/index.ts';
import type { Flow, RegisterFile } from './ssa.ts';
import type { Variables } from './variables.ts';

export interface Context {
  readonly kernel: Kernel;
  readonly diagnostics: Diagnostics;
  readonly ir: Builder;
  readonly registers: RegisterFile;
  readonly variables: Variables;
  /** What rows emit into. */
  readonly rows: RowBuilder & { lanes: number | undefined; operands: readonly MatchedOperand[] };
  readonly evidence: Evidence;
  /** The block that is being filled. */
  flow: Flow;
  /** The names that are seen by the instruction being lowered. */
  scope: Scope;
  /** What is written only where it holds. */
  guard: Value | undefined;
}

/** What lowering knows beyond the IR and `passes/` need. */
export interface Evidence {
  /** Integers that `cvta` takes for addresses of global memory. */
  readonly addresses: Set<Value>;
  /** Generic addresses that `cvta` makes of addresses in shared, constant, local or parameter memory. */
  readonly generic: Set<Value>;
  /** Loads and stores of instructions with a signed type. */
  readonly signed: Set<Value>;
}

export const newEvidence = (): Evidence => ({ addresses: new Set(), generic: new Set(), signed: new Set() });

/** Makes a block the one that is filled. */
export function enter(c: Context, flow: Flow): void {
  c.flow = flow;
  c.ir.block = flow.block;
}

/** The value of a register here. */
export function readRegister(c: Context, register: Register): Value {
  return c.registers.read(c.flow, register);
}

/** Gives a register a value; under a guard that fails it keeps its own. */
export function writeRegister(c: Context, register: Register, value: Value): void {
  const kept = c.guard === undefined ? value : c.ir.select(c.guard, value, readRegister(c, register));
  c.registers.write(c.flow, register, kept);
}
