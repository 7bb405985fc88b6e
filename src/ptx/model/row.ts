/**
 * A row of the instruction table: one form as the PTX manual prints it. The names of its operands and the types of its
 * modifiers derive from the syntax line, so a misspelt operand in a `lower` or a case does not compile. Matching, checking,
 * messages, lowering, `docs/ptx.md` and the specs all read the rows.
 *
 * The notation of a syntax line is the manual's: `{.sat}` may be left out, `.type` is a slot whose words `values` lists (a
 * dotted word without values is a literal), `[a]` is an address, `[a, b]` an address with another operand in its brackets,
 * `(a)` a list of any length, `p|q` a pair, `p[|q]` one of which the second may be left out, `{!}c` a predicate that may be negated, and `{, b}` an operand
 * that may be left out (`onlyWith` names the modifier that demands it). `d` or a pair in first place is the destination.
 */

import type { Value } from '../../ir/index.ts';
import type { Instruction, Operand } from '../syntax/ast.ts';
import type { AddressOperand, RowBuilder } from './row-builder.ts';
import type { Register } from './types.ts';

export type { AccessSpace, AddressOperand, RowBuilder } from './row-builder.ts';

// ── types read from the syntax line ──

type Trim<S extends string> = S extends ` ${infer R}` ? Trim<R> : S extends `${infer R} ` ? Trim<R> : S;
type Pieces<S extends string> = S extends `${infer H},${infer T}` ? [Trim<H>, ...Pieces<T>] : [Trim<S>];
type Tail<S extends string> = S extends `${string} ${infer R}` ? Pieces<R> : [];
type Without<P extends string, C extends string> = P extends `${infer A}${C}${infer B}` ? Without<`${A}${B}`, C> : P;
/** A piece without its brackets and braces. */
type Bare<P extends string> = Trim<Without<Without<Without<Without<Without<P, '['>, ']'>, '{'>, '}'>, '!'>>;
type Halves<P> = P extends `${infer F}|${infer G}` ? F | G : P;
type NameOf<P> = P extends `${string}${'[' | ']' | '{' | '}' | '(' | '|'}${string}` ? Halves<Bare<P>> : P;
type AddressPiece<P> = P extends `[${infer N}` ? Bare<N> : never;
type OptionalPiece<P> = P extends `{!}${string}` ? never : P extends `${infer N}}${string}` ? Bare<N> : never;

/** Operand names of a syntax line: `add.s32 d, a, b` gives `d`, `a` and `b`. */
export type Operands<S extends string> = NameOf<Tail<S>[number]> & string;
/** `d`, or both names of a pair, or nothing. */
type Destination<S extends string> =
  Tail<S> extends [infer F, ...unknown[]] ? (F extends 'd' ? 'd' : F extends `${string}|${string}` ? NameOf<F> : never) : never;
type Sources<S extends string> = Exclude<Operands<S>, Destination<S>>;
type Addresses<S extends string> = AddressPiece<Tail<S>[number]> & string;
type Omissible<S extends string> = OptionalPiece<Tail<S>[number]> & string;

type Head<S extends string> = S extends `${infer H} ${string}` ? H : S;
type OptionalSlots<S extends string> = S extends `${string}{.${infer M}}${infer R}` ? M | OptionalSlots<R> : never;
type Dropped<S extends string> = S extends `${infer A}{.${string}}${infer R}` ? `${A}${Dropped<R>}` : S;
type Dotted<S extends string> = S extends `${string}.${infer R}`
  ? R extends `${infer M}.${string}`
    ? M | Dotted<`.${DropFirst<R>}`>
    : R
  : never;
type DropFirst<R extends string> = R extends `${string}.${infer T}` ? T : never;

/** Which words a slot may hold, without their dots. */
export type ValueSets = Readonly<Record<string, readonly string[]>>;

/** Modifiers: required slots hold one of their words, optional ones a word or nothing, optional literals true or nothing. */
export type Modifiers<S extends string, V extends ValueSets> = {
  readonly [M in Dotted<Dropped<Head<S>>> & keyof V]: V[M][number];
} & { readonly [M in OptionalSlots<Head<S>>]?: M extends keyof V ? V[M][number] : true };

type SlotNames<S extends string> = Dotted<Dropped<Head<S>>> | OptionalSlots<Head<S>>;

// ── what `lower` is given and gives ──

type SourceValue<S extends string, B, O> = O extends Addresses<S> ? AddressOperand : O extends keyof B ? Value | readonly Value[] : Value;
/** Source operands by name: values of the IR type of their operand type (`irTypes` of types.ts), arrays for brace vectors. */
export type SourceOperands<S extends string, B> = {
  readonly [O in Exclude<Sources<S>, Omissible<S>>]: SourceValue<S, B, O>;
} & { readonly [O in Omissible<S>]?: SourceValue<S, B, O> };

