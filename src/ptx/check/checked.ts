/** What checking gives: instructions with their rows, in the scopes that their names belong to. `src/lower` works on it. */
import type { Span } from '../../base/source.ts';
import type { Match } from '../model/row.ts';
import type { Register } from '../model/types.ts';
import type { Module, Operand, PtxFunction } from '../syntax/ast.ts';
import type { LabelPlace, Scope } from './scope.ts';

export interface CheckedInstruction {
  readonly kind: 'instruction';
  readonly match: Match;
  readonly scope: Scope;
  readonly guard: { readonly register: Register; readonly negated: boolean } | undefined;
  /** Of a `call`, whose operands are here and not in `match`. */
  readonly call?: CheckedCall;
}

/** Functions without a body that are compiled: an assertion that fails, after which the launch fails, and `printf`. */
export type Builtin = '__assertfail' | 'vprintf';

/** A call of a function that has a body, each operand being of the type of its place. */
export interface CheckedCall {
  readonly fn: PtxFunction;
  /** Of the name of the function. */
  readonly span: Span;
  /** Of a function that CUDA brings along and that is compiled, though it has no body. */
  readonly builtin?: Builtin;
  readonly results: readonly Operand[];
  readonly args: readonly Operand[];
  /** Of a call through a register: which of the functions it may mean this is. */
  readonly choice?: Choice;
}

/** One of the functions that a call through a register may mean; there is a `CheckedInstruction` for each, one behind the other. */
export interface Choice {
  /** What all of one call have in common. */
  readonly among: Choices;
  /** The number that stands for the address of the function. */
  readonly number: bigint;
}

export interface Choices {
  /** The register with the address. */
  readonly register: Operand;
  readonly numbers: readonly bigint[];
}

export type CheckedItem = CheckedInstruction | { readonly kind: 'label'; readonly label: LabelPlace };

export interface CheckedFunction {
  readonly fn: PtxFunction;
  /** Of the parameters; its parent is that of the module. */
  readonly scope: Scope;
  /** The body without its braces. */
  readonly items: readonly CheckedItem[];
}

/** A module of which the chosen entries are checked. */
export interface Checked {
  readonly module: Module;
  readonly entries: readonly CheckedFunction[];
  /** What the entries come to call, each function behind those that it calls. */
  readonly functions: ReadonlyMap<PtxFunction, CheckedFunction>;
}
