/** What reading function bodies needs: the tables of the module, and the fields of the record at hand by their slots. */
import { leastBits, type Plan, type Slot } from '../fields.ts';
import { Malformed } from '../malformed.ts';
import type { Block, Metadata, Value } from '../model.ts';
import { spell, type Type } from '../types.ts';
import type { AttributeTable } from './attributes.ts';
import type { ConstantSource } from './constants.ts';
import type { MetadataTable } from './metadata.ts';
import { locateFields } from './record-fields.ts';
import type { OpenRecord } from './record-reader.ts';
import type { TypeTable } from './types.ts';

export interface ModuleTables {
  readonly types: TypeTable;
  readonly attributes: AttributeTable;
  readonly values: ConstantSource;
  readonly metadata: MetadataTable;
  readonly kinds: ReadonlyMap<number, string>;
}

/** What reading the records of a body needs: the record at hand, where its fields are, and what its numbers mean. */
export interface BodyReader {
  readonly tables: ModuleTables;
  record: OpenRecord;
  /** The first operand of each field by slot, for records where it does not have the field's index. */
  readonly located: Int32Array;
  isLocated: boolean;
  /** Values by their ids, up to `next`; of those of the module the ones that were asked for. Bodies use the list one after another. */
  readonly values: (Value | undefined)[];
  /** The id that the next instruction will get. */
  next: number;
  /** The value of an id that `values` does not have; a placeholder of `type` where it is not defined yet. */
  other(id: number, type: Type | undefined): Value;
  block(id: number): Block;
  metadata(id: number, bit: number): Metadata;
}

/** Makes a record the one at hand. */
export function openFields(c: BodyReader, record: OpenRecord, plan: Plan): void {
  c.record = record;
  c.isLocated = !isAligned(c, record, plan.aligned);
  if (c.isLocated) locateFields(plan, c.located, record.ops, record.count, c.next);
}

/** The first operand of a field. */
export const startOf = (c: BodyReader, slot: Slot<string>): number => (c.isLocated ? c.located[slot]! : slot);

/** Whether the operand of each field is at the field's index. */
function isAligned({ next }: BodyReader, { ops, count }: OpenRecord, aligned: number): boolean {
  if (aligned < 0 || count < (aligned & ((1 << leastBits) - 1))) return false;
  if ((aligned & (1 << leastBits)) !== 0 && (next - ops[0]!) >>> 0 >= next) return false;
  if ((aligned & (2 << leastBits)) !== 0 && (next - ops[1]!) >>> 0 >= next) return false;
  return (aligned & (4 << leastBits)) === 0 || (next - ops[2]!) >>> 0 < next;
}

/** Refuses the record at hand. */
export function fault(c: BodyReader, why: string): never {
  throw new Malformed(c.record.bit, 'function', why);
}

/** The value of an id; a placeholder of `type` where it is not defined yet. */
export const valueAt = (c: BodyReader, id: number, type: Type | undefined): Value =>
  (id < c.next ? c.values[id] : undefined) ?? c.other(id, type);

/** The operand at an index. */
export function operand(c: BodyReader, at: number): number {
  const { record } = c;
  return at < record.count ? record.ops[at]! : noOperand(c);
}

const noOperand = (c: BodyReader): never => fault(c, 'operands are missing');

/** A distance back, as 32 bits: those that would point forward are huge. */
const idAt = (c: BodyReader, at: number): number => (c.next - operand(c, at)) >>> 0;

/** How many operands there are from the first of a field on. */
export const left = (c: BodyReader, slot: Slot<string>): number => c.record.count - startOf(c, slot);

/** Whether an optional field is present. */
export const has = (c: BodyReader, slot: Slot<`${string}?` | `${string}+` | 'explicitType' | 'fastMath'>): boolean => left(c, slot) > 0;

export const word = (c: BodyReader, slot: Slot<'word' | 'callFlags'>): number => operand(c, startOf(c, slot));

/** A number that may be absent, 0 then. */
export const optional = (c: BodyReader, slot: Slot<'flags' | 'fastMath' | 'word+'>): number =>
  left(c, slot) > 0 ? c.record.ops[startOf(c, slot)]! : 0;

export const typeIn = (c: BodyReader, slot: Slot<'type' | 'type+' | 'operandType' | 'explicitType'>): Type => typeAt(c, startOf(c, slot));

const typeAt = (c: BodyReader, at: number): Type => c.tables.types.at(operand(c, at), c.record.bit);

/** A value that brings its type along when it is defined later. */
export const typed = (c: BodyReader, slot: Slot<'typed' | 'typed?'>): Value => typedAt(c, startOf(c, slot));

function typedAt(c: BodyReader, at: number): Value {
  const { record, next } = c;
  if (at >= record.count) return noOperand(c);
  const id = (next - record.ops[at]!) >>> 0;
  return id < next ? (c.values[id] ?? c.other(id, undefined)) : c.other(id, typeAt(c, at + 1));
}

/** All operands from an index on as values that bring their types along. */
export function typedFrom(c: BodyReader, start: number): Value[] {
  const found: Value[] = [];
  for (let at = start; at < c.record.count; at += idAt(c, at) >= c.next ? 2 : 1) {
    found.push(typedAt(c, at));
  }
  return found;
}

/** A value whose type is known from elsewhere. */
export const value = (c: BodyReader, slot: Slot<'value' | 'value?'>, type: Type): Value => valueWith(c, startOf(c, slot), type);

/** The same at an index. */
export function valueWith(c: BodyReader, at: number, type: Type): Value {
  const { record, next } = c;
  if (at >= record.count) return noOperand(c);
  const id = (next - record.ops[at]!) >>> 0;
  const found = (id < next ? c.values[id] : undefined) ?? c.other(id, type);
  if (found.type !== type) fault(c, `an operand of type ${spell(found.type)} where ${spell(type)} belongs`);
  return found;
}

/** The value of an id that is no distance. */
export const absolute = (c: BodyReader, slot: Slot<'id'>): Value => valueAt(c, operand(c, startOf(c, slot)), undefined);

export const blockIn = (c: BodyReader, slot: Slot<'block' | 'block?'>): Block => c.block(operand(c, startOf(c, slot)));

/** Metadata by its distance back. */
export const metadataAt = (c: BodyReader, at: number): Metadata => c.metadata(idAt(c, at), c.record.bit);

/** Metadata by its id plus 1, nothing for 0. */
export function node(c: BodyReader, slot: Slot<'node'>): Metadata | undefined {
  const id = operand(c, startOf(c, slot));
  return id === 0 ? undefined : c.metadata(id - 1, c.record.bit);
}
