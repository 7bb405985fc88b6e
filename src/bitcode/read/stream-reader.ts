/**
 * A bitstream as a tree of blocks and records, abbreviations resolved, without the meaning of records. Every length is checked
 * against the remaining bits, so that damaged data ends in `Malformed` and never in a long loop.
 * Source: LLVM Bitcode File Format.
 */
import { BitReader, OutOfBits } from '../../base/bits.ts';
import { addTo } from '../../base/group.ts';
import { Malformed } from '../malformed.ts';
import { blockName, blocks } from '../records.ts';
import {
  type Abbreviation,
  type OpenRecord,
  openAbbreviated,
  openPlain,
  type RawRecord,
  readAbbreviated,
  readAbbreviation,
  readPlain,
} from './record-reader.ts';

export interface RawBlock {
  readonly kind: 'block';
  readonly id: number;
  readonly items: readonly (RawRecord | RawBlock)[];
  /** The records and the blocks among them. */
  readonly records: readonly RawRecord[];
  readonly blocks: readonly RawBlock[];
  /** Blocks inside this one that the caller walks itself. */
  readonly unread: readonly UnreadBlock[];
  readonly bit: number;
}

/** A block that is not decoded yet; `Stream.walk` and `Stream.read` decode it. */
export interface UnreadBlock {
  readonly id: number;
  /** Width of abbreviation ids, bits. */
  readonly width: number;
  /** The first bit of the block's items, and the first bit behind them and their padding. */
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  readonly bit: number;
}

/** The inner blocks with an id. */
export const childBlocks = (block: RawBlock, id: number): RawBlock[] => block.blocks.filter((inner) => inner.id === id);
/** The records of a block, without those of inner blocks. */
export const records = (block: RawBlock): readonly RawRecord[] => block.records;

/** Abbreviation ids with the same meaning in every block. */
const ids = { end: 0, enter: 1, define: 2, plain: 3, first: 4 } as const;
const maxDepth = 16;
const none = -1;

export interface Stream {
  readonly top: readonly RawBlock[];
  /** Reads an unread block record by record. */
  walk(block: UnreadBlock, visit: BlockVisitor): void;
  /** Reads an unread block as a tree. */
  read(block: UnreadBlock): RawBlock;
}

/** Receives the items of a block in order. */
export interface BlockVisitor {
  /** The record is valid during the call only; `copy` returns an exact copy. */
  record(record: OpenRecord, copy: () => RawRecord): void;
  /** A block inside, which may be read now or later. */
  block(block: UnreadBlock): void;
}

/** Opens raw bitcode, which starts with its magic. Blocks with the ids `unread` are skipped, and decoded on demand. */
export function openStream(bytes: Uint8Array, unread: ReadonlySet<number> = new Set()): Stream {
  const reader = guarded(undefined, () => readerOf(bytes, unread));
  return {
    top: guarded(reader, () => readTop(reader)),
    walk: (block, visit) => guarded(reader, () => walkBlock(reader, block, visit)),
    read: (block) => guarded(reader, () => readSkipped(reader, block)),
  };
}

/** The blocks of raw bitcode. */
export const readStream = (bytes: Uint8Array): readonly RawBlock[] => openStream(bytes).top;

interface Reader {
  readonly bits: BitReader;
  /** Abbreviations that BLOCKINFO defines, by block. */
  readonly known: Map<number, Abbreviation[]>;
  /** Ids of blocks that are skipped. */
  readonly unread: ReadonlySet<number>;
  /** The buffer for operands. */
  ops: Float64Array;
  /** The name of the current block, for messages. */
  block: string;
}

const readerOf = (bytes: Uint8Array, unread: ReadonlySet<number>): Reader => ({
  bits: new BitReader(bytes),
  known: new Map(),
  unread,
  ops: new Float64Array(64),
  block: 'the stream',
});

/** Reports reading past the end of the data as malformed. */
function guarded<T>(reader: Reader | undefined, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof OutOfBits) throw new Malformed(reader?.bits.position ?? 0, reader?.block ?? 'the stream', error.message);
    throw error;
  }
}

function readTop(reader: Reader): RawBlock[] {
  const { bits } = reader;
  if (bits.fixed(32) !== 0xdec04342) throw new Malformed(0, reader.block, 'the magic is not `BC` C0 DE');
  const found: RawBlock[] = [];
  while (!bits.atEnd) {
    const bit = bits.position;
    if (bits.fixed(2) !== ids.enter) throw new Malformed(bit, reader.block, 'something other than a block at the top');
    found.push(readBlock(reader, readHeader(reader, bit, 0)));
  }
  return found;
}

