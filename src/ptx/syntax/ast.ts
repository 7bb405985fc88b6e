/**
 * The syntax tree of a PTX module: immutable, with the span of every node. It represents the text without its meaning: a name may be a
 * register, a special register, a variable, a parameter, a function or a label.
 * Source: PTX ISA 9.0, chapters 4 (syntax), 5 (state spaces, types, variables), 6.4 and 9 (operands), 11 (directives).
 */
import { bug } from '../../base/bug.ts';
import type { SourceFile, Span } from '../../base/source.ts';

/** A whole file. */
export interface Module {
  readonly file: SourceFile;
  /** `.version 8.4`; absent if the directive is missing or invalid. */
  readonly version: Version | undefined;
  /** The words of `.target`, in order: `sm_80`, `texmode_unified`, `debug`. */
  readonly targets: readonly Word[];
  /** 32 or 64 from `.address_size`; absent if the directive is missing. */
  readonly addressSize: number | undefined;
  /** `.version`, `.target` and `.address_size` in source order. The span of a target covers its words. */
  readonly headers: readonly Word[];
  readonly items: readonly Item[];
  /** Words of lines that could not be parsed, in a module with errors: any of them may be declared there. */
  readonly lost?: ReadonlySet<string>;
}

/** The two numbers of `.version`. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly span: Span;
}

/** A word and its span. */
export interface Word {
  readonly name: string;
  readonly span: Span;
}

/** An item of a module. */
export type Item = Function | Variable | Section | Directive;
/** The linkage of a function or variable, without the dot. */
export type Linkage = 'extern' | 'visible' | 'weak' | 'common';
/** A state space, without the dot. */
export type StateSpace = 'reg' | 'sreg' | 'const' | 'global' | 'local' | 'param' | 'shared' | 'tex';

/** A declared variable, register range or parameter. `.reg .u32 a, b;` gives two, and `.param .u32 p<2>;` does, too. */
export interface Variable {
  readonly kind: 'variable';
  readonly linkage: Linkage | undefined;
  readonly space: StateSpace;
  /** In bytes, from `.align`. */
  readonly align: number | undefined;
  /** A fundamental or opaque type without its dot: `f32`, `b8`, `pred`, `texref`. */
  readonly type: string;
  readonly vector: 'v2' | 'v4' | 'v8' | undefined;
  readonly name: string;
  /** 12 for the registers `%r<12>`, which declares `%r0` to `%r11`. In other state spaces only a fault has one. */
  readonly regCount: number | undefined;
  /** `[4][]` is `[4, undefined]`. */
  readonly dims: readonly (number | undefined)[];
  readonly init: Initializer | undefined;
  readonly attributes: readonly Attribute[];
  /** `.ptr .global .align 4` of an entry parameter; the space is absent for a generic pointer. */
  readonly ptr: Pointer | undefined;
  readonly span: Span;
  readonly nameSpan: Span;
}

/** What `.ptr` says of the memory that a parameter points to. */
export interface Pointer {
  readonly space: StateSpace | undefined;
  /** In bytes; absent if not written (the manual's default is 4). */
  readonly align: number | undefined;
}

/** `.managed` or `.unified(1, 2)` of `.attribute(...)`, without the dot. */
export interface Attribute {
  readonly name: string;
  readonly values: readonly bigint[];
}

/** The content after `=`: an expression, a `{}` list, or a field of a sampler. */
export type Initializer = Operand;

/** An entry or a function; `body` is absent for a declaration. */
export interface Function {
  readonly kind: 'function';
  readonly isEntry: boolean;
  readonly linkage: Linkage | undefined;
  readonly name: string;
  readonly nameSpan: Span;
  readonly results: readonly Variable[];
  readonly params: readonly Variable[];
  readonly directives: readonly FunctionDirective[];
  readonly attributes: readonly Attribute[];
  readonly body: readonly Statement[] | undefined;
  readonly span: Span;
}

/** An alias for files that use the global `Function`. */
export type PtxFunction = Function;

/** `.maxntid 256, 1, 1`, `.noreturn` or `.pragma "nounroll"` between head and body, without the dot. */
export interface FunctionDirective {
  readonly name: string;
  readonly values: readonly (number | string)[];
  readonly span: Span;
}

/** A statement of a body. */
export type Statement = Variable | Label | Instruction | Block | Directive;

