/** Metadata as LLVM 14 writes it: nodes numbered from named metadata down, in pre-order, then those attached to functions. */

import type { Attachment, Instruction, Metadata, MetadataNode, Module, Value } from '../model.ts';
import { spell } from '../types.ts';
import { metadataArguments } from '../write/number-metadata.ts';
import { constantText, quoted } from './constants.ts';
import { debugText } from './debug-info.ts';

export interface MetadataText {
  /** `!7` */
  reference(node: MetadataNode): string;
  /** As an argument: `!7`, `!"text"`, `i32 %x`. */
  argument(metadata: Metadata, value: (value: Value) => string): string;
  /** `, !tbaa !7` behind an instruction. */
  attachments(list: readonly Attachment[] | undefined, separator: string): string;
  namedLines(): string[];
  nodeLines(): string[];
}

/** Numbers of nodes in pre-order: from globals, then from named metadata, then from functions. */
function numberNodes(module: Module): ReadonlyMap<MetadataNode, number> {
  const ids = new Map<MetadataNode, number>();
  for (const root of rootsOf(module)) {
    const open = [root];
    for (let node = open.pop(); node; node = open.pop()) {
      if (ids.has(node) || isInline(node)) continue;
      ids.set(node, ids.size);
      for (const operand of [...node.operands].reverse()) if (operand?.kind === 'node') open.push(operand);
    }
  }
  return ids;
}

/** The nodes that a module refers to outside of metadata, in LLVM's order. */
function* rootsOf(module: Module): Generator<MetadataNode> {
  for (const { metadata } of module.globals) yield* nodesOf(metadata);
  for (const { nodes } of module.namedMetadata) yield* nodes;
  for (const fn of module.functions) {
    yield* nodesOf(fn.metadata);
    for (const block of fn.blocks) for (const inst of block.body) yield* rootsOfInstruction(inst);
  }
}

const nodesOf = (list: readonly Attachment[] | undefined): MetadataNode[] => (list ?? []).map(({ node }) => node);

const rootsOfInstruction = (inst: Instruction): MetadataNode[] => [
  ...metadataArguments(inst).flatMap(({ metadata }) => (metadata.kind === 'node' ? [metadata] : [])),
  ...nodesOf(inst.metadata),
];

export function metadataText(module: Module): MetadataText {
  const ids = numberNodes(module);
  const reference = (node: MetadataNode): string => (isInline(node) ? content(node) : `!${ids.get(node)}`);
  const content = (node: MetadataNode): string => {
    const operand = (m: Metadata | undefined): string => operandText(m, reference);
    return node.debug ? debugText(node, node.debug, operand) : `!{${node.operands.map(operand).join(', ')}}`;
  };
  return {
    reference,
    argument: (metadata, value) => operandText(metadata, reference, value),
    attachments: (list, separator) => (list ?? []).map(({ kind, node }) => `${separator}!${kind} ${reference(node)}`).join(''),
    namedLines: () => module.namedMetadata.map(({ name, nodes }) => `!${name} = !{${nodes.map(reference).join(', ')}}`),
    nodeLines: () => [...ids].map(([node, id]) => `!${id} = ${node.distinct ? 'distinct ' : ''}${content(node)}`),
  };
}

/** Whether a node has no number and is printed at its uses, as expressions are. */
const isInline = (node: MetadataNode): boolean => node.debug?.name === 'DIExpression';

const onlyConstants = (value: Value): string =>
  value.kind === 'argument' || value.kind === 'instruction' ? '<a value of a function>' : constantText(value);

function operandText(metadata: Metadata | undefined, reference: (node: MetadataNode) => string, valueText = onlyConstants): string {
  if (!metadata) return 'null';
  if (metadata.kind === 'string') return `!${quoted(metadata.value)}`;
  if (metadata.kind === 'node') return reference(metadata);
  return `${spell(metadata.value.type)} ${valueText(metadata.value)}`;
}
