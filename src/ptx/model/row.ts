/**
 * A row of the instruction table: one form in the notation of the PTX manual. The names of its operands and the types of its modifiers
 * derive from the syntax line, so that a misspelled operand in a `lower` or a case does not compile. Matching, checking, messages,
 * lowering, `docs/ptx.md` and the specs all read the rows.
 * The notation of a syntax line is the manual's: `{.sat}` is optional, `.type` is a slot with the words of `values` (a dotted word without
 * values is a literal), `[a]` is an address, `[a, b]` an address with another operand in its brackets, `(a)` a list of any length, `p|q` a
 * pair, `p[|q]` a pair with an optional second part, `{!}c` a predicate that may be negated, and `{, b}` an optional operand (`onlyWith`
 * names the modifier that requires it). The destination is `d` (and `r` behind it), a pair in the first position, or `_`, which discards the result.
 */

import type { Value } from '../../ir/index.ts';
import type { Instruction, Operand } from '../syntax/ast.ts';
import { isWithdrawn, type Refusal, type Since, type Stated, type Withdrawn } from './refusal.ts';
import type { AddressOperand, RowBuilder } from './row-builder.ts';
import type { PtxType } from './type-names.ts';
import type { Register } from './types.ts';

export type { Refusal, Since, Withdrawn } from './refusal.ts';
export type {
  AccessSpace,
  AddressOperand,
  BarrierWord,
  ExchangeCode,
  ProductExpansion,
  PureCode,
  ReadingCode,
  ReadingOperands,
  RowBuilder,
} from './row-builder.ts';
export { type PtxType, ptxTypes } from './type-names.ts';

// ── types derived from the syntax line ──

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
/** `d`, `d` and `r`, both names of a pair, or never. */
type Destination<S extends string> =
  Tail<S> extends ['d', 'r', ...unknown[]]
    ? 'd' | 'r'
    : Tail<S> extends [infer F, ...unknown[]]
      ? F extends 'd'
        ? 'd'
        : F extends `${string}|${string}`
          ? NameOf<F>
          : never
      : never;
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

/** The words of each slot, without dots. */
export type ValueSets = Readonly<Record<string, readonly string[]>>;

/** Modifiers: a required slot holds one of its words, an optional slot a word or undefined, an optional literal true or undefined. */
export type Modifiers<S extends string, V extends ValueSets> = {
  readonly [M in Dotted<Dropped<Head<S>>> & keyof V]: V[M][number];
} & { readonly [M in OptionalSlots<Head<S>>]?: M extends keyof V ? V[M][number] : true };
type SlotNames<S extends string> = Dotted<Dropped<Head<S>>> | OptionalSlots<Head<S>>;

// ── operands and results of `lower` ──

type SourceValue<S extends string, B, O> = O extends Addresses<S> ? AddressOperand : O extends keyof B ? Value | readonly Value[] : Value;
/** Source operands by name: values of the IR type of their operand type (`irTypes` of types.ts), arrays for brace vectors. */
export type SourceOperands<S extends string, B> = {
  readonly [O in Exclude<Sources<S>, Omissible<S>>]: SourceValue<S, B, O>;
} & { readonly [O in Omissible<S>]?: SourceValue<S, B, O> };

// biome-ignore lint/suspicious/noConfusingVoidType: the result of a method without a value
type NoValue = void;
/** The result of a row: the value of `d` (an array for a brace vector), both values of `d` and `r` or of a pair, or nothing without a destination. */
export type Lowered<S extends string> =
  Tail<S> extends ['d', 'r', ...unknown[]]
    ? { readonly d: Value | readonly Value[]; readonly r: Value } | undefined
    : Tail<S> extends [infer F, ...unknown[]]
      ? F extends 'd'
        ? Value | readonly Value[] | undefined
        : F extends `${string}|${string}`
          ? { readonly [N in NameOf<F> & string]: Value | readonly Value[] } | undefined
          : NoValue
      : NoValue;

// ── the row ──

/** Bits of an operand, zero-extended; for floats, of the float's encoding. */
export type Bits = number | bigint;

/** One worked example: the instruction without operands, inputs, and the result bits that the manual specifies. */
export type Case<S extends string> = { readonly form: string; readonly why: string } & {
  readonly [O in Exclude<Operands<S>, Addresses<S> | Omissible<S>>]: Bits | readonly Bits[];
};

/**
 * `exact`: the bits of the hardware (NaN payloads excepted). `approximate`: the manual allows an error, and the result meets the named
 * bound. `refused`: legal PTX that this version does not compile; `instead` is an action, if there is one.
 */
export type Status = 'exact' | { readonly approximate: string } | Refusal;

