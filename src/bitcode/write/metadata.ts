/** The metadata block of a module: strings, values, nodes, names. */
import { BitWriter } from '../../base/bits.ts';
import { bug } from '../../base/bug.ts';
import { debugRowNamed } from '../debug-info.ts';
import type { Attachment, DebugFields, MetadataNode, Module } from '../model.ts';
import type { ModuleNumbers } from './enumerate.ts';
import type { StreamWriter } from './stream-writer.ts';

export function writeMetadata(out: StreamWriter, module: Module, { metadata, types, valueId }: ModuleNumbers): void {
  if (metadata.strings.length + metadata.values.length + metadata.nodes.length + module.namedMetadata.length === 0) return;
  out.block('metadata', () => {
    if (metadata.strings.length > 0) writeStrings(out, metadata.strings);
    for (const value of metadata.values) out.record('metadata', 'value', { type: types.idOf(value.type), value: valueId(value) });
    for (const node of metadata.nodes) writeNode(out, node, metadata.idOf);
    for (const named of module.namedMetadata) {
      out.record('metadata', 'name', { text: named.name });
      out.record('metadata', 'namedNode', { nodes: named.nodes.map(metadata.idOf) });
    }
    const declarations = module.functions.filter((fn) => fn.blocks.length === 0);
    for (const symbol of [...module.globals, ...declarations])
      if (symbol.metadata?.length)
        out.record('metadata', 'globalDeclAttachment', {
          value: valueId(symbol),
          attachments: attachmentWords(symbol.metadata, metadata),
        });
  });
}

/** All strings in one blob: their lengths as 6-bit variable-width fields, then their characters. */
function writeStrings(out: StreamWriter, strings: readonly string[]): void {
  const encoded = strings.map((text) => new TextEncoder().encode(text));
  const lengths = new BitWriter();
  for (const bytes of encoded) lengths.vbr(bytes.length, 6);
  lengths.align32();
  const head = lengths.finish();
  const total = encoded.reduce((sum, bytes) => sum + bytes.length, head.length);
  const blob = new Uint8Array(total);
  blob.set(head);
  let at = head.length;
  for (const bytes of encoded) {
    blob.set(bytes, at);
    at += bytes.length;
  }
  out.record('metadata', 'strings', { count: strings.length, offset: head.length, blob });
}

/** Pairs of a kind and a node. */
export const attachmentWords = (list: readonly Attachment[], { kinds, idOf }: ModuleNumbers['metadata']): number[] =>
  list.flatMap(({ kind, node }) => [kinds.indexOf(kind), idOf(node)]);

function writeNode(out: StreamWriter, node: MetadataNode, idOf: (m: MetadataNode) => number): void {
  const operands = node.operands.map((operand) => (operand ? idOf(operand as MetadataNode) + 1 : 0));
  if (node.debug) return writeDebugNode(out, node, node.debug, operands);
  out.record('metadata', node.distinct ? 'distinctNode' : 'node', { operands });
}

/** `references` are ids of metadata plus 1, 0 for none. */
function writeDebugNode(out: StreamWriter, { distinct }: MetadataNode, { name, values }: DebugFields, references: readonly number[]): void {
  const first = (head: number | bigint): number => Number(head) | (distinct ? 1 : 0);
  if (name === 'DIExpression') return out.record('metadata', 'expression', { head: first(expressionVersion << 1), elements: values });
  if (name === 'GenericDINode') {
    const [tag = 0, version = 0] = values;
    return out.record('metadata', 'generic', { head: first(0), tag, version, operands: references });
  }
  if (name === 'DIEnumerator') {
    const [head = 0, bits = 0, ...value] = values;
    return out.record('metadata', 'enumerator', { head: first(head) | wideEnumerator, bits, name: references[0] ?? 0, value });
  }
  const row = debugRowNamed(name) ?? bug(`bitcode: no record for ${name}`);
  let next = 0;
  const words = values.map((value, i) => {
    const { kind } = row.fields[i]!;
    if (i === 0) return first(value);
    return kind === 'number' ? value : kind === 'ref' ? references[next++]! : references[next++]! - 1;
  });
  out.numberedRecord(row.code, words);
}

/** Of LLVM 6 and later. */
const expressionVersion = 3;
const wideEnumerator = 4;
