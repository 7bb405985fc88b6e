/** Metadata of a module or function: nodes are numbered first, their operands are resolved afterwards. */
import { BitReader, OutOfBits } from '../../base/bits.ts';
import { decoded, Malformed } from '../malformed.ts';
import type { Argument, Attachment, Constant, Instruction, Metadata, MetadataNode, NamedMetadata } from '../model.ts';
import { blocks } from '../records.ts';
import { readDebugNode } from './debug-info.ts';
import { fieldsOf } from './record-fields.ts';
import type { RawRecord } from './record-reader.ts';
import { type RawBlock, records } from './stream-reader.ts';
import type { Dialect } from './types.ts';

export interface MetadataTable {
  readonly named: NamedMetadata[];
  /** Records of metadata attached to variables and declarations. */
  readonly onSymbols: readonly RawRecord[];
  readonly list: readonly Metadata[];
}

const codes = blocks.metadata.records;
/** Records without an id. */
const withoutId = new Set<number>([
  codes.name.code,
  codes.kind.code,
  codes.namedNode.code,
  codes.globalDeclAttachment.code,
  codes.indexOffset.code,
  codes.index.code,
]);

/** Values by id; `type` is used for a value that is defined later. */
export type ValueSource = {
  at(id: number | bigint | undefined, bit: number, type?: number | bigint): Constant | Argument | Instruction;
};

interface MetadataOptions {
  readonly dialect: Dialect;
  readonly before?: readonly Metadata[];
}

/** Reads the metadata of blocks, numbered behind the metadata `before`. */
export function readMetadata(
  metadataBlocks: readonly RawBlock[],
  values: ValueSource,
  { dialect, before = [] }: MetadataOptions,
): MetadataTable {
  const list: Metadata[] = [...before];
  const nodes: OpenNode[] = [];
  const onSymbols: RawRecord[] = [];
  const named: { name: string; record: RawRecord }[] = [];
  for (const block of metadataBlocks) {
    let name = '';
    for (const record of records(block)) {
      if (record.code === codes.name.code) name = fieldsOf(codes.name, record).text;
      else if (record.code === codes.namedNode.code) named.push({ name, record });
      else if (record.code === codes.strings.code) list.push(...readStrings(record));
      else if (record.code === codes.globalDeclAttachment.code) onSymbols.push(record);
      else if (!withoutId.has(record.code)) list.push(...make(record, values, nodes, dialect));
    }
  }
  for (const { node, references, bit } of nodes)
    node.operands = references.map((id) => (Number(id) === 0 ? undefined : operand(list, Number(id) - 1, bit)));
  return {
    list,
    onSymbols,
    named: named.map(({ name, record }) => ({
      name,
      nodes: fieldsOf(codes.namedNode, record).nodes.map((id) => nodeAt(list, Number(id), record.bit)),
    })),
  };
}

function at(list: readonly Metadata[], id: number, bit: number): Metadata {
  return list[id] ?? missing(bit, id);
}

/** Nodes hold metadata of the module only; values of a function occur only as arguments of calls. */
function operand(list: readonly Metadata[], id: number, bit: number): Metadata {
  const found = at(list, id, bit);
  if (found.kind !== 'value' || ['constant', 'global', 'function'].includes(found.value.kind)) return found;
  throw new Malformed(bit, 'metadata', 'a node that holds a value of a function');
}

/** The node of an id. */
export function nodeAt(list: readonly Metadata[], id: number, bit: number): MetadataNode {
  const found = at(list, id, bit);
  return found.kind === 'node' ? found : missing(bit, id);
}

/** Attachments: pairs of a kind and a node. */
export function readAttached(
  pairs: readonly (number | bigint)[],
  bit: number,
  metadata: (id: number) => Metadata,
  kinds: ReadonlyMap<number, string>,
): Attachment[] {
  const found: Attachment[] = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const kind = kinds.get(Number(pairs[i])) ?? `kind.${pairs[i]}`;
    found.push({ kind, node: nodeAt([metadata(Number(pairs[i + 1]))], 0, bit) });
  }
  return found;
}

function missing(bit: number, id: number): never {
  throw new Malformed(bit, 'metadata', `metadata node ${id} does not exist`);
}

/** A node whose operands are not resolved yet: ids of metadata plus 1, 0 for none. */
interface OpenNode {
  readonly node: MetadataNode;
  readonly references: readonly (number | bigint)[];
  readonly bit: number;
}

/** The metadata that takes the next number; none for a record of unknown kind, which LLVM ignores too. */
function make(record: RawRecord, values: ValueSource, nodes: OpenNode[], dialect: Dialect): Metadata[] {
  const { code, bit } = record;
  if (code === codes.oldString.code) return [{ kind: 'string', value: fieldsOf(codes.oldString, record).text }];
  if (code === codes.value.code) {
    const { type, value } = fieldsOf(codes.value, record);
    return [{ kind: 'value', value: values.at(value, bit, type) }];
  }
  const made = readTuple(record) ?? readDebugNode(record, dialect);
  if (!made) return [];
  nodes.push({ ...made, bit });
  return [made.node];
}

function readTuple(record: RawRecord): Omit<OpenNode, 'bit'> | undefined {
  const distinct = record.code === codes.distinctNode.code;
  if (!distinct && record.code !== codes.node.code) return undefined;
  const { operands } = fieldsOf(distinct ? codes.distinctNode : codes.node, record);
  return { node: { kind: 'node', distinct, operands: [] }, references: operands };
}

/** The blob holds the lengths of all strings, and from `offset` on their characters. */
function readStrings(record: RawRecord): Metadata[] {
  const { bit } = record;
  const { blob, ...fields } = fieldsOf(codes.strings, record);
  const [count, offset] = [Number(fields.count), Number(fields.offset)];
  if (!(offset <= blob.length) || count > blob.length * 8) throw new Malformed(bit, 'metadata', 'metadata strings outside their blob');
  const lengths = new BitReader(blob.subarray(0, offset));
  let from = offset;
  try {
    return Array.from({ length: count }, (): Metadata => {
      const size = Number(lengths.vbr(6));
      if (from + size > blob.length) throw new Malformed(bit, 'metadata', 'a metadata string outside its blob');
      from += size;
      return { kind: 'string', value: decoded(blob.subarray(from - size, from), bit, 'metadata') };
    });
  } catch (error) {
    if (error instanceof OutOfBits) throw new Malformed(bit, 'metadata', error.message);
    throw error;
  }
}
