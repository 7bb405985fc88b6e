/**
 * Places in a source file. In bitcode an instruction’s place is a record behind it; in the model it is a node that the instruction
 * has as its first attachment, as in LLVM’s text.
 */
import type { Attachment, Instruction, Metadata, MetadataNode } from './model.ts';

const locationName = 'DILocation';
export const dbg = 'dbg';

/** The place of an instruction, and its other attachments. */
export function placeOf(inst: Instruction): { readonly place: MetadataNode | undefined; readonly others: readonly Attachment[] } {
  const list = inst.metadata ?? [];
  const isPlace = list[0]?.kind === dbg && list[0].node.debug?.name === locationName;
  return isPlace ? { place: list[0]!.node, others: list.slice(1) } : { place: undefined, others: list };
}

/** Equal places of a function are one node, be they of instructions or in nodes of the module. */
export interface Locations {
  at(values: readonly (number | bigint)[], scope: Metadata | undefined, inlinedAt: Metadata | undefined): MetadataNode;
}

/** `known` gives the metadata that the function can refer to; it is asked once a place is wanted. */
export function locations(known: () => readonly Metadata[]): Locations {
  const identities = new Map<Metadata | undefined, number>();
  const identity = (of: Metadata | undefined): number => {
    const before = identities.get(of);
    if (before !== undefined) return before;
    identities.set(of, identities.size);
    return identities.size - 1;
  };
  let nodes: Map<string, MetadataNode> | undefined;
  const keyOf = ([, line, column, , , implicit]: readonly (number | bigint)[], operands: readonly (Metadata | undefined)[]): string =>
    [line, column, implicit ?? 0, ...operands.map(identity)].join(' ');
  const inModule = (): Map<string, MetadataNode> => {
    const found = new Map<string, MetadataNode>();
    for (const node of known())
      if (node.kind === 'node' && node.debug?.name === locationName && !node.distinct)
        found.set(keyOf(node.debug.values, node.operands), node);
    return found;
  };
  return {
    at(values, scope, inlinedAt) {
      nodes ??= inModule();
      const operands = [scope, inlinedAt];
      const key = keyOf(values, operands);
      const before = nodes.get(key);
      if (before) return before;
      const node: MetadataNode = { kind: 'node', distinct: false, operands, debug: { name: locationName, values } };
      nodes.set(key, node);
      return node;
    },
  };
}
