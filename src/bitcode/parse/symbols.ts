/** What a module in text defines, by name: types, globals, functions, attribute groups and metadata. */
import type { Attribute, GlobalVariable, Function as LlvmFunction, MetadataNode } from '../model.ts';
import type { TypeOf } from '../types.ts';
import type { TextReader } from './text-reader.ts';

export interface Symbols {
  readonly structs: Map<string, TypeOf<'struct'>>;
  readonly globals: Map<string, GlobalVariable>;
  readonly functions: Map<string, LlvmFunction>;
  readonly groups: Map<number, readonly Attribute[]>;
  readonly nodes: Map<number, MetadataNode>;
}

export const newSymbols = (): Symbols => ({
  structs: new Map(),
  globals: new Map(),
  functions: new Map(),
  groups: new Map(),
  nodes: new Map(),
});

/** `!7`: a node that the module defines. */
export function nodeReference(reader: TextReader, { nodes }: Symbols): MetadataNode {
  const number = Number(reader.match(/!(\d+)/y)?.[1] ?? reader.fail('expected a metadata node such as `!7`'));
  return nodes.get(number) ?? reader.fail(`the module has no node \`!${number}\``);
}