/** Why a row is refused; undefined for a compiled row. */
export const refusalOf = ({ status }: Row): Refusal | undefined => (typeof status === 'object' && 'refused' in status ? status : undefined);

/** Why a row is refused in modules of a version for an architecture. */
export const refusalFor = (row: Row, stated: Stated): Refusal | undefined =>
  refusalOf(row) ?? (row.withdrawn && isWithdrawn(row.withdrawn, stated) ? row.withdrawn : undefined);

/** The effect of an instruction on control flow. `src/lower` ends basic blocks accordingly. */
export type Control = 'branch' | 'return' | 'exit' | 'barrier' | 'call' | 'stop' | 'wait';

/** The type of an operand: a PTX type (`u32`, `pred`, `label`), the type in a slot, or the type twice as wide. */
export type OperandType<Slot extends string = string> = PtxType | `.${Slot}` | `wide .${Slot}`;

export interface RowSpec<S extends string, V extends ValueSets, B extends VectorOperands<S>> {
  readonly syntax: S;
  readonly values?: V;
  /** Conflicting modifiers, by slot: no instruction has words of all slots of one entry. An empty word is an absent slot. */
  readonly excludes?: readonly { readonly [N in SlotNames<S>]?: readonly string[] }[];
  /** Operand types that differ from `.type`. */
  readonly types?: { readonly [O in Operands<S>]?: OperandType<SlotNames<S>> };
  /** Operands that accept a wider register: sources are truncated, destinations extended by the sign of the type. */
  readonly relaxed?: readonly Operands<S>[];
  /** Operands that must be integer constants, with the minimum and maximum. */
  readonly constants?: { readonly [O in Operands<S>]?: readonly [least: number, most: number] };
  /**
   * Operands that accept brace vectors. Each of `elements` has the operand's type (and `.vec` determines the count). `parts` split the bits
   * of the type, the first part having the lowest (`mov.b64 {lo, hi}, d`).
   */
  readonly vectors?: B;
  /** The number of elements of brace vectors, if `.vec` does not determine it. */
  readonly lanes?: { readonly [O in Operands<S>]?: Lanes<SlotNames<S>> };
  /** State spaces of addresses that differ from the instruction's. */
  readonly spaces?: { readonly [O in Addresses<S>]?: 'global' | 'shared' };
  /** Destinations that may be the sink `_`, which discards the result. */
  readonly sinks?: readonly Operands<S>[];
  /** Operands that accept a selector of parts (`a.h1`) or a sign (`-a.h1`), which `RowBuilder.part` returns; the register is then the whole. */
  readonly parts?: { readonly [O in Operands<S>]?: RegExp };
  /** Operands that are present exactly if a slot has a word: `policy` with `.L2::cache_hint`. */
  readonly onlyWith?: { readonly [O in Omissible<S>]?: SlotNames<S> };
  readonly since: Since;
  readonly withdrawn?: Withdrawn;
  /** A description of the computation, in one or two sentences. */
  readonly doc: string;
  /** Section of the PTX manual. */
  readonly source: string;
  readonly status: Status;
  readonly control?: Control;
  /** Whether a source may be the name of a variable, as its address. */
  readonly takesAddresses?: true;
  /** Executed by the threads of a warp together; a thread with a false guard does not participate. */
  readonly isCollective?: true;
  /** Of three sources: the function that metallibs for Apple GPUs have for it, because it is long straight code; undefined where it is short. */
  asFunction?(operands: SourceOperands<S, B>, modifiers: Modifiers<S, V>, ir: RowBuilder): FunctionForm<SourceOperands<S, B>> | undefined;
  lower?(operands: SourceOperands<S, B>, modifiers: Modifiers<S, V>, ir: RowBuilder): Lowered<S>;
  /** Worked examples derived by hand from the manual, evaluated in specs only. Absent for refused rows. */
  readonly cases?: () => readonly Case<S>[];
}

/**
 * The number of elements of a vector: a number, the number in the word of a slot (`x4`, `3d`), that number minus 2, or a function of the
 * modifiers (the fragment size of a matrix depends on its shape).
 */
export type Lanes<Slot extends string = string> = number | `.${Slot}` | `.${Slot}-2` | ((modifiers: AnyModifiers) => number);

/**
 * `some`: a number of registers that the row does not determine (fragments of matrices, coordinates); a single register needs no braces.
 */
export type VectorKind = 'elements' | 'parts' | 'some';
export type VectorOperands<S extends string> = { readonly [O in Operands<S>]?: VectorKind };

/** A function of the three sources of an instruction. */
export interface FunctionForm<Sources = AnySources> {
  /** What its name has behind that of the instruction. */
  readonly suffix: string;
  lower(operands: Sources, ir: RowBuilder): Value;
}

