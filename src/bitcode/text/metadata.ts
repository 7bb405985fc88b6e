/** Metadata as LLVM 14 writes it: nodes numbered from named metadata down, in pre-order, then those that functions hang on. */
import type { Attachment, Metadata, MetadataNode, Module } from '../model.ts';
import { spell } from '../types.ts';
import { constantText, quoted } from './constants.ts';

export interface MetadataText {
  /** `!7` */
  reference(node: MetadataNode): string;
  /** `, !tbaa !7` behind an instruction. */
  attachments(list: readonly Attachment[] | undefined, separator: string): string;
  namedLines(): string[];
  nodeLines(): string[];
}

export function metadataText(module: Module): MetadataText {
  const ids = new Map<MetadataNode, number>();
  const number = (node: MetadataNode): void => {
    if (ids.has(node)) return;
    ids.set(node, ids.size);
    for (const operand of node.operands) if (operand?.kind === 'node') number(operand);
  };
  for (const named of module.namedMetadata) named.nodes.forEach(number);
  for (const fn of module.functions) {
    for (const { node } of fn.metadata) number(node);
    for (const block of fn.blocks)
      for (const inst of block.body) {
        if (inst.op === 'call') for (const arg of inst.args) if (arg.kind === 'node') number(arg);
        for (const { node } of inst.metadata ?? []) number(node);
      }
  }
  const reference = (node: MetadataNode): string => `!${ids.get(node)}`;
  return {
    reference,
    attachments: (list, separator) => (list ?? []).map(({ kind, node }) => `${separator}!${kind} ${reference(node)}`).join(''),
    namedLines: () => module.namedMetadata.map(({ name, nodes }) => `!${name} = !{${nodes.map(reference).join(', ')}}`),
    nodeLines: () =>
      [...ids].map(
        ([node, id]) => `!${id} = ${node.distinct ? 'distinct ' : ''}!{${node.operands.map((m) => operandText(m, reference)).join(', ')}}`,
      ),
  };
}

function operandText(metadata: Metadata | undefined, reference: (node: MetadataNode) => string): string {
  if (!metadata) return 'null';
  if (metadata.kind === 'string') return `!${quoted(metadata.value)}`;
  if (metadata.kind === 'node') return reference(metadata);
  const { value } = metadata;
  const text = value.kind === 'argument' || value.kind === 'instruction' ? '<a value of a function>' : constantText(value);
  return `${spell(value.type)} ${text}`;
}
