/** Metadata as LLVM 14 writes it: nodes numbered from named metadata down, in pre-order, then those that functions hang on. */

import type { Attachment, Metadata, MetadataNode, Module, Value } from '../model.ts';
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

export function metadataText(module: Module): MetadataText {
  const ids = new Map<MetadataNode, number>();
  const number = (root: MetadataNode): void => {
    const open = [root];
    for (let node = open.pop(); node; node = open.pop()) {
      if (ids.has(node)) continue;
      if (isInline(node)) continue;
      ids.set(node, ids.size);
      for (const operand of [...node.operands].reverse()) if (operand?.kind === 'node') open.push(operand);
    }
  };
  for (const { metadata } of module.globals) for (const { node } of metadata ?? []) number(node);
  for (const named of module.namedMetadata) named.nodes.forEach(number);
  for (const fn of module.functions) {
    for (const { node } of fn.metadata) number(node);
    for (const block of fn.blocks)
      for (const inst of block.body) {
        for (const { metadata } of metadataArguments(inst)) if (metadata.kind === 'node') number(metadata);
        for (const { node } of inst.metadata ?? []) number(node);
      }
  }
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

/** Expressions have no number: they stand where they are used. */
const isInline = (node: MetadataNode): boolean => node.debug?.name === 'DIExpression';

const onlyConstants = (value: Value): string =>
  value.kind === 'argument' || value.kind === 'instruction' ? '<a value of a function>' : constantText(value);

function operandText(metadata: Metadata | undefined, reference: (node: MetadataNode) => string, valueText = onlyConstants): string {
  if (!metadata) return 'null';
  if (metadata.kind === 'string') return `!${quoted(metadata.value)}`;
  if (metadata.kind === 'node') return reference(metadata);
  return `${spell(metadata.value.type)} ${valueText(metadata.value)}`;
}
