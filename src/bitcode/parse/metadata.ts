/** Metadata in LLVM text. Nodes of debug information are not read. */
import type { Attachment, Metadata, MetadataNode } from '../model.ts';
import { readTypedConstant } from './constants.ts';
import { nodeReference, type Symbols } from './symbols.ts';
import type { TextReader } from './text-reader.ts';

/** The operands of a node: `!{i32 1, !"text", !7, null}`. */
export function readNode(reader: TextReader, symbols: Symbols, node: MetadataNode): void {
  refuseDebug(reader);
  reader.expect('!{');
  node.operands = reader.list('}', () => (reader.takeWord('null') ? undefined : readMetadata(reader, symbols)));
}

/** A string, a node or a constant. */
export function readMetadata(reader: TextReader, symbols: Symbols): Metadata {
  refuseDebug(reader);
  if (reader.take('!"')) {
    reader.at--;
    return { kind: 'string', value: reader.quoted() };
  }
  if (reader.peek() === '!') return nodeReference(reader, symbols);
  return { kind: 'value', value: readTypedConstant(reader, symbols) };
}

function refuseDebug(reader: TextReader): void {
  reader.skip();
  if (/!(DI|GenericDI)\w+\(/y.test(reader.text.slice(reader.at, reader.at + 40)))
    reader.fail('debug information in text is not supported; pass the bitcode (`--emit air`)');
}

/** `, !kind !7` behind an instruction, or ` !kind !7` behind a function. */
export function readAttachments(reader: TextReader, symbols: Symbols, separator: ',' | ''): Attachment[] {
  const found: Attachment[] = [];
  for (;;) {
    const before = reader.at;
    const kind = (separator === '' || reader.take(separator)) && reader.match(/!([-a-zA-Z$._][-\w$.]*)/y)?.[1];
    if (!kind) {
      reader.at = before;
      return found;
    }
    found.push({ kind, node: nodeReference(reader, symbols) });
  }
}
