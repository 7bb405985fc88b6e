/** Numbers of metadata: strings, then values, then nodes. */

import type { Constant, Instruction, Metadata, MetadataArgument, MetadataNode, Module } from '../model.ts';
import { metadataKinds } from '../names.ts';
import { constantKey, numbering } from './numbering.ts';
import type { Scan } from './scan.ts';

export interface MetadataNumbers {
  readonly strings: readonly string[];
  readonly values: readonly Constant[];
  readonly nodes: readonly MetadataNode[];
  /** Ids are below this. */
  readonly count: number;
  /** Kinds of attachments by number: those of LLVM, then others of this module. */
  readonly kinds: readonly string[];
  idOf(metadata: Metadata): number;
}

/** The arguments of a call that are metadata. */
export const metadataArguments = (inst: Instruction): MetadataArgument[] =>
  inst.op === 'call' ? inst.args.filter((arg): arg is MetadataArgument => arg.kind === 'metadata') : [];

/** Numbers strings first, then values, then nodes, each before the nodes that refer to it. */
export function numberMetadata(module: Module, scan: Scan): MetadataNumbers {
  const strings = numbering<string>();
  const values = numbering<unknown>();
  const constants: Constant[] = [];
  const nodes = numbering<MetadataNode>();
  const visit = (metadata: Metadata): void => {
    if (metadata.kind === 'string') strings.add(metadata.value);
    else if (metadata.kind === 'value') {
      const constant = metadata.value as Constant;
      if (!values.has(constantKey(constant))) constants.push(constant);
      values.add(constantKey(constant));
    } else visitNode(metadata);
  };
  // Post-order with an explicit stack: chains of nodes may have any length.
  const visitNode = (root: MetadataNode): void => {
    if (seen.has(root)) return;
    seen.add(root);
    const open = [{ node: root, next: 0 }];
    for (let top = open[0]; top; top = open[open.length - 1]) {
      const operand = top.node.operands[top.next++];
      if (top.next > top.node.operands.length) nodes.add(open.pop()!.node);
      else if (operand?.kind !== 'node') operand && visit(operand);
      else if (!seen.has(operand)) {
        seen.add(operand);
        open.push({ node: operand, next: 0 });
      }
    }
  };
  const seen = new Set<MetadataNode>();
  for (const named of module.namedMetadata) for (const node of named.nodes) visit(node);
  for (const { metadata } of module.globals) for (const { node } of metadata ?? []) visit(node);
  for (const metadata of scan.metadata) visit(metadata);
  return {
    strings: strings.list,
    values: constants,
    nodes: nodes.list,
    kinds: kindsOf(module, scan),
    count: strings.list.length + constants.length + nodes.list.length,
    idOf: (m) =>
      m.kind === 'string'
        ? strings.idOf(m.value)
        : m.kind === 'value'
          ? strings.list.length + values.idOf(constantKey(m.value as Constant))
          : strings.list.length + values.list.length + nodes.idOf(m),
  };
}

function kindsOf(module: Module, scan: Scan): readonly string[] {
  const kinds = new Set<string>(metadataKinds);
  for (const { metadata } of module.globals) for (const { kind } of metadata ?? []) kinds.add(kind);
  for (const kind of scan.kinds) kinds.add(kind);
  return [...kinds];
}
