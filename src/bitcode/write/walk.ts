/** A walk over the functions of a module, and what it has met. */
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

/** The number of an instruction and something of it. */
export type Numbered<T> = readonly [number: number, of: T];

/** What a function has that its instructions are not asked for again. */
export interface FunctionScan {
  /** Its part of the tape. */
  readonly words: readonly [from: number, to: number];
  readonly places: readonly [from: number, to: number];
  /** Arguments, then constants, globals and functions that are operands. */
  readonly values: ReadonlyMap<Value, number>;
  /** Values of the function that are metadata, by the number of the argument or of the instruction's value. */
  readonly locals: readonly Numbered<Argument | Instruction>[];
  /** Names of instructions by the number of their value. */
  readonly names: readonly Numbered<string>[];
  /** What hangs on instructions but for their place, by the number of the instruction. */
  readonly attached: readonly Numbered<readonly Attachment[]>[];
}

/** A walk over a module, and the function that it is at. */
export interface Walk {
  readonly tape: Tape;
  readonly types: Indices<Type>;
  readonly attributes: Indices<AttributeList>;
  readonly metadata: Metadata[];
  readonly kinds: Set<string>;
  readonly functions: Map<LlvmFunction, FunctionScan>;
  /** The type that was asked for last: often it is the next one as well. */
  lastType: Type;
  lastIndex: number;
  /** The field of the record that is being written that comes next, the word of its type (-1 for none), and the type. */
  slot: number;
  typeAt: number;
  typeOfRecord: Type;
  /** Instructions with a value that were met, each at its `number`. */
  instructions: Instruction[];
  values: Indices<Value>;
  blocks: ReadonlyMap<Block, number>;
  locals: Indices<Argument | Instruction>;
  /** Words for the distance to what comes later: from how many instructions on, to which, and whether with a sign. */
  forward: { readonly at: number; readonly from: number; readonly to: Instruction; readonly isSigned: boolean }[];
  /** Words for types that count as used once all else of the function has been met. */
  lateTypes: Numbered<Type>[];
  /** Attributes that were not met before. */
  lists: AttributeList[];
  place: MetadataNode | undefined;
}

/** The number of an instruction that was met. */
export function numberOf({ instructions }: Walk, inst: Instruction): number {
  const { number = -1 } = inst;
  return instructions[number] === inst ? number : fail(inst);
}

/** The index of a type, which counts as used. */
export function typeIndex(w: Walk, type: Type): number {
  if (type === w.lastType && w.lastIndex >= 0) return w.lastIndex;
  const index = w.types.get(type) ?? w.types.size;
  if (index === w.types.size) w.types.set(type, index);
  w.lastType = type;
  w.lastIndex = index;
  return index;
}

/** The index of an operand that is no instruction. */
export function valueIndex(w: Walk, value: Value): number {
  const known = w.values.get(value);
  if (known !== undefined) return known;
  if (value.kind === 'argument') return fail(value);
  const index = w.values.size;
  w.values.set(value, index);
  addTypes(w, value);
  return index;
}

/** The types of a value and of what it is made of. */
function addTypes(w: Walk, value: Value): void {
  typeIndex(w, value.type);
  if (value.kind !== 'constant') return;
  for (const part of partsOf(value)) addTypes(w, part);
  if (value.form === 'gep') typeIndex(w, value.sourceType);
}
