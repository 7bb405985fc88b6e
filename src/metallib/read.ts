/** Reads the container of any system, tolerant of tags it does not know and of nothing that is out of range. */
import { ByteReader, OutOfBytes } from '../base/bytes.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Library, LibraryFunction, RawTag, Version } from './library.ts';
import { endTag, functionTypes, header, platforms, wrapper } from './tags.ts';

/** A named range of bytes of the file, for `cumetal inspect`. */
export interface ByteRange {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
}

export interface ReadLibrary extends Library {
  readonly ranges: readonly ByteRange[];
}

/** The parts of a library; nothing after reporting CM4001. */
export function readMetallib(bytes: Uint8Array, diagnostics: Diagnostics): ReadLibrary | undefined {
  try {
    return readLibrary(bytes);
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    diagnostics.report('CM4001', { offset: error.offset, why: error.message });
    return undefined;
  }
}

/** Whether bytes look like a metal library at all. */
export const isMetallib = (bytes: Uint8Array): boolean => new TextDecoder('latin1').decode(bytes.subarray(0, 4)) === header.magic;

function fault(offset: number, why: string): never {
  throw new OutOfBytes(offset, why);
}

interface Header {
  readonly version: Version;
  readonly platform: string;
  readonly os: Version;
  readonly sections: readonly ByteRange[];
}

const sectionNames = ['function list', 'public metadata', 'private metadata', 'bitcode'] as const;

function readHeader(bytes: Uint8Array): Header {
  const r = new ByteReader(bytes);
  if (bytes.length < header.size) fault(bytes.length, `${bytes.length} bytes are too few for the header of 88`);
  if (r.text(4) !== header.magic) fault(0, 'the magic is not `MTLB`');
  const [major, minor, patch] = [r.u16(), r.u16(), r.u16()];
  r.u8();
  const platform = r.u8();
  const os = { major: r.u16(), minor: r.u8(), patch: r.u8() };
  const size = r.u64();
  if (size !== BigInt(bytes.length)) fault(16, `the header says ${size} bytes, the file has ${bytes.length}`);
  const sections = sectionNames.map((name) => {
    const at = r.offset;
    const range = { name, offset: Number(r.u64()), size: Number(r.u64()) };
    // The size of the function list leaves out the count in front of it.
    const whole = name === 'function list' ? { ...range, size: range.size + 4 } : range;
    if (whole.offset < header.size || whole.offset + whole.size > bytes.length) fault(at, `the ${name} is outside the file`);
    return whole;
  });
  const isMac = (major & header.macosBit) !== 0;
  const named = platforms[platform & 0x7f] ?? (isMac ? 'macos' : 'ios');
  return { version: { major: major & 0x7fff, minor, patch }, platform: named, os, sections };
}

function readLibrary(bytes: Uint8Array): ReadLibrary {
  const head = readHeader(bytes);
  const [list, publicSection, privateSection, bitcode] = head.sections as [ByteRange, ByteRange, ByteRange, ByteRange];
  const groups = readFunctionList(bytes, list);
  const extension = readExtension(bytes, list.offset + list.size, publicSection.offset, head.version);
  // Until container 1.2.4 the size of a metadata group did not count itself.
  const own = head.version.patch >= 5 ? 4 : 0;
  const inSections = { publicSection: groupSection(publicSection, own), privateSection: groupSection(privateSection, own), bitcode };
  const functions = groups.map((group) => readFunction(bytes, group, inSections));
  const uuid = extension.tags.find((t) => t.code === 'UUID')?.payload;
  const sections = extension.tags.flatMap((t) => (t.payload.length === 16 && t.code !== 'UUID' ? [farSection(bytes, t)] : []));
  const ranges = [
    { name: 'header', offset: 0, size: header.size },
    ...head.sections,
    { name: 'header extension', offset: list.offset + list.size, size: extension.size },
    ...sections.map(({ code, range }) => ({ name: code, ...range })),
  ];
  return {
    version: head.version,
    platform: head.platform,
    os: head.os,
    functions,
    ...(uuid ? { uuid } : {}),
    sections: sections.map(({ code, range }) => ({ code, bytes: bytes.subarray(range.offset, range.offset + range.size) })),
    ranges: ranges.filter((r) => r.size > 0).sort((a, b) => a.offset - b.offset),
  };
}

function farSection(bytes: Uint8Array, { code, payload }: RawTag): { code: string; range: { offset: number; size: number } } {
  const r = new ByteReader(payload);
  const range = { offset: Number(r.u64()), size: Number(r.u64()) };
  if (range.offset + range.size > bytes.length) fault(0, `section \`${code}\` is outside the file`);
  return { code, range };
}

interface Group {
  readonly offset: number;
  readonly tags: readonly RawTag[];
}

