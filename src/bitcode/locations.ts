/**
 * Source locations. In bitcode the location of an instruction is a record behind it; in the model it is a node that is the first
 * attachment of the instruction, as in LLVM’s text.
 */
import { bug } from '../base/bug.ts';
import { debugRowNamed } from './debug-info.ts';
import type { Attachment, Instruction, Metadata, MetadataNode } from './model.ts';

const locationName = 'DILocation';
export const dbg = 'dbg';

/** The location of an instruction, and its other attachments. */
export function locationOf(inst: Instruction): { readonly location: MetadataNode | undefined; readonly others: readonly Attachment[] } {
  const list = inst.metadata ?? [];
  const isLocation = list[0]?.kind === dbg && list[0].node.debug?.name === locationName;
  return isLocation ? { location: list[0]!.node, others: list.slice(1) } : { location: undefined, others: list };
}

/** The fields of a location that are numbers. */
export interface LocationFields {
  readonly line: number;
  readonly column: number;
  /** 1 for code that the compiler made, else 0. */
  readonly implicit: number;
}

const { fields } = debugRowNamed(locationName) ?? bug('bitcode: no row for locations');
const [lineAt, columnAt, implicitAt] = (['line', 'column', 'implicit'] as const).map((name) =>
  fields.findIndex((field) => field.name === name),
) as [number, number, number];

/** The fields of a location by their names, from the values of its record. */
export const locationFields = (values: readonly (number | bigint)[]): LocationFields => ({
  line: Number(values[lineAt] ?? 0),
  column: Number(values[columnAt] ?? 0),
  implicit: Number(values[implicitAt] ?? 0),
});

/** The values of a location's record; those that refer to metadata are 0. */
function valuesOf({ line, column, implicit }: LocationFields): number[] {
  const values = fields.map(() => 0);
  values[lineAt] = line;
  values[columnAt] = column;
  values[implicitAt] = implicit;
  return values;
}

/** Equal locations of a function are one node, whether of instructions or among the nodes of the module. */
export interface Locations {
  at(location: LocationFields, scope: Metadata | undefined, inlinedAt: Metadata | undefined): MetadataNode;
}

/** `known` returns the metadata that the function can refer to; it is called at the first location. */
export function newLocations(known: () => readonly Metadata[]): Locations {
  const identities = new Map<Metadata | undefined, number>();
  const identity = (of: Metadata | undefined): number => {
    const before = identities.get(of);
    if (before !== undefined) return before;
    identities.set(of, identities.size);
    return identities.size - 1;
  };
  let nodes: Map<string, MetadataNode> | undefined;
  const keyOf = ({ line, column, implicit }: LocationFields, operands: readonly (Metadata | undefined)[]): string =>
    [line, column, implicit, ...operands.map(identity)].join(' ');
  const inModule = (): Map<string, MetadataNode> => {
    const found = new Map<string, MetadataNode>();
    for (const node of known())
      if (node.kind === 'node' && node.debug?.name === locationName && !node.distinct)
        found.set(keyOf(locationFields(node.debug.values), node.operands), node);
    return found;
  };
  return {
    at(location, scope, inlinedAt) {
      nodes ??= inModule();
      const operands = [scope, inlinedAt];
      const key = keyOf(location, operands);
      const before = nodes.get(key);
      if (before) return before;
      const node: MetadataNode = { kind: 'node', distinct: false, operands, debug: { name: locationName, values: valuesOf(location) } };
      nodes.set(key, node);
      return node;
    },
  };
}
