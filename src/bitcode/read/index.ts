/**
 * Bitcode to a module: the inverse of `write/index.ts`. Also reads the output of other LLVM writers: abbreviations, VERSION 1 modules
 * with names in the symbol table, old metadata strings.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { RecordRow } from '../fields.ts';
import { Malformed } from '../malformed.ts';
import type { Module } from '../model.ts';
import { blocks } from '../records.ts';
import { readAttributes } from './attributes.ts';
import { type ConstantSource, readConstants } from './constants.ts';
import { readFunctions } from './function.ts';
import { type MetadataTable, nodeAt, readAttached, readMetadata } from './metadata.ts';
import { fieldsOf } from './record-fields.ts';
import { childBlocks, openStream, type RawBlock, records, type Stream, type UnreadBlock } from './stream-reader.ts';
import { readSymbols } from './symbols.ts';
import { type Dialect, readTypes } from './types.ts';

/** Reads raw or wrapped bitcode; returns nothing after reporting CM4002. */
export function readModule(bytes: Uint8Array, diagnostics: Diagnostics, dialect: Dialect = 'air'): Module | undefined {
  try {
    return moduleFrom(openStream(unwrap(bytes), walked), dialect);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    diagnostics.report('CM4002', { bit: error.bit, block: error.block, why: error.message });
    return undefined;
  }
}

/** The target of raw or wrapped bitcode, without a look at its types and functions; undefined for what is no bitcode. */
export function tripleOf(bytes: Uint8Array): string | undefined {
  try {
    const module = openStream(unwrap(bytes), walked).top.find(({ id }) => id === blocks.module.id);
    return module && textIn(module, blocks.module.records.triple);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return undefined;
  }
}

/** Large blocks, which are walked without keeping their records. */
const walked: ReadonlySet<number> = new Set([blocks.function.id, blocks.constants.id]);

const unreadBlocks = ({ unread }: RawBlock, id: number): UnreadBlock[] => unread.filter((block) => block.id === id);

/** Removes LLVM's Darwin wrapper, if there is one. */
function unwrap(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 20 || view.getUint32(0, true) !== 0x0b17c0de) return bytes;
  const [offset, size] = [view.getUint32(8, true), view.getUint32(12, true)];
  if (offset + size > bytes.length) throw new Malformed(0, 'the wrapper', 'the wrapped bitcode goes past the end');
  return bytes.subarray(offset, offset + size);
}

function moduleFrom(stream: Stream, dialect: Dialect): Module {
  const { top } = stream;
  const block = top.find((b) => b.id === blocks.module.id);
  if (!block) throw new Malformed(0, 'the stream', 'there is no module');
  const strings = top.find((b) => b.id === blocks.strtab.id);
  const table = strings && records(strings)[0]?.blob;
  const names = blocks.module.records;
  const sections = records(block)
    .filter((r) => r.code === names.sectionName.code)
    .map((r) => fieldsOf(names.sectionName, r).text);
  const types = readTypes(childBlocks(block, blocks.types.id)[0], block.bit, dialect);
  const attributes = readAttributes(block, types);
  const symbols = readSymbols(block, { types, attributes, sections, strings: table });
  const values: ConstantSource = readConstants(stream, unreadBlocks(block, blocks.constants.id), types, symbols.asBefore);
  symbols.finish(values);
  const metadata = readMetadata(childBlocks(block, blocks.metadata.id), values, { dialect });
  const kinds = readKinds(block);
  const scopes = readScopes(block);
  if (dialect === 'air') attachToSymbols(metadata, kinds, values);
  readFunctions(stream, unreadBlocks(block, blocks.function.id), symbols.functions, { types, attributes, values, metadata, kinds, scopes });
  const identification = top.find((b) => b.id === blocks.identification.id);
  return {
    identification: identification ? textIn(identification, blocks.identification.records.string) : '',
    sourceFilename: textIn(block, names.sourceFilename),
    triple: textIn(block, names.triple),
    dataLayout: textIn(block, names.dataLayout),
    structs: types.structs,
    globals: symbols.globals,
    functions: symbols.functions,
    namedMetadata: metadata.named,
    sections,
  };
}

/** The text of the first record of a kind; empty if there is none. */
function textIn(block: RawBlock, row: RecordRow<{ readonly text: 'text' }>): string {
  const record = records(block).find(({ code }) => code === row.code);
  return record ? fieldsOf(row, record).text : '';
}

/** Names of the kinds of attached metadata by their numbers. */
function readKinds(module: RawBlock): ReadonlyMap<number, string> {
  const kinds = new Map<number, string>();
  for (const block of childBlocks(module, blocks.metadataKind.id))
    for (const record of records(block)) {
      const { kind, name } = fieldsOf(blocks.metadataKind.records.kind, record);
      kinds.set(Number(kind), name);
    }
  return kinds;
}

/** Names of the scopes of atomic accesses by their numbers. */
const readScopes = (module: RawBlock): readonly string[] =>
  childBlocks(module, blocks.syncScopeNames.id).flatMap((block) =>
    records(block).map((record) => fieldsOf(blocks.syncScopeNames.records.name, record).text),
  );

/** Attaches metadata to variables and declarations. */
function attachToSymbols(metadata: MetadataTable, kinds: ReadonlyMap<number, string>, values: ConstantSource): void {
  for (const record of metadata.onSymbols) {
    const { value, attachments } = fieldsOf(blocks.metadata.records.globalDeclAttachment, record);
    const symbol = values.at(value, record.bit);
    if (symbol.kind === 'constant') throw new Malformed(record.bit, 'metadata', 'metadata attached to a value that is not a symbol');
    const node = (id: number) => nodeAt(metadata.list, id, record.bit);
    symbol.metadata = [...(symbol.metadata ?? []), ...readAttached(attachments, record.bit, node, kinds)];
  }
}
