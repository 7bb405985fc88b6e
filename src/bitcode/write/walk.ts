/** The state of a walk over the functions of a module. */
import type {
  Argument,
  Attachment,
  AttributeList,
  Block,
  Instruction,
  Function as LlvmFunction,
  Metadata,
  MetadataNode,
  Value,
} from '../model.ts';
import { partsOf } from '../operands.ts';
import type { Type } from '../types.ts';
import { fail } from './numbering.ts';
import type { Tape } from './tape.ts';

/** Keys in order of first use, with their indices. */
type Indices<T> = Map<T, number>;

/** The number of an instruction with some property of it. */
export type Numbered<T> = readonly [number: number, of: T];

/** The results of the walk for one function, which is not walked again. */
export interface FunctionScan {
  /** Its part of the tape. */
  readonly words: readonly [from: number, to: number];
  readonly fixups: readonly [from: number, to: number];
  /** Arguments, then constants, globals and functions that are operands. */
  readonly values: ReadonlyMap<Value, number>;
  /** Values of the function that are metadata, by the number of the argument or of the instruction's value. */
  readonly locals: readonly Numbered<Argument | Instruction>[];
  /** Names of instructions by the number of their value. */
  readonly names: readonly Numbered<string>[];
  /** Metadata attached to instructions, except locations, by the number of the instruction. */
  readonly attached: readonly Numbered<readonly Attachment[]>[];
}

/** A walk over a module, with the state of the current function. */
export interface Walk {
  readonly tape: Tape;
  readonly types: Indices<Type>;
  readonly attributes: Indices<AttributeList>;
  readonly metadata: Metadata[];
  readonly kinds: Set<string>;
  readonly functions: Map<LlvmFunction, FunctionScan>;
  /** A cache of one entry for `typeIndex`: types tend to repeat. */
  lastType: Type;
  lastIndex: number;
  /** For the record that is being written: the next field, the word of its type (-1 for none), and the type. */
  slot: number;
  typeAt: number;
  typeOfRecord: Type;
  /** Visited instructions with a value, each at its `number`. */
  instructions: Instruction[];
  values: Indices<Value>;
  blocks: ReadonlyMap<Block, number>;
  locals: Indices<Argument | Instruction>;
  /** Words for the distance to a later instruction: the number of instructions in front, the instruction, and whether it has a sign. */
  forward: { readonly at: number; readonly from: number; readonly to: Instruction; readonly isSigned: boolean }[];
  /** Words for types that are enumerated after everything else of the function. */
  lateTypes: Numbered<Type>[];
  /** Attribute lists that this function uses first. */
  lists: AttributeList[];
  location: MetadataNode | undefined;
}

/** The number of a visited instruction. */
export function numberOf({ instructions }: Walk, inst: Instruction): number {
  const { number = -1 } = inst;
  return instructions[number] === inst ? number : fail(inst);
}

/** The index of a type, which is enumerated here if it is new. */
export function typeIndex(w: Walk, type: Type): number {
  if (type === w.lastType && w.lastIndex >= 0) return w.lastIndex;
  const index = w.types.get(type) ?? w.types.size;
  if (index === w.types.size) w.types.set(type, index);
  w.lastType = type;
  w.lastIndex = index;
  return index;
}

/** The index of an operand that is not an instruction. */
export function valueIndex(w: Walk, value: Value): number {
  const known = w.values.get(value);
  if (known !== undefined) return known;
  if (value.kind === 'argument') return fail(value);
  const index = w.values.size;
  w.values.set(value, index);
  addTypes(w, value);
  return index;
}

/** Enumerates the types of a value and of its parts. */
function addTypes(w: Walk, value: Value): void {
  typeIndex(w, value.type);
  if (value.kind !== 'constant') return;
  for (const part of partsOf(value)) addTypes(w, part);
  if (value.form === 'gep') typeIndex(w, value.sourceType);
}
