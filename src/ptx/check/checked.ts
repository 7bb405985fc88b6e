/** The output of the checker: instructions with their rows, and the scopes of their names. `src/lower` takes it as input. */
import type { Span } from '../../base/source.ts';
import type { Match } from '../model/row.ts';
import type { Register } from '../model/types.ts';
import type { Module, Operand, PtxFunction, Statement } from '../syntax/ast.ts';
import type { LabelPlace, Scope } from './scope.ts';

/** An instruction with its row of the table and its operands. */
export interface CheckedInstruction {
  readonly kind: 'instruction';
  readonly match: Match;
  readonly scope: Scope;
  readonly guard: { readonly register: Register; readonly negated: boolean } | undefined;
  /** Set for a `call`, whose operands are here and not in `match`. */
  readonly call?: CheckedCall;
}

/** Functions without a body that are compiled: a failing assertion, which fails the launch, and `printf`. */
export type Builtin = '__assertfail' | 'vprintf';

/** A call of a function with a body. The type of each operand matches its parameter. */
export interface CheckedCall {
  readonly fn: PtxFunction;
  /** The span of the function's name. */
  readonly span: Span;
  /** Set for a CUDA built-in that is compiled although it has no body. */
  readonly builtin?: Builtin;
  /** Set for another function without a body, where these are called as they are. */
  readonly isExternal?: true;
  readonly results: readonly Operand[];
  readonly args: readonly Operand[];
  /** Set for a call through a register: one possible callee. */
  readonly choice?: Choice;
}

/** One possible callee of a call through a register. There is a consecutive `CheckedInstruction` for each. */
export interface Choice {
  /** Shared by all alternatives of one call. */
  readonly among: Choices;
  /** The number that represents the address of the function. */
  readonly number: bigint;
}

/** The possible callees of a call through a register. */
export interface Choices {
  /** The register with the address. */
  readonly register: Operand;
  readonly numbers: readonly bigint[];
}

/** An instruction or a label of a body. */
export type CheckedItem = CheckedInstruction | { readonly kind: 'label'; readonly label: LabelPlace };

/** A function whose instructions were matched with the table. */
export interface CheckedFunction {
  readonly fn: PtxFunction;
  /** The scope of the parameters; its parent is the scope of the module. */
  readonly scope: Scope;
  /** The body without its braces. */
  readonly items: readonly CheckedItem[];
}

/** Functions that may come to call themselves: a strongly connected component of the call graph. */
export interface Recursion {
  readonly members: readonly PtxFunction[];
  /** The names along a cycle, and the call that closes it. */
  readonly cycle: readonly string[];
  readonly span: Span;
}

/** A module with the checked entries. */
export interface Checked {
  readonly module: Module;
  readonly entries: readonly CheckedFunction[];
  /** The entries that another process compiles. */
  readonly unchecked: readonly PtxFunction[];
  /** The functions reachable from the entries, callees before callers. */
  readonly functions: ReadonlyMap<PtxFunction, CheckedFunction>;
  /** By each of them that may come to call itself. */
  readonly recursions: ReadonlyMap<PtxFunction, Recursion>;
}

/** Gives up the instructions of a function that nothing will ask for again: those of all functions are most of the memory of a large module. */
export function forgetBody({ fn, items }: Pick<CheckedFunction, 'fn' | 'items'>): void {
  (items as CheckedItem[]).length = 0;
  ((fn.body ?? []) as Statement[]).length = 0;
}
