/** Conversion between metadata and strings, integers and tuples. */
import type { Metadata, MetadataNode } from '../bitcode/model.ts';
import { i32Constant } from './constants.ts';

export type Item = string | number | Metadata;

/** A tuple of strings (metadata strings), numbers (i32 constants) and metadata. */
export function node(...items: Item[]): MetadataNode {
  return { kind: 'node', distinct: false, operands: items.map(metadata) };
}

function metadata(item: Item): Metadata {
  if (typeof item === 'string') return { kind: 'string', value: item };
  return typeof item === 'number' ? { kind: 'value', value: i32Constant(item) } : item;
}

/** A string of metadata. */
export const textAt = (m: Metadata | undefined): string | undefined => (m?.kind === 'string' ? m.value : undefined);

/** The value of an integer in metadata, as an unsigned one. */
export function numberAt(m: Metadata | undefined): number | undefined {
  return m?.kind === 'value' && m.value.kind === 'constant' && m.value.form === 'int' ? Number(m.value.value) : undefined;
}
