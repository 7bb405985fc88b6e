/** The metadata block of a module: strings, values, nodes, names. */
import { BitWriter } from '../base/bits.ts';
import type { ModuleNumbers } from './enumerate.ts';
import type { MetadataNode, Module } from './model.ts';
import type { StreamWriter } from './stream-writer.ts';

export function writeMetadata(out: StreamWriter, module: Module, { metadata, types, valueId }: ModuleNumbers): void {
  if (metadata.strings.length + metadata.values.length + metadata.nodes.length + module.namedMetadata.length === 0) return;
  out.block('metadata', () => {
    if (metadata.strings.length > 0) writeStrings(out, metadata.strings);
    for (const value of metadata.values) out.record('metadata', 'value', [types.idOf(value.type), valueId(value)]);
    for (const node of metadata.nodes) writeNode(out, node, metadata.idOf);
    for (const named of module.namedMetadata) {
      out.record('metadata', 'name', [...new TextEncoder().encode(named.name)]);
      out.record('metadata', 'namedNode', named.nodes.map(metadata.idOf));
    }
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
  out.blob('metadata', 'strings', [strings.length, head.length], blob);
}

function writeNode(out: StreamWriter, node: MetadataNode, idOf: (m: MetadataNode) => number): void {
  const operands = node.operands.map((operand) => (operand ? idOf(operand as MetadataNode) + 1 : 0));
  out.record('metadata', node.distinct ? 'distinctNode' : 'node', operands);
}