function readFunctionList(bytes: Uint8Array, list: ByteRange): Group[] {
  const r = new ByteReader(bytes, list.offset, list.offset + list.size);
  const count = r.u32();
  if (count * 8 > r.remaining) fault(list.offset, `${count} functions do not fit the function list`);
  return Array.from({ length: count }, () => {
    const start = r.offset;
    const size = r.u32();
    if (size < 8 || size - 4 > r.remaining) fault(start, `a function group of ${size} bytes`);
    const tags = readTags(new ByteReader(bytes, r.offset, start + size));
    r.offset = start + size;
    return { offset: start, tags };
  });
}

/** Tags up to the end tag. */
function readTags(r: ByteReader): RawTag[] {
  const tags: RawTag[] = [];
  for (;;) {
    const code = r.text(4);
    if (code === endTag) return tags;
    tags.push({ code, payload: r.take(r.u16()) });
  }
}

function readExtension(bytes: Uint8Array, offset: number, end: number, version: Version): { tags: RawTag[]; size: number } {
  if (version.patch < 4 || end <= offset) return { tags: [], size: 0 };
  const r = new ByteReader(bytes, offset, end);
  const tags = readTags(r);
  return { tags, size: r.offset - offset };
}

/** A section of metadata groups; one that several functions point to is read once. */
interface GroupSection {
  readonly range: ByteRange;
  readonly ownSize: number;
  readonly known: Map<number, RawTag[]>;
  /** Bytes of the groups read so far: groups do not overlap. */
  used: number;
}

const groupSection = (range: ByteRange, ownSize: number): GroupSection => ({ range, ownSize, known: new Map(), used: 0 });

interface Sections {
  readonly publicSection: GroupSection;
  readonly privateSection: GroupSection;
  readonly bitcode: ByteRange;
}

const known = new Set(['NAME', 'TYPE', 'HASH', 'OFFT', 'VERS', 'MDSZ']);

function readFunction(bytes: Uint8Array, group: Group, sections: Sections): LibraryFunction {
  const need = (code: string, size?: number): ByteReader => {
    const tag = group.tags.find((t) => t.code === code);
    if (!tag) fault(group.offset, `a function without \`${code}\``);
    if (size !== undefined && tag.payload.length !== size) fault(group.offset, `\`${code}\` of ${tag.payload.length} bytes, not ${size}`);
    return new ByteReader(tag.payload);
  };
  const nameBytes = need('NAME');
  const name = nameBytes.text(nameBytes.remaining).replace(/\0.*$/s, '');
  const offsets = need('OFFT', 24);
  const [publicAt, privateAt, blobAt] = [Number(offsets.u64()), Number(offsets.u64()), Number(offsets.u64())];
  const vers = need('VERS', 8);
  const size = Number(need('MDSZ', 8).u64());
  return {
    name,
    type: functionTypes[need('TYPE', 1).u8()] ?? 'unqualified',
    hash: need('HASH', 32).take(32),
    airVersion: [vers.u16(), vers.u16()],
    metalVersion: [vers.u16(), vers.u16()],
    ...readBlob(bytes, sections.bitcode, blobAt, size),
    publicTags: readMetadataGroup(bytes, sections.publicSection, publicAt),
    privateTags: readMetadataGroup(bytes, sections.privateSection, privateAt),
    otherTags: group.tags.filter((t) => !known.has(t.code)),
  };
}

function readMetadataGroup(bytes: Uint8Array, section: GroupSection, at: number): RawTag[] {
  const before = section.known.get(at);
  if (before) return before;
  const tags = readNewGroup(bytes, section, at);
  section.known.set(at, tags);
  return tags;
}

function readNewGroup(bytes: Uint8Array, section: GroupSection, at: number): RawTag[] {
  const { range, ownSize } = section;
  const r = new ByteReader(bytes, range.offset + at, range.offset + range.size);
  const start = r.offset;
  const size = r.u32() + 4 - ownSize;
  section.used += size;
  if (section.used > range.size) fault(start, 'metadata groups that overlap');
  if (size < 8 || start + size > r.end) fault(start, `a metadata group of ${size} bytes`);
  return readTags(new ByteReader(bytes, r.offset, start + size));
}

function readBlob(bytes: Uint8Array, section: ByteRange, at: number, size: number): { blob: Uint8Array; bitcode: Uint8Array } {
  const start = section.offset + at;
  if (at + size > section.size) fault(start, `a bitcode blob of ${size} bytes does not fit its section`);
  const r = new ByteReader(bytes, start, start + size);
  if (r.u32() !== wrapper.magic) fault(start, 'the bitcode wrapper has another magic');
  r.u32();
  const [offset, length] = [r.u32(), r.u32()];
  if (offset + length > size) fault(start, `raw bitcode of ${length} bytes does not fit its blob`);
  return { blob: bytes.subarray(start, start + size), bitcode: bytes.subarray(start + offset, start + offset + length) };
}