/** The header of a block, behind the abbreviation id that opens it. */
function readHeader(reader: Reader, bit: number, depth: number): UnreadBlock {
  const { bits } = reader;
  const id = Number(bits.vbr(8));
  const width = Number(bits.vbr(4));
  bits.align32();
  const words = bits.fixed(32);
  const name = blockName(id);
  reader.block = name;
  if (width < 2 || width > 32) throw new Malformed(bit, name, `abbreviation ids of ${width} bits`);
  if (depth > maxDepth) throw new Malformed(bit, name, 'blocks nested too deep');
  const start = bits.position;
  if (start + words * 32 > bits.length) throw new Malformed(bit, name, `a block of ${words} words goes past the end`);
  return { id, width, start, end: start + words * 32, depth, bit };
}

/** Handlers for the items of a block: inner blocks, and records with the abbreviations that are defined so far. */
interface Items {
  inner(header: UnreadBlock): void;
  record(id: number, bit: number, abbreviations: readonly Abbreviation[]): void;
}

function readItems(reader: Reader, { id, width, end, start, depth, bit }: UnreadBlock, items: Items): void {
  const { bits } = reader;
  const name = blockName(id);
  const own: Abbreviation[] = [...(reader.known.get(id) ?? [])];
  reader.block = name;
  for (;;) {
    if (bits.position > end) throw new Malformed(bits.position, name, 'the block runs past its length');
    const at = bits.position;
    const code = bits.fixed(width);
    if (code === ids.end) break;
    if (code === ids.enter) {
      items.inner(readHeader(reader, at, depth + 1));
      reader.block = name;
    } else if (code === ids.define && id !== blocks.blockinfo.id) own.push(readAbbreviation(bits, name));
    else items.record(code, at, own);
  }
  bits.align32();
  if (bits.position !== end) throw new Malformed(bit, name, `the block is ${(end - start) / 32} words long and ends elsewhere`);
}

/** A block as a tree. */
function readBlock(reader: Reader, header: UnreadBlock): RawBlock {
  const { bits } = reader;
  const { id, bit } = header;
  const name = blockName(id);
  const items: (RawRecord | RawBlock)[] = [];
  const plain: RawRecord[] = [];
  const inner: RawBlock[] = [];
  const unread: UnreadBlock[] = [];
  let infoFor = none;
  readItems(reader, header, {
    inner(found) {
      if (reader.unread.has(found.id)) {
        unread.push(found);
        bits.position = found.end;
        return;
      }
      const block = readBlock(reader, found);
      items.push(block);
      inner.push(block);
    },
    record(code, at, abbreviations) {
      // `readItems` handles the definitions of all blocks except BLOCKINFO.
      if (code === ids.define) return void addKnown(reader, infoFor, readAbbreviation(bits, name));
      const record =
        code === ids.plain ? readPlain(bits, at) : readAbbreviated(bits, abbreviationOf(abbreviations, code, at, name), at, name);
      if (id === blocks.blockinfo.id && record.code === blocks.blockinfo.records.setBid.code) infoFor = Number(record.ops[0] ?? none);
      items.push(record);
      plain.push(record);
    },
  });
  return { kind: 'block', id, items, records: plain, blocks: inner, unread, bit };
}

function walkBlock(reader: Reader, header: UnreadBlock, visit: BlockVisitor): void {
  const { bits } = reader;
  const name = blockName(header.id);
  // Not shared, since a visitor may start another walk.
  const record: OpenRecord = { code: 0, count: 0, ops: reader.ops, bit: 0 };
  let abbreviation: Abbreviation | undefined;
  const copy = (): RawRecord => {
    const { position } = bits;
    bits.position = record.bit + header.width;
    const found = abbreviation ? readAbbreviated(bits, abbreviation, record.bit, name) : readPlain(bits, record.bit);
    bits.position = position;
    return found;
  };
  atStart(reader, header, () =>
    readItems(reader, header, {
      inner(found) {
        visit.block(found);
        bits.position = found.end;
      },
      record(code, at, abbreviations) {
        record.bit = at;
        abbreviation = code === ids.plain ? undefined : abbreviationOf(abbreviations, code, at, name);
        if (abbreviation) openAbbreviated(bits, abbreviation, record, name);
        else openPlain(bits, record);
        visit.record(record, copy);
      },
    }),
  );
  reader.ops = record.ops;
}

/** Reads a skipped block as a tree. */
const readSkipped = (reader: Reader, header: UnreadBlock): RawBlock => atStart(reader, header, () => readBlock(reader, header));

/** Reads from the start of a block, then restores the position. */
function atStart<T>({ bits }: Reader, { start }: UnreadBlock, read: () => T): T {
  const { position } = bits;
  bits.position = start;
  const result = read();
  bits.position = position;
  return result;
}

const addKnown = ({ known }: Reader, id: number, abbreviation: Abbreviation): void => addTo(known, id, abbreviation);

function abbreviationOf(abbreviations: readonly Abbreviation[], id: number, bit: number, name: string): Abbreviation {
  const found = abbreviations[id - ids.first];
  if (!found) throw new Malformed(bit, name, `abbreviation ${id} is not defined`);
  return found;
}