// biome-ignore lint/suspicious/noConfusingVoidType: what a method without a value returns
type Nothing = void;
/** What a row gives: the value of `d` (an array for a brace vector), both of a pair, or nothing where there is no destination. */
export type Lowered<S extends string> =
  Tail<S> extends [infer F, ...unknown[]]
    ? F extends 'd'
      ? Value | readonly Value[] | undefined
      : F extends `${string}|${string}`
        ? { readonly [N in NameOf<F> & string]: Value } | undefined
        : Nothing
    : Nothing;

// ── the row ──

/** Bits of an operand, zero-extended; for floats, of the float's encoding. */
export type Bits = number | bigint;

/** One worked example: the instruction as written without operands, inputs, and the bits that the manual says come out. */
export type Case<S extends string> = { readonly form: string; readonly why: string } & {
  readonly [O in Exclude<Operands<S>, Addresses<S> | Omissible<S>>]: Bits | readonly Bits[];
};

/** First version of the language and first architecture that have a form. */
export interface Since {
  readonly ptx: number;
  readonly sm: number;
}

/**
 * `exact`: the bits that the hardware gives (NaN payloads aside). `approximate`: the manual allows an error, and the result meets
 * the bound named. `refused`: legal PTX that this version does not compile; `instead` is an action, where there is one.
 */
export type Status = 'exact' | { readonly approximate: string } | Refusal;

/** Why something is refused, and what to do instead. */
export interface Refusal {
  readonly refused: string;
  readonly instead?: string;
}

/** A form that architectures from `sm` on do not have any more: what is said of modules for those. */
export interface Withdrawn extends Refusal {
  readonly sm: number;
}

/** Why a row is refused; nothing for one that is compiled. */
export const refusalOf = ({ status }: Row): Refusal | undefined => (typeof status === 'object' && 'refused' in status ? status : undefined);

/** Why a row is refused in modules for an architecture. */
export function refusalFor(row: Row, sm: number | undefined): Refusal | undefined {
  const { withdrawn } = row;
  return refusalOf(row) ?? (withdrawn && sm !== undefined && sm >= withdrawn.sm ? withdrawn : undefined);
}

/** What an instruction does to the flow of control; `src/lower` ends blocks by it. */
export type Control = 'branch' | 'return' | 'exit' | 'barrier' | 'call' | 'stop';

/** The type of an operand: a PTX type (`u32`, `pred`, `label`), that of a slot, or the type twice as wide as a slot's. */
export type OperandType<Slot extends string = string> = PtxType | `.${Slot}` | `wide .${Slot}`;

/** The types of operands that are not registers of a fundamental type too: a branch target is a `label`, a list of them `targets`, what is called a `function`. */
export const ptxTypes = [
  'pred',
  'b8',
  'u8',
  's8',
  'b16',
  'u16',
  's16',
  'f16',
  'bf16',
  'b32',
  'u32',
  's32',
  'f32',
  'f16x2',
  'bf16x2',
  'b64',
  'u64',
  's64',
  'f64',
  'b128',
  'label',
  'targets',
  'function',
] as const;
export type PtxType = (typeof ptxTypes)[number];

export interface RowSpec<S extends string, V extends ValueSets, B extends VectorOperands<S>> {
  readonly syntax: S;
  readonly values?: V;
  /** Words that do not go together, by slot: no instruction has words of all slots of one entry. An empty word is a slot left out. */
  readonly excludes?: readonly { readonly [N in SlotNames<S>]?: readonly string[] }[];
  /** Operand types where they are not that of `.type`. */
  readonly types?: { readonly [O in Operands<S>]?: OperandType<SlotNames<S>> };
  /** Operands whose register may be wider than their type: sources are cut, destinations extended by the sign of the type. */
  readonly relaxed?: readonly Operands<S>[];
  /** Operands that must be integer constants, with the least and the largest. */
  readonly constants?: { readonly [O in Operands<S>]?: readonly [least: number, most: number] };
  /**
   * Operands that may be brace vectors: of `elements` each has the operand's type (and `.vec` says how many), while `parts`
   * share out the bits of the type, the first taking the lowest (`mov.b64 {lo, hi}, d`).
   */
  readonly vectors?: B;
  /** Elements of brace vectors where `.vec` does not say how many. */
  readonly lanes?: { readonly [O in Operands<S>]?: Lanes<SlotNames<S>> };
  /** State spaces of addresses where they are not that of the instruction. */
  readonly spaces?: { readonly [O in Addresses<S>]?: 'global' };
  /** Operands that may have a word after them which picks parts (`a.h1`), as `RowBuilder.part` gives it; the register is then the whole. */
  readonly parts?: { readonly [O in Operands<S>]?: RegExp };
  /** Operands that are written just where a slot has a word: `policy` with `.L2::cache_hint`. */
  readonly onlyWith?: { readonly [O in Omissible<S>]?: SlotNames<S> };
  readonly since: Since;
  readonly withdrawn?: Withdrawn;
  /** What it computes, in a sentence or two. */
  readonly doc: string;
  /** Section of the PTX manual. */
  readonly source: string;
  readonly status: Status;
  readonly control?: Control;
  /** Whether a source may be the name of a variable, which stands for its address. */
  readonly takesAddresses?: true;
  /** Done by the threads of a warp that come there together: one whose guard fails does not come there. */
  readonly isCollective?: true;
  lower?(operands: SourceOperands<S, B>, modifiers: Modifiers<S, V>, ir: RowBuilder): Lowered<S>;
  /** Worked out by hand from the manual, for specs alone: nobody else has them made. Absent for refused rows. */
  readonly cases?: () => readonly Case<S>[];
}

