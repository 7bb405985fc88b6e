/** What a printer of C is made of: a language's spellings, and the state while one kernel is printed. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { InstOf, Kernel, Op, ScalarType, Space, Type, Value } from '../ir/index.ts';
import type { Addresses, WindowSpace } from './addresses.ts';
import type { Expression } from './expression.ts';
import type { Lines } from './lines.ts';
import type { Names } from './names.ts';
import type { Syntax } from './syntax.ts';

/** The rule of an op: its expression, or nothing after it has added lines of its own. */
export type Rule<K extends Op> = (p: Printer, inst: InstOf<K>, value: Value) => Expression | undefined;
export type Rules = { readonly [K in Op]: Rule<K> };

/** A language of the C family. */
export interface Language {
  readonly name: 'opencl' | 'msl' | 'wgsl';
  readonly syntax: Syntax;
  readonly rules: Rules;
  /** The type of a value's variable; of a pointer that of its bytes. */
  typeName(type: Type): string;
  /** The address space of a pointer. */
  spaceName(space: Space): string;
  readonly windowSpaces: Readonly<Record<WindowSpace, string>>;
  /** The place in a window as a pointer, where the window is no array. */
  windowBytes?(p: Printer, space: WindowSpace, offset: Expression | undefined): Expression | undefined;
  /** The type of a scalar in memory that may also be accessed as another one. */
  memoryName(type: ScalarType): string;
  /** The signed integer type of a width. */
  signedName(type: Type): string;
  constant(type: ScalarType, bits: bigint): Expression;
  /** The bits of a scalar as another type of the same width. */
  bitcast(from: Type, to: Type, a: Expression): Expression;
  /** Words that are no names of variables. */
  readonly reserved: ReadonlySet<string>;
}

/** The state while a kernel is printed. */
export interface Printer {
  readonly language: Language;
  readonly kernel: Kernel;
  readonly addresses: Addresses;
  readonly names: Names;
  readonly lines: Lines;
  readonly diagnostics: Diagnostics;
  /** Helper functions that are used, by name; the text begins with their definitions. */
  readonly helpers: Set<string>;
  /** A value as an operand. */
  use(value: Value): Expression;
  typeOf(value: Value): Type;
  /** Adds a statement that gives a value its variable. */
  define(value: Value, expression: Expression): void;
  /** The name of a value's variable, declared before. */
  variable(value: Value): string;
  parameter(index: number): string;
  /** The array of a window. */
  windowName(space: WindowSpace): string;
  /** A special register. */
  sreg(name: string): Expression;
  /** Reports what the language cannot express, and gives a placeholder. */
  refuse(value: Value, what: string, why: string): Expression;
  /** The name of a helper function, which becomes part of the text. */
  helper(name: string): string;
}
