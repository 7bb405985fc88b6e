/** The state of reading a function body, and access to the fields of its current record by their slots. */
import { countBits, type Plan, type Slot } from '../fields.ts';
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
  readonly scopes: readonly string[];
}

/** The current record of a body, the positions of its fields, and the tables its numbers refer to. */
export interface BodyReader {
  readonly tables: ModuleTables;
  record: OpenRecord;
  /** The first operand of each field by slot; used if `isLocated`, otherwise the slot is the index of the operand. */
  readonly located: Int32Array;
  isLocated: boolean;
  /** Values by id, below `next`; values of the module once they were used. Shared by all bodies. */
  readonly values: (Value | undefined)[];
  /** The id that the next instruction will get. */
  next: number;
  /** The value of an id that `values` lacks; a placeholder of `type` if it is defined later. */
  other(id: number, type: Type | undefined): Value;
  block(id: number): Block;
  metadata(id: number, bit: number): Metadata;
}

/** Makes a record the current one. */
export function openFields(c: BodyReader, record: OpenRecord, plan: Plan): void {
  c.record = record;
  c.isLocated = !isAligned(c, record, plan.aligned);
  if (c.isLocated) locateFields(plan, c.located, record.ops, record.count, c.next);
}

/** The first operand of a field. */
export const startOf = (c: BodyReader, slot: Slot<string>): number => (c.isLocated ? c.located[slot]! : slot);

/** Whether the operand of each field is at the field's index. */
function isAligned({ next }: BodyReader, { ops, count }: OpenRecord, aligned: number): boolean {
  if (aligned < 0 || count < (aligned & ((1 << countBits) - 1))) return false;
  if ((aligned & (1 << countBits)) !== 0 && (next - ops[0]!) >>> 0 >= next) return false;
  if ((aligned & (2 << countBits)) !== 0 && (next - ops[1]!) >>> 0 >= next) return false;
  return (aligned & (4 << countBits)) === 0 || (next - ops[2]!) >>> 0 < next;
}

/** Refuses the current record. */
export function fault(c: BodyReader, why: string): never {
  throw new Malformed(c.record.bit, 'function', why);
}

/** The value of an id; a placeholder of `type` if it is defined later. */
export const valueAt = (c: BodyReader, id: number, type: Type | undefined): Value =>
  (id < c.next ? c.values[id] : undefined) ?? c.other(id, type);

/** The operand at an index. */
export function operand(c: BodyReader, at: number): number {
  const { record } = c;
  return at < record.count ? record.ops[at]! : noOperand(c);
}

const noOperand = (c: BodyReader): never => fault(c, 'operands are missing');

/** The id at a distance back, as 32 bits: distances to later values are huge. */
const idAt = (c: BodyReader, at: number): number => (c.next - operand(c, at)) >>> 0;

/** The number of operands from the first of a field on. */
export const left = (c: BodyReader, slot: Slot<string>): number => c.record.count - startOf(c, slot);

/** Whether an optional field is present. */
export const has = (c: BodyReader, slot: Slot<`${string}?` | `${string}+` | 'explicitType' | 'fastMath'>): boolean => left(c, slot) > 0;

export const word = (c: BodyReader, slot: Slot<'word' | 'callFlags'>): number => operand(c, startOf(c, slot));

/** An optional number, 0 if it is absent. */
export const optional = (c: BodyReader, slot: Slot<'flags' | 'fastMath' | 'word+'>): number =>
  left(c, slot) > 0 ? c.record.ops[startOf(c, slot)]! : 0;

export const typeIn = (c: BodyReader, slot: Slot<'type' | 'type+' | 'operandType' | 'explicitType'>): Type => typeAt(c, startOf(c, slot));

const typeAt = (c: BodyReader, at: number): Type => c.tables.types.at(operand(c, at), c.record.bit);

/** A value, followed by its type if it is defined later. */
export const typed = (c: BodyReader, slot: Slot<'typed' | 'typed?'>): Value => typedAt(c, startOf(c, slot));

function typedAt(c: BodyReader, at: number): Value {
  const { record, next } = c;
  if (at >= record.count) return noOperand(c);
  const id = (next - record.ops[at]!) >>> 0;
  return id < next ? (c.values[id] ?? c.other(id, undefined)) : c.other(id, typeAt(c, at + 1));
}

/** All operands from an index on as such values. */
export function typedFrom(c: BodyReader, start: number): Value[] {
  const found: Value[] = [];
  for (let at = start; at < c.record.count; at += idAt(c, at) >= c.next ? 2 : 1) {
    found.push(typedAt(c, at));
  }
  return found;
}

/** A value whose type is known. */
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

/** A value by its absolute id. */
export const absolute = (c: BodyReader, slot: Slot<'id'>): Value => valueAt(c, operand(c, startOf(c, slot)), undefined);

export const blockIn = (c: BodyReader, slot: Slot<'block' | 'block?'>): Block => c.block(operand(c, startOf(c, slot)));

/** Metadata by its distance back. */
export const metadataAt = (c: BodyReader, at: number): Metadata => c.metadata(idAt(c, at), c.record.bit);

/** Metadata by its id plus 1; undefined for 0. */
export function node(c: BodyReader, slot: Slot<'node'>): Metadata | undefined {
  const id = operand(c, startOf(c, slot));
  return id === 0 ? undefined : c.metadata(id - 1, c.record.bit);
}