/**
 * How many elements a vector has: so many, or the number in the word of a slot (`x4`, `3d`), or that less 2, or what is said of an
 * instruction's modifiers (a fragment of a matrix has as many registers as its shape wants).
 */
export type Lanes<Slot extends string = string> = number | `.${Slot}` | `.${Slot}-2` | ((modifiers: AnyModifiers) => number);

/** `some`: a number of registers that the row does not say (fragments of matrices, coordinates); one may stand without braces. */
export type VectorKind = 'elements' | 'parts' | 'some';
export type VectorOperands<S extends string> = { readonly [O in Operands<S>]?: VectorKind };

/** A row with the types of its syntax line forgotten, as the table holds it. */
export interface Row {
  /** First word of the syntax line. */
  readonly name: string;
  readonly syntax: string;
  /** In the order of the syntax line. */
  readonly slots: readonly ModifierSlot[];
  /** Words that do not go together, by slot. */
  readonly excludes: readonly Readonly<Record<string, readonly string[]>>[];
  /** In the order of the syntax line. */
  readonly operands: readonly OperandSlot[];
  readonly since: Since;
  readonly withdrawn: Withdrawn | undefined;
  readonly doc: string;
  readonly source: string;
  readonly status: Status;
  readonly control: Control | undefined;
  readonly takesAddresses: boolean;
  readonly isCollective: boolean;
  /** Absent for refused rows and for those whose `control` says all. */
  readonly lower: ((operands: AnySources, modifiers: AnyModifiers, ir: RowBuilder) => AnyLowered) | undefined;
  readonly cases: () => readonly AnyCase[];
}

export type AnySources = Readonly<Record<string, Value | readonly Value[] | AddressOperand>>;
export type AnyModifiers = Readonly<Record<string, string | true>>;
export type AnyLowered = Value | readonly Value[] | Readonly<Record<string, Value>> | undefined | Nothing;
export type AnyCase = { readonly form: string; readonly why: string } & Readonly<Record<string, string | Bits | readonly Bits[]>>;

/** A dotted part of a syntax line; a literal is a slot of one word. */
export interface ModifierSlot {
  readonly name: string;
  readonly words: readonly string[];
  readonly isOptional: boolean;
  /** A word that stands for itself, such as `.wide`: `modifiers` holds true rather than the word. */
  readonly isLiteral: boolean;
}

/** An operand of a syntax line. */
export interface OperandSlot {
  /** `a`; of a pair the first name. */
  readonly name: string;
  /** The second name of a pair `p[|q]`. */
  readonly second: string | undefined;
  /** `p|q` */
  readonly needsSecond: boolean;
  readonly secondType: OperandType;
  readonly isDestination: boolean;
  readonly isAddress: boolean;
  /** Of an address: the operands that follow it within the brackets. */
  readonly inBrackets: readonly OperandSlot[];
  /** `(a)`: the arguments or results of a call. */
  readonly isList: boolean;
  readonly isOptional: boolean;
  /** `{!}c` */
  readonly isNegatable: boolean;
  readonly isRelaxed: boolean;
  /** The least and the largest, where it must be an integer constant. */
  readonly constant: readonly [least: number, most: number] | undefined;
  readonly vector: VectorKind | undefined;
  /** Elements of a brace vector, where it is not `.vec` that says. */
  readonly lanes: Lanes | undefined;
  /** Words that pick parts of it. */
  readonly parts: RegExp | undefined;
  /** The modifier without which the operand is not written, and with which it is. */
  readonly onlyWith: string | undefined;
  /** The state space of an address, where it is not that of the instruction. */
  readonly space: string | undefined;
  readonly type: OperandType;
}

/** An instruction with the row it is a form of. */
export interface Match {
  readonly instruction: Instruction;
  readonly row: Row;
  readonly modifiers: AnyModifiers;
  /** One for each operand written, in order. */
  readonly operands: readonly MatchedOperand[];
}

