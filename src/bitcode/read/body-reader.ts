/** What reading function bodies is given: the tables of the module, and what is known of the body so far. */
import type { Block, Metadata, Value } from '../model.ts';
import type { Type } from '../types.ts';
import type { AttributeTable } from './attributes.ts';
import type { ConstantSource } from './constants.ts';
import type { MetadataTable } from './metadata.ts';
import type { OpenRecord } from './record-reader.ts';
import type { TypeTable } from './types.ts';

export interface ModuleTables {
  readonly types: TypeTable;
  readonly attributes: AttributeTable;
  readonly values: ConstantSource;
  readonly metadata: MetadataTable;
  readonly kinds: ReadonlyMap<number, string>;
}

/** What reading the records of a body needs: the record at hand, how far it is read, and what its numbers mean. */
export interface BodyReader {
  readonly tables: ModuleTables;
  record: OpenRecord;
  /** The operand that is read next. */
  at: number;
  /** Values by their ids, up to `next`; of those of the module the ones that were asked for. Bodies use the list one after another. */
  readonly values: (Value | undefined)[];
  /** The id that the next instruction will get. */
  next: number;
  /** The value of an id that `values` does not have; a placeholder of `type` where it is not defined yet. */
  other(id: number, type: Type | undefined): Value;
  block(id: number): Block;
  metadata(id: number, bit: number): Metadata;
}

/** The value of an id; a placeholder of `type` where it is not defined yet. */
export const valueAt = (c: BodyReader, id: number, type: Type | undefined): Value =>
  (id < c.next ? c.values[id] : undefined) ?? c.other(id, type);
