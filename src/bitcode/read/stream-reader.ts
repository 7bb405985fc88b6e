/**
 * A bitstream as a tree of blocks and records, abbreviations resolved. Knows nothing of what records mean. Every length is held
 * against the bits that are left, so that damaged data ends in `Malformed` and never in a long loop.
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
  /** The same apart, which readers want. */
  readonly records: readonly RawRecord[];
  readonly blocks: readonly RawBlock[];
  /** Blocks inside this one that the caller wants to walk by itself. */
  readonly unread: readonly UnreadBlock[];
  readonly bit: number;
}

/** A block that is left as bits, which `Stream.walk` reads. */
export interface UnreadBlock {
  readonly id: number;
  /** Of abbreviation ids, bits. */
  readonly width: number;
  /** Where the block's items start, and where they end with the padding behind them. */
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  readonly bit: number;
}

/** The blocks of a number inside a block. */
export const childBlocks = (block: RawBlock, id: number): RawBlock[] => block.blocks.filter((inner) => inner.id === id);
/** The records of a block, those of inner blocks left out. */
export const records = (block: RawBlock): readonly RawRecord[] => block.records;

/** Abbreviation ids that mean the same in every block. */
const ids = { end: 0, enter: 1, define: 2, plain: 3, first: 4 } as const;
const maximumDepth = 16;
const none = -1;

export interface Stream {
  readonly top: readonly RawBlock[];
  /** Reads a block that was left unread, record by record. */
  walk(block: UnreadBlock, visit: BlockVisitor): void;
  /** Reads a block that was left unread. */
  read(block: UnreadBlock): RawBlock;
}

/** Told of what a block holds, in order. */
export interface BlockVisitor {
  /** The record is good for the call alone; `kept` gives a copy, and that exactly. */
  record(record: OpenRecord, kept: () => RawRecord): void;
  /** A block inside, which may be read now or later. */
  block(block: UnreadBlock): void;
}

/** Raw bitcode that starts with its magic. Blocks of the ids `unread` are passed over, for those who walk them. */
export function openStream(bytes: Uint8Array, unread: ReadonlySet<number> = new Set()): Stream {
  const reader = guarded(undefined, () => readerOf(bytes, unread));
  return {
    top: guarded(reader, () => readTop(reader)),
    walk: (block, visit) => guarded(reader, () => walkBlock(reader, block, visit)),
    read: (block) => guarded(reader, () => readAside(reader, block)),
  };
}

/** The blocks of raw bitcode that starts with its magic. */
export const readStream = (bytes: Uint8Array): readonly RawBlock[] => openStream(bytes).top;

interface Reader {
  readonly bits: BitReader;
  /** Abbreviations that BLOCKINFO defines, by block. */
  readonly known: Map<number, Abbreviation[]>;
  /** Blocks of these ids are passed over. */
  readonly unread: ReadonlySet<number>;
  /** What operands are read into. */
  ops: Float64Array;
  /** The block that is being read, for messages. */
  block: string;
}

const readerOf = (bytes: Uint8Array, unread: ReadonlySet<number>): Reader => ({
  bits: new BitReader(bytes),
  known: new Map(),
  unread,
  ops: new Float64Array(64),
  block: 'the stream',
});

/** The end of the data is a fault of it. */
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

/** What is behind the id that opens a block. */
function readHeader(reader: Reader, bit: number, depth: number): UnreadBlock {
  const { bits } = reader;
  const id = Number(bits.vbr(8));
  const width = Number(bits.vbr(4));
  bits.align32();
  const words = bits.fixed(32);
  const name = blockName(id);
  reader.block = name;
  if (width < 2 || width > 32) throw new Malformed(bit, name, `abbreviation ids of ${width} bits`);
  if (depth > maximumDepth) throw new Malformed(bit, name, 'blocks nested too deep');
  const start = bits.position;
  if (start + words * 32 > bits.length) throw new Malformed(bit, name, `a block of ${words} words goes past the end`);
  return { id, width, start, end: start + words * 32, depth, bit };
}

/** What is done with the items of a block: those with an id of their own, and records, whose abbreviations are given. */
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
      // Only BLOCKINFO leaves its definitions to us.
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
  // Of the walk's own: there may be a walk inside.
  const record: OpenRecord = { code: 0, count: 0, ops: reader.ops, bit: 0 };
  let abbreviation: Abbreviation | undefined;
  const kept = (): RawRecord => {
    const { position } = bits;
    bits.position = record.bit + header.width;
    const copy = abbreviation ? readAbbreviated(bits, abbreviation, record.bit, name) : readPlain(bits, record.bit);
    bits.position = position;
    return copy;
  };
  aside(reader, header, () =>
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
        visit.record(record, kept);
      },
    }),
  );
  reader.ops = record.ops;
}

/** Reads a block that was passed over, as a tree. */
const readAside = (reader: Reader, header: UnreadBlock): RawBlock => aside(reader, header, () => readBlock(reader, header));

/** Reads from the start of a block on, and goes on where it was. */
function aside<T>({ bits }: Reader, { start }: UnreadBlock, read: () => T): T {
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