/** An operand as written, and what the row says of it. */
export interface MatchedOperand {
  readonly slot: OperandSlot;
  readonly node: Operand;
  /** Of the operand; of one element where `lanes` is given. An address has the type of what it points to. */
  readonly type: PtxType;
  /** How many elements it has, where it is a brace vector. */
  readonly lanes: number | undefined;
  /** The word after it that picks parts of it; `node` is what stands before. */
  readonly part?: string;
  /** The register that it is, or that is the base of the address, where it was looked up already and names no other. */
  readonly register?: Register | undefined;
}

const none = (): readonly [] => [];

/** A row from its specification: the syntax line is read once, here. */
export function row<
  const S extends string,
  const V extends ValueSets = Record<never, never>,
  const B extends VectorOperands<S> = Record<never, never>,
>(spec: RowSpec<S, V, B>): Row {
  const [head, tail] = splitHead(spec.syntax);
  let slots: readonly ModifierSlot[] | undefined;
  let operands: readonly OperandSlot[] | undefined;
  return {
    name: spec.syntax.slice(0, spec.syntax.search(/[^a-z0-9]|$/)),
    syntax: spec.syntax,
    // Read when first asked for: a kernel uses few of the rows.
    get slots() {
      slots ??= modifierSlots(head, spec.values ?? {});
      return slots;
    },
    get operands() {
      operands ??= operandSlots(tail, spec as unknown as LooseSpec);
      return operands;
    },
    excludes: (spec.excludes ?? []) as Row['excludes'],
    since: spec.since,
    withdrawn: spec.withdrawn,
    doc: spec.doc,
    source: spec.source,
    status: spec.status,
    control: spec.control,
    takesAddresses: spec.takesAddresses ?? false,
    isCollective: spec.isCollective ?? false,
    lower: spec.lower as unknown as Row['lower'],
    cases: (spec.cases ?? none) as Row['cases'],
  };
}

interface LooseSpec {
  readonly types?: Readonly<Record<string, OperandType>>;
  readonly relaxed?: readonly string[];
  readonly constants?: Readonly<Record<string, readonly [number, number]>>;
  readonly vectors?: Readonly<Record<string, VectorKind>>;
  readonly lanes?: Readonly<Record<string, Lanes>>;
  readonly parts?: Readonly<Record<string, RegExp>>;
  readonly onlyWith?: Readonly<Record<string, string>>;
  readonly spaces?: Readonly<Record<string, string>>;
}

function splitHead(syntax: string): [string, string] {
  const space = syntax.indexOf(' ');
  return space < 0 ? [syntax, ''] : [syntax.slice(0, space), syntax.slice(space + 1)];
}

function modifierSlots(head: string, values: ValueSets): ModifierSlot[] {
  return [...head.matchAll(/\{\.([^{}]+)\}|\.([^.{}]+)/g)].map(([, optional, required]) => {
    const name = optional ?? required ?? '';
    const words = values[name];
    return { name, words: words ?? [name], isOptional: optional !== undefined, isLiteral: words === undefined };
  });
}

function operandSlots(tail: string, spec: LooseSpec): OperandSlot[] {
  return piecesOf(tail.replace(/\{, *([^{}]+)\}/g, ', ?$1')).map((piece, index) => operandSlot(piece, index, spec));
}

/** What stands between commas that no brackets hold. */
const piecesOf = (list: string): string[] => (list === '' ? [] : list.split(/,(?![^[]*\])/).map((piece) => piece.trim()));

function operandSlot(piece: string, index: number, spec: LooseSpec): OperandSlot {
  const isAddress = /^\??\[/.test(piece);
  const [first = '', ...rest] = isAddress ? piecesOf(piece.replace(/^\??\[|\]$/g, '')) : [piece];
  const [name = '', second] = first.match(/\w+/g) ?? [];
  const type = spec.types?.[name] ?? '.type';
  return {
    name,
    second,
    needsSecond: second !== undefined && !piece.includes('[|'),
    secondType: spec.types?.[second ?? ''] ?? type,
    isDestination: index === 0 && (name === 'd' || second !== undefined),
    isAddress,
    inBrackets: rest.map((each) => operandSlot(each, index + 1, spec)),
    isList: piece.startsWith('('),
    isOptional: piece.startsWith('?'),
    isNegatable: piece.startsWith('{!}'),
    isRelaxed: spec.relaxed?.includes(name) ?? false,
    constant: spec.constants?.[name],
    vector: spec.vectors?.[name],
    lanes: spec.lanes?.[name],
    parts: spec.parts?.[name],
    onlyWith: spec.onlyWith?.[name],
    space: spec.spaces?.[name],
    type,
  };
}
