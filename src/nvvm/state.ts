/** The state of translating one function: registers, the text so far, and where values are. */
import type { Block, Function as LlvmFunction, Module, Value } from '../bitcode/index.ts';
import type { Part } from './layout.ts';
import { registerBits } from './layout.ts';
import type { Lines } from './lines.ts';
import type { Names } from './names.ts';
import type { Spaces } from './spaces.ts';

/** What the functions of a module share. */
export interface ModuleState {
  /** Whether other files may define what this one names, and name what it defines. */
  readonly isRelocatable: boolean;
  readonly module: Module;
  readonly names: Names;
  readonly lines: Lines;
  /** Declarations of functions that the program does not define, by name. */
  readonly externs: Map<string, string>;
  /** The architecture, as in `sm_80`. */
  readonly sm: number;
}

/** An address: a register, a symbol or a number, a byte offset, and the state space. */
export interface Place {
  readonly base: string;
  readonly offset: number;
  readonly space: number;
}

export interface FunctionState {
  readonly module: ModuleState;
  readonly fn: LlvmFunction;
  readonly isKernel: boolean;
  /** Whether subnormal floats of 32 bits are flushed to zero. */
  readonly flushes: boolean;
  readonly spaces: Spaces;
  /** Registers or constants of a value's parts. */
  readonly parts: Map<Value, readonly string[]>;
  readonly places: Map<Value, Place>;
  readonly labels: Map<Block, string>;
  /** Products that every use contains as a fused operation, so that they are not computed on their own. */
  readonly fused: Set<Value>;
  /** How many instructions use a value. */
  readonly uses: Map<Value, number>;
  /** Declarations at the start of the body. */
  readonly declarations: string[];
  /** Instructions of the current block. */
  text: string[];
  readonly counts: Map<string, number>;
  /** The next number of a label or a local name. */
  next: number;
}

/** The class of a register: its prefix and its type in a declaration. */
const classes: Readonly<Record<string, string>> = { p: 'pred', rs: 'b16', r: 'b32', rd: 'b64', f: 'f32', fd: 'f64' };

/** The prefix of the registers of a part. */
export function classOf(part: Part): string {
  if (part.kind === 'float' && part.name === 'float') return 'f';
  if (part.kind === 'float' && part.name === 'double') return 'fd';
  return prefixOfBits(registerBits(part));
}

const prefixOfBits = (bits: number): string => (bits === 1 ? 'p' : bits === 16 ? 'rs' : bits === 32 ? 'r' : 'rd');

/** A new register of a class. */
export function newRegister(s: FunctionState, prefix: string): string {
  const number = (s.counts.get(prefix) ?? 0) + 1;
  s.counts.set(prefix, number);
  return `%${prefix}${number}`;
}

export const registerFor = (s: FunctionState, part: Part): string => newRegister(s, classOf(part));

/** Appends an instruction. */
export function emit(s: FunctionState, instruction: string): void {
  s.text.push(`\t${instruction};`);
}

/** Appends an instruction whose result is a new register, which is the first operand. */
export function into(s: FunctionState, prefix: string, mnemonic: string, ...operands: readonly (string | number)[]): string {
  const d = newRegister(s, prefix);
  emit(s, `${mnemonic} ${[d, ...operands].join(', ')}`);
  return d;
}

/** A new label of the function. */
export function newLabel(s: FunctionState): string {
  return `$L_${s.module.names.get(s.fn) ?? 'f'}_${s.next++}`;
}

/** Appends a label. */
export function place(s: FunctionState, label: string): void {
  s.text.push(`${label}:`);
}

/** The declarations of all registers. */
export const registerDeclarations = (s: FunctionState): string[] =>
  [...s.counts].map(([prefix, count]) => `\t.reg .${classes[prefix]} %${prefix}<${count + 1}>;`);
