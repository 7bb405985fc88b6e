/**
 * Records of the function block on the tape, field by field: each is named by its slot, whose type says how it is encoded, and
 * `endRecord` demands all that the table declares, in its order. (An object for each record would double the time of writing.)
 * Operands are distances back to their definitions; one that is defined later is a large unsigned distance with its type behind it;
 * phis use signed distances.
 */
import { bug } from '../../base/bug.ts';
import { type Plan, planOf, type Slot, type Slots } from '../fields.ts';
import type { AttributeList, Block, Instruction, InstructionOf, Metadata, Value } from '../model.ts';
import { isLocal } from '../operands.ts';
import { blocks, type RecordName } from '../records.ts';
import type { Type } from '../types.ts';
import { fail } from './numbering.ts';
import { endOperands, put, refer, references } from './tape.ts';
import { typeIndex, valueIndex, type Walk } from './walk.ts';

type Rows = typeof blocks.function.records;

/** A record of the function block, prepared for writing. */
export interface WrittenRecord<N extends RecordName<'function'>> {
  readonly code: number;
  readonly plan: Plan;
  /** Its fields by their names. */
  readonly f: Slots<Rows[N]['fields']>;
}

/** Every record of the function block. */
export const bodyRecords = Object.fromEntries(
  Object.entries(blocks.function.records).map(([name, row]) => {
    const plan = planOf(row);
    return [name, { code: row.code, plan, f: plan.slots }];
  }),
) as unknown as { readonly [N in RecordName<'function'>]: WrittenRecord<N> };

/** Ends the record whose fields were put. */
export function endRecord(w: Walk, { code, plan }: WrittenRecord<RecordName<'function'>>): void {
  if (w.slot < plan.written) bug(`bitcode: record ${code} lacks its field ${plan.fields[w.slot]!.name}`);
  // LLVM enumerates the operands of an instruction before its type.
  if (w.typeAt >= 0) refer(w.tape, w.typeAt, references.type, typeIndex(w, w.typeOfRecord));
  w.slot = 0;
  w.typeAt = -1;
  endOperands(w.tape, code);
}

/** Checks that a field is the next one of its record. */
function next(w: Walk, slot: number): void {
  if (slot !== w.slot) bug(`bitcode: field ${slot} of a record in place of ${w.slot}`);
  w.slot = slot + 1;
}

export function word(w: Walk, slot: Slot<'word' | 'word+' | 'callFlags'>, value: number): void {
  next(w, slot);
  put(w.tape, value);
}

/** Flags of 32 bits, left out if they are 0; further bits of a file have no meaning. */
export function flags(w: Walk, slot: Slot<'flags' | 'fastMath'>, value: number): void {
  next(w, slot);
  if ((value | 0) !== 0) put(w.tape, value);
}

/** The distance back to a value. */
export function value(w: Walk, slot: Slot<'value' | 'value?'>, of: Value): void {
  next(w, slot);
  distance(w, of);
}

/** The same, followed by the type if the value is defined later. */
export function typed(w: Walk, slot: Slot<'typed' | 'typed?'>, of: Value): void {
  next(w, slot);
  withType(w, of);
}

/** The id of a value. */
export function id(w: Walk, slot: Slot<'id'>, of: Value): void {
  next(w, slot);
  putId(w, of);
}

export function type(w: Walk, slot: Slot<'type' | 'type+' | 'explicitType'>, of: Type): void {
  next(w, slot);
  w.typeAt = put(w.tape, 0);
  w.typeOfRecord = of;
}

export function operandType(w: Walk, slot: Slot<'operandType'>, of: Type): void {
  next(w, slot);
  lateType(w, of);
}

export function block(w: Walk, slot: Slot<'block' | 'block?'>, of: Block): void {
  next(w, slot);
  putBlock(w, of);
}

export function words(w: Walk, slot: Slot<'words'>, list: readonly number[]): void {
  next(w, slot);
  for (const each of list) put(w.tape, each);
}

