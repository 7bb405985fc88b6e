/**
 * Fields of records: what a row of `records.ts` declares, and the types that writer and reader derive from it, so that a field that
 * is renamed or removed there is a type error in both. The order of the operands is that of the fields, and is known here alone.
 * Source: `llvm/lib/Bitcode/Writer/BitcodeWriter.cpp`, `Reader/BitcodeReader.cpp` of LLVM 14.
 */

/** The operands that a field of each kind takes. */
const operandsOfKind = {
  /** A number of up to 64 bits. */
  word: 'one',
  /** A distance back to a value of known type. */
  value: 'one',
  /** A distance back to a value, followed by its type if the value is defined later. */
  typed: 'typed',
  /** The id of a value. */
  id: 'one',
  type: 'one',
  /** The type of an operand, which LLVM enumerates at the definition of the operand. */
  operandType: 'one',
  block: 'one',
  attributes: 'one',
  /** The id of metadata plus 1, 0 for none. */
  node: 'one',
  /** Flags, left out if they are 0. */
  flags: 'optional',
  /** Flags of a call, which decide whether the next two are present. */
  callFlags: 'callFlags',
  fastMath: 'fastMath',
  explicitType: 'explicitType',
  /** All remaining operands: numbers, pairs of numbers, bytes of UTF-8, values with types, arguments of a call. */
  words: 'rest',
  pairs: 'pairs',
  text: 'rest',
  typedList: 'rest',
  arguments: 'rest',
  /** Pairs of a signed distance to a value and a block, of the id of a constant and a block. */
  incoming: 'pairs',
  cases: 'pairs',
  /** Bytes after the operands. */
  blob: 'none',
} as const;

export type Kind = keyof typeof operandsOfKind;

/** Which operands a field takes, as numbers for the reader's loop. */
export const steps = { none: 0, one: 1, typed: 2, optional: 3, callFlags: 4, fastMath: 5, explicitType: 6, rest: 7, pairs: 8 } as const;

/**
 * The fields of a record in the order of its operands. `?` marks one that may be left out, `+` one that older writers leave out and
 * ours always writes. Such a field is present if more operands remain than the fields behind it take; in front of pairs, if their
 * number is odd.
 */
export type Fields = Readonly<Record<string, Kind | `${Kind}?` | `${Kind}+`>>;

export interface RecordRow<F extends Fields = Fields> {
  readonly code: number;
  readonly fields: F;
  /** Made when it is first asked for. */
  plan: Plan | undefined;
}

type KindOf<S> = S extends `${infer K}?` | `${infer K}+` ? K : S;

/** The fields of a record that a writer passes, by name; `Operands` maps kinds to types. */
export type Written<F, Operands> = {
  readonly [N in keyof F as F[N] extends `${string}?` ? never : N]: Operands[KindOf<F[N]> & keyof Operands];
} & {
  readonly [N in keyof F as F[N] extends `${string}?` ? N : never]?: Operands[KindOf<F[N]> & keyof Operands] | undefined;
};

/** The fields of a record that a reader gets, by name; undefined for one that is left out. */
export type Read<F, Operands> = {
  readonly [N in keyof F]: Operands[KindOf<F[N]> & keyof Operands] | (F[N] extends `${string}?` | `${string}+` ? undefined : never);
};

declare const kindOfSlot: unique symbol;
/** The index of a field in its record. Its type is the declared kind: `typed`, or `typed?` if it may be absent. */
export type Slot<K extends string> = number & { readonly [kindOfSlot]: K };
/** The slots of a record by the names of its fields. */
export type Slots<F> = { readonly [N in keyof F]: Slot<F[N] & string> };

/** In `Plan.aligned`: the bits of the operand count, and the bits behind them for the first fields, set if they are `typed`. */
export const countBits = 8;
const typedBits = 3;

export interface PlannedField {
  readonly name: string;
  readonly kind: Kind;
  readonly isOptional: boolean;
}

/** A row prepared for loops over its fields. */
export interface Plan {
  readonly fields: readonly PlannedField[];
  /** One of `steps` for each field. */
  readonly steps: Uint8Array;
  /** The operands that the fields behind each take at least. */
  readonly behind: Uint8Array;
  /** The number of fields up to the last one that writers must give. */
  readonly written: number;
  /**
   * Nearly all records have the operand of each field at the field's index: those with enough operands, none of them defined later.
   * The low bits are that number of operands, the bits above them the fields that are `typed`; -1 if fields move for other reasons.
   */
  readonly aligned: number;
  /** Each field's index by its name. */
  readonly slots: Readonly<Record<string, number>>;
}

/** The plan of a row. */
export function planOf(row: RecordRow): Plan {
  row.plan ??= makePlan(row.fields);
  return row.plan;
}

/** The slots of a row's fields. */
export const slotsOf = <F extends Fields>(row: RecordRow<F>): Slots<F> => planOf(row).slots as Slots<F>;

function makePlan(declared: Fields): Plan {
  const fields = Object.entries(declared).map(([name, text]): PlannedField => {
    const isOptional = text.endsWith('?') || text.endsWith('+');
    return { name, kind: (isOptional ? text.slice(0, -1) : text) as Kind, isOptional };
  });
  const behind = new Uint8Array(fields.length);
  for (let i = fields.length - 2; i >= 0; i--) behind[i] = behind[i + 1]! + minOperands(fields[i + 1]!);
  const list = Uint8Array.from(fields, ({ kind, isOptional }) => steps[isOptional ? 'optional' : operandsOfKind[kind]]);
  const isShifted = (step: number, i: number): boolean =>
    step === steps.fastMath || step === steps.explicitType || (step === steps.pairs && i < fields.length - 1);
  const typed = [...list.keys()].filter((i) => list[i] === steps.typed);
  const least = upToLast(fields.map(({ isOptional, kind }) => !isOptional && operandsOfKind[kind] !== 'optional'));
  const isAligned = !list.some(isShifted) && typed.every((i) => i < typedBits);
  return {
    fields,
    behind,
    steps: list,
    written: upToLast(fields.map(({ name }) => !declared[name]!.endsWith('?'))),
    aligned: isAligned ? least | typed.reduce((bits, i) => bits | (1 << (countBits + i)), 0) : -1,
    slots: Object.fromEntries(fields.map(({ name }, i) => [name, i])),
  };
}

const upToLast = (list: readonly boolean[]): number => list.lastIndexOf(true) + 1;

const minOperands = ({ kind, isOptional }: PlannedField): number =>
  !isOptional && ['one', 'typed', 'callFlags'].includes(operandsOfKind[kind]) ? 1 : 0;
