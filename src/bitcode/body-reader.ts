/** What reading function bodies is given: the tables of the module, and what is known of the body so far. */
import type { Block, Metadata, Value } from './model.ts';
import type { AttributeTable } from './read-attributes.ts';
import type { ConstantSource } from './read-constants.ts';
import type { MetadataTable } from './read-metadata.ts';
import type { TypeTable } from './read-types.ts';
import type { Type } from './types.ts';

export interface ModuleTables {
  readonly types: TypeTable;
  readonly attributes: AttributeTable;
  readonly values: ConstantSource;
  readonly metadata: MetadataTable;
  readonly kinds: ReadonlyMap<number, string>;
}

/** What reading one record of a body needs. */
export interface BodyReader {
  readonly tables: ModuleTables;
  /** The value of an absolute id; a placeholder of `type` where it is not defined yet. */
  absolute(id: number, type: Type | undefined, bit: number): Value;
  /** The id that the next instruction will get. */
  next(): number;
  block(id: number | bigint | undefined, bit: number): Block;
  metadata(id: number, bit: number): Metadata;
}