/** A label of a body. */
export interface Label {
  readonly kind: 'label';
  readonly name: string;
  readonly span: Span;
}

/** `{ ... }` in a body: a scope for names. */
export interface Block {
  readonly kind: 'block';
  readonly body: readonly Statement[];
  readonly span: Span;
}

/** An instruction with its guard, its modifiers and its operands. */
export interface Instruction {
  readonly kind: 'instruction';
  readonly guard: Guard | undefined;
  /** The first word: `add`. */
  readonly opcode: string;
  /** The dotted words after it, without their dots: `['global', 'nc', 'v4', 'f32']`, `['shared::cta']`. */
  readonly modifiers: readonly string[];
  readonly operands: readonly Operand[];
  /** From the guard to the semicolon. */
  readonly span: Span;
  /** From the opcode to its last modifier. */
  readonly opcodeSpan: Span;
}

/** `@p` or `@!p`. */
export interface Guard {
  readonly register: string;
  readonly negated: boolean;
  readonly span: Span;
}

/** Other statements. None of these is an instruction; `name` discriminates them. */
export type Directive = FileDirective | LocDirective | PragmaDirective | AliasDirective | TargetsDirective | PrototypeDirective;

interface DirectiveOf<Name extends string> {
  readonly kind: 'directive';
  readonly name: Name;
  readonly span: Span;
}

/** `.file 1 "a.cu", 1700000000, 1234` */
export interface FileDirective extends DirectiveOf<'file'> {
  readonly index: number;
  readonly path: string;
  /** Time stamp and size, if written. */
  readonly stamp: readonly [bigint, bigint] | undefined;
}

/** `.loc 1 20 5, function_name $L__info_string0+10, inlined_at 1 30 3` */
export interface LocDirective extends DirectiveOf<'loc'> {
  readonly index: number;
  readonly line: number;
  readonly column: number;
  readonly inlined: InlinedAt | undefined;
}