export function typedList(w: Walk, slot: Slot<'typedList'>, list: readonly Value[]): void {
  next(w, slot);
  for (const each of list) withType(w, each);
}

export function incoming(w: Walk, slot: Slot<'incoming'>, list: InstructionOf<'phi'>['incoming']): void {
  next(w, slot);
  for (const each of list) {
    signedDistance(w, each.value);
    putBlock(w, each.block);
  }
}

export function cases(w: Walk, slot: Slot<'cases'>, list: InstructionOf<'switch'>['cases']): void {
  next(w, slot);
  for (const each of list) {
    putId(w, each.value);
    putBlock(w, each.block);
  }
}

/** Arguments of a call; variadic ones have their types behind them if they are defined later. */
export function callArguments(w: Walk, slot: Slot<'arguments'>, { args, functionType }: InstructionOf<'call'>): void {
  next(w, slot);
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg.kind === 'metadata') metadataDistance(w, arg.metadata);
    else if (i < functionType.params.length) distance(w, arg);
    else withType(w, arg);
  }
}

/** The id of metadata plus 1, 0 for none. */
export function node(w: Walk, slot: Slot<'node'>, of: Metadata | undefined): void {
  next(w, slot);
  const at = put(w.tape, 0);
  if (of) refer(w.tape, at, references.node, w.metadata.push(of) - 1);
}

export function attributes(w: Walk, slot: Slot<'attributes'>, list: AttributeList): void {
  next(w, slot);
  let index = w.attributes.get(list);
  if (index === undefined) {
    index = w.attributes.size;
    w.attributes.set(list, index);
    w.lists.push(list);
  }
  refer(w.tape, put(w.tape, 0), references.attributes, index);
}

// ── operands ──

/** Whether an operand is an instruction that was visited; its number is that of its value then. Numbers may be of an earlier walk. */
const isVisited = ({ instructions }: Walk, of: Value): of is Instruction & { readonly number: number } => {
  const { number } = of as Instruction;
  return number !== undefined && instructions[number] === of;
};

/** Puts the distance back to an operand; returns whether it is defined later. */
function distance(w: Walk, of: Value): boolean {
  const { tape, instructions } = w;
  const from = instructions.length;
  if (isVisited(w, of)) {
    put(tape, from - of.number);
    return false;
  }
  const at = put(tape, from);
  if (of.kind === 'instruction') w.forward.push({ at, from, to: of, isSigned: false });
  else refer(tape, at, references.value, valueIndex(w, of));
  return of.kind === 'instruction';
}

function withType(w: Walk, of: Value): void {
  if (distance(w, of)) lateType(w, of.type);
}

function signedDistance(w: Walk, of: Value): void {
  const { tape, instructions } = w;
  const from = instructions.length;
  if (isVisited(w, of)) return void put(tape, 2 * (from - of.number));
  const at = put(tape, from);
  if (of.kind === 'instruction') w.forward.push({ at, from, to: of, isSigned: true });
  else refer(tape, at, references.signedValue, valueIndex(w, of));
}

function putId(w: Walk, of: Value): void {
  if (isVisited(w, of)) return refer(w.tape, put(w.tape, of.number), references.instruction, 0);
  if (of.kind === 'instruction') return fail(of);
  refer(w.tape, put(w.tape, 0), references.id, valueIndex(w, of));
}

const lateType = (w: Walk, of: Type): void => void w.lateTypes.push([put(w.tape, 0), of]);
const putBlock = (w: Walk, of: Block): void => void put(w.tape, w.blocks.get(of) ?? fail('a block of another function'));

/** Puts the distance back to metadata, whose ids start with those of the module. */
function metadataDistance(w: Walk, of: Metadata): void {
  const at = put(w.tape, w.instructions.length);
  if (!isLocal(of)) return refer(w.tape, at, references.metadata, w.metadata.push(of) - 1);
  const index = w.locals.get(of.value) ?? w.locals.size;
  w.locals.set(of.value, index);
  refer(w.tape, at, references.localMetadata, index);
}