/** A row in the table, without the types of its syntax line. */
export interface Row {
  /** First word of the syntax line. */
  readonly name: string;
  readonly syntax: string;
  /** In the order of the syntax line. */
  readonly slots: readonly ModifierSlot[];
  /** Conflicting modifiers, by slot. */
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
  readonly asFunction: ((operands: AnySources, modifiers: AnyModifiers, ir: RowBuilder) => FunctionForm | undefined) | undefined;
  /** Absent for refused rows and for rows that `control` describes completely. */
  readonly lower: ((operands: AnySources, modifiers: AnyModifiers, ir: RowBuilder) => AnyLowered) | undefined;
  readonly cases: () => readonly AnyCase[];
}

/** The operands that the lowering of a row receives, by name. */
export type AnySources = Readonly<Record<string, Value | readonly Value[] | AddressOperand>>;
export type AnyModifiers = Readonly<Record<string, string | true>>;
/** What the lowering of a row returns. */
export type AnyLowered = Value | readonly Value[] | Readonly<Record<string, Value | readonly Value[]>> | undefined | NoValue;
export type AnyCase = { readonly form: string; readonly why: string } & Readonly<Record<string, string | Bits | readonly Bits[]>>;

/** A dotted part of a syntax line; a literal is a slot of one word. */
export interface ModifierSlot {
  readonly name: string;
  readonly words: readonly string[];
  readonly isOptional: boolean;
  /** A word such as `.wide`, for which `modifiers` holds true instead of the word. */
  readonly isLiteral: boolean;
}

/** An operand of a syntax line. */
export interface OperandSlot {
  /** `a`; for a pair the first name. */
  readonly name: string;
  /** The second name of a pair `p[|q]`, which `p|q` needs. */
  readonly second: string | undefined;
  readonly needsSecond: boolean;
  readonly secondType: OperandType;
  readonly isDestination: boolean;
  /** Whether the sink `_` may or must be in place of a register. */
  readonly sink: 'may' | 'must' | undefined;
  readonly isAddress: boolean;
  /** For an address: the operands that follow it within the brackets. */
  readonly inBrackets: readonly OperandSlot[];
  /** `(a)`: the arguments or results of a call. */
  readonly isList: boolean;
  readonly isOptional: boolean;
  /** `{!}c` */
  readonly isNegatable: boolean;
  readonly isRelaxed: boolean;
  /** The minimum and maximum of an operand that must be an integer constant. */
  readonly constant: readonly [least: number, most: number] | undefined;
  readonly vector: VectorKind | undefined;
  /** The number of elements of a brace vector, if `.vec` does not determine it. */
  readonly lanes: Lanes | undefined;
  /** Selectors of parts. */
  readonly parts: RegExp | undefined;
  /** The modifier that determines whether the operand is present. */
  readonly onlyWith: string | undefined;
  /** The state space of an address, if it differs from the instruction's. */
  readonly space: string | undefined;
  readonly type: OperandType;
}

/** An instruction with its row. */
export interface Match {
  readonly instruction: Instruction;
  readonly row: Row;
  readonly modifiers: AnyModifiers;
  /** One per operand of the source, in order. */
  readonly operands: readonly MatchedOperand[];
}

/** An operand of the source, and the row's description of it. */
export interface MatchedOperand {
  readonly slot: OperandSlot;
  readonly node: Operand;
  /** The type of the operand, or of one element if `lanes` is set. The type of an address is that of the accessed value. */
  readonly type: PtxType;
  /** Elements of a brace vector, and the operands behind an address in its brackets. */
  readonly lanes: number | undefined;
  readonly inBrackets?: readonly MatchedOperand[];
  /** The selector of parts after it; `node` is the operand before it. */
  readonly part?: string;
  /** The register of the operand or of its base, if it is already resolved. */
  readonly register?: Register | undefined;
}

const none = (): readonly [] => [];

/** Creates a row from its specification and parses the syntax line once. */
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
    // Parsed on first use, because a kernel uses few of the rows.
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
    asFunction: spec.asFunction as unknown as Row['asFunction'],
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
  readonly sinks?: readonly string[];
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
  const slots = piecesOf(tail.replace(/\{, *([^{}]+)\}/g, ', ?$1')).map((piece, index) => operandSlot(piece, index, spec));
  return tail.startsWith('d, r,') ? slots.map((slot, i) => (i === 1 ? { ...slot, isDestination: true } : slot)) : slots;
}

/** The pieces of a list, split at commas outside of brackets. */
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
    isDestination: index === 0 && (name === 'd' || name === '_' || second !== undefined),
    sink: name === '_' ? 'must' : spec.sinks?.includes(name) ? 'may' : undefined,
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