/** The place at which a function was inlined. */
export interface InlinedAt {
  readonly functionName: string;
  readonly offset: number;
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** `.pragma "nounroll";` */
export interface PragmaDirective extends DirectiveOf<'pragma'> {
  readonly values: readonly string[];
}

/** `.alias f, g;` */
export interface AliasDirective extends DirectiveOf<'alias'> {
  readonly alias: Word;
  readonly aliasee: Word;
}

/** `.branchtargets L1, L2;` or `.calltargets f, g;`; the preceding label names the list. */
export interface TargetsDirective extends DirectiveOf<'branchtargets' | 'calltargets'> {
  readonly targets: readonly Word[];
}

/** `.callprototype (.param .b32 _) _ (.param .b64 _);`; the preceding label names it. */
export interface PrototypeDirective extends DirectiveOf<'callprototype'> {
  readonly results: readonly Variable[];
  readonly params: readonly Variable[];
  readonly directives: readonly FunctionDirective[];
}

/** `.section .debug_info { ... }`: DWARF for debuggers. */
export interface Section {
  readonly kind: 'section';
  /** With its dot, if it has one. */
  readonly name: string;
  readonly items: readonly (Label | SectionData)[];
  readonly span: Span;
}

/** `.b8 1, 2, 3` */
export interface SectionData {
  readonly kind: 'data';
  /** Without the dot. */
  readonly type: string;
  readonly values: readonly Operand[];
  readonly span: Span;
}

/** An operand, or a part of one. */
export type Operand =
  | Name
  | Element
  | Integer
  | Float
  | Address
  | Vector
  | List
  | Pair
  | Not
  | Unary
  | Binary
  | Conditional
  | Cast
  | Apply
  | Index
  | Field;

/** A register, variable, parameter, function, label, `WARP_SZ`, or the sink `_`. A name with a dot is a section. */
export interface Name {
  readonly kind: 'name';
  readonly name: string;
  readonly span: Span;
}

/** `%tid.x`, `%v.y`, `%r1.b0`: `name` is the part before the dot, `element` the part after it. */
export interface Element {
  readonly kind: 'element';
  readonly name: string;
  readonly element: string;
  readonly span: Span;
}

/** An integer literal with its minus sign, if any: `-5` is -5n. The value is not wrapped to a width. */
export interface Integer {
  readonly kind: 'integer';
  readonly value: bigint;
  /** Written with `U`. */
  readonly isUnsigned: boolean;
  readonly span: Span;
}

/** A float literal by its exact bits, minus sign applied: 32 of them for `0f`, 64 for `0d` and for decimals (nearest double). */
export interface Float {
  readonly kind: 'float';
  readonly format: 'f32' | 'f64' | 'decimal';
  readonly bits: bigint;
  readonly span: Span;
}

/** `[a+4]`; `rest` holds the operands after the first comma, as in `[tex, {x, y}]`. */
export interface Address {
  readonly kind: 'address';
  /** Usually a name or an integer; the checker reports anything else. */
  readonly base: Operand;
  /** The sum of constants added to the base. */
  readonly offset: bigint;
  readonly rest: readonly Operand[];
  /** Whether `.unified` follows, a promise about the location of the memory. */
  readonly isUnified?: true;
  readonly span: Span;
}

/** `{a, b}`: a vector operand or an initializer list. */
export interface Vector {
  readonly kind: 'vector';
  readonly elements: readonly Operand[];
  readonly span: Span;
}

/** `(a, b)`: results or arguments of a call. */
export interface List {
  readonly kind: 'list';
  readonly elements: readonly Operand[];
  readonly span: Span;
}

/** `p|q` */
export interface Pair {
  readonly kind: 'pair';
  readonly first: Operand;
  readonly second: Operand;
  readonly span: Span;
}

/** `!p` */
export interface Not {
  readonly kind: 'not';
  readonly operand: Operand;
  readonly span: Span;
}

/** An operator of constant expressions; `-5` is an `Integer` and `!p` a `Not`. */
export interface Unary {
  readonly kind: 'unary';
  readonly operator: '+' | '-' | '~';
  readonly operand: Operand;
  readonly span: Span;
}

/** `a + 4`: a symbol and an offset, or a constant expression. */
export interface Binary {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Operand;
  readonly right: Operand;
  readonly span: Span;
}

/** The operators of PTX ISA 4.5.4. */
export const binaryOperators = ['*', '/', '%', '+', '-', '<<', '>>', '<', '<=', '>', '>=', '==', '!=', '&', '^', '|', '&&', '||'] as const;
/** An operator of constant expressions with two operands. */
export type BinaryOperator = (typeof binaryOperators)[number];

/** `a ? b : c` */
export interface Conditional {
  readonly kind: 'conditional';
  readonly condition: Operand;
  readonly whenTrue: Operand;
  readonly whenFalse: Operand;
  readonly span: Span;
}

/** `(.s64) a` */
export interface Cast {
  readonly kind: 'cast';
  readonly type: 's64' | 'u64';
  readonly operand: Operand;
  readonly span: Span;
}

/** `generic(a)`, or `0xFF00(a)`, one byte of an address in an initializer. */
export interface Apply {
  readonly kind: 'apply';
  readonly operator: Name | Integer;
  readonly operand: Operand;
  readonly span: Span;
}

/** `a[2]`, the address of an element of an array; the index counts elements. */
export interface Index {
  readonly kind: 'index';
  readonly name: string;
  readonly index: Operand;
  readonly span: Span;
}

/** `addr_mode_0 = clamp_to_edge` in the initializer of a sampler. */
export interface Field {
  readonly kind: 'field';
  readonly name: string;
  readonly value: Operand;
  readonly span: Span;
}

/** Opcode and modifiers as written, dots included: `ld.global.f32`. */
export const instructionName = (i: Instruction): string => [i.opcode, ...i.modifiers].join('.');

/** The span of the opcode (index -1) or of a modifier (from 0; without its dot). */
export function modifierSpan(file: SourceFile, instruction: Instruction, index: number): Span {
  const { start, end } = instruction.opcodeSpan;
  if (index < 0) return { start, end: start + instruction.opcode.length };
  const words = file.text.slice(start, end).matchAll(/\/\*[\s\S]*?\*\/|\/\/.*|\.([\w:$]+)/g);
  let at = index;
  for (const { index: dot, 1: word } of words) {
    if (word === undefined || at-- > 0) continue;
    return { start: start + dot + 1, end: start + dot + 1 + word.length };
  }
  return bug(`no modifier ${index} in ${instructionName(instruction)}`);
}

/** The value of a float literal. */
export function floatValue(float: Float): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, float.bits);
  return float.format === 'f32' ? view.getFloat32(4) : view.getFloat64(0);
}
