/** Reads the container of any system. Unknown tags are accepted; an offset or size out of range is an error. */
import { ByteReader, OutOfBytes } from '../base/bytes.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Library, LibraryFunction, RawTag, Section, Version } from './library.ts';
import { unlessUsual, usualOrder } from './order.ts';
import { decodeSection, encodeSection, readTags } from './sections.ts';
import {
  endTag,
  fileTypeOf,
  functionOrder,
  functionTypeOf,
  header,
  platform64Bit,
  platformOf,
  sectionCodes,
  since,
  stubBit,
  wrapper,
} from './tags.ts';

/** A named byte range of the file, for `cumetal inspect`. */
export interface ByteRange {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  /** Ranges inside this one. */
  readonly parts?: readonly ByteRange[];
}

/** A library that was read, with the range of each part in the file. */
export interface ReadLibrary extends Library {
  readonly ranges: readonly ByteRange[];
}

/** The parts of a library; undefined after a CM4001. */
export function readMetallib(bytes: Uint8Array, diagnostics: Diagnostics): ReadLibrary | undefined {
  try {
    return readLibrary(bytes);
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    diagnostics.report('CM4001', { offset: error.offset, why: error.message });
    return undefined;
  }
}

/** Whether the bytes start with the magic of a metal library. */
export const isMetallib = (bytes: Uint8Array): boolean => new TextDecoder('latin1').decode(bytes.subarray(0, 4)) === header.magic;

function fault(offset: number, why: string): never {
  throw new OutOfBytes(offset, why);
}

interface Header extends Pick<Library, 'version' | 'fileType' | 'isStub' | 'platform' | 'statesPlatform' | 'is64Bit' | 'macosBit' | 'os'> {
  readonly parts: readonly ByteRange[];
}

const partNames = ['function list', 'public metadata', 'private metadata', 'bitcode'] as const;

function readHeader(bytes: Uint8Array): Header {
  const r = new ByteReader(bytes);
  if (bytes.length < header.size) fault(bytes.length, `${bytes.length} bytes are too few for the 88-byte header`);
  if (r.text(4) !== header.magic) fault(0, 'the magic is not `MTLB`');
  const [major, minor, patch] = [r.u16(), r.u16(), r.u16()];
  const [fileType, platform] = [r.u8(), r.u8()];
  const os = { major: r.u16(), minor: r.u8(), patch: r.u8() };
  const size = r.u64();
  if (size !== BigInt(bytes.length)) fault(16, `the header gives a size of ${size} bytes, but the file has ${bytes.length}`);
  const parts = partNames.map((name) => {
    const at = r.offset;
    const range = { name, offset: Number(r.u64()), size: Number(r.u64()) };
    // The size of the function list does not include the count in front of it.
    const whole = name === 'function list' ? { ...range, size: range.size + 4 } : range;
    if (whole.offset < header.size || whole.offset + whole.size > bytes.length) fault(at, `the ${name} is outside the file`);
    return whole;
  });
  const version = { major: major & ~header.macosBit, minor, patch };
  return { version, ...fileTypeFrom(fileType), ...platformFrom(platform, (major & header.macosBit) !== 0, patch), os, parts };
}

const fileTypeFrom = (byte: number): Pick<Library, 'fileType' | 'isStub'> => ({
  ...(byte & ~stubBit ? { fileType: fileTypeOf(byte & ~stubBit) } : {}),
  ...(byte & stubBit ? { isStub: true } : {}),
});

/** The platform, and the header fields that are unusual for its version. */
function platformFrom(byte: number, isMac: boolean, patch: number): Pick<Library, 'platform' | 'statesPlatform' | 'is64Bit' | 'macosBit'> {
  const code = byte & ~platform64Bit;
  const namesPlatform = code !== 0;
  const is64Bit = (byte & platform64Bit) !== 0;
  const platform = namesPlatform ? platformOf(code) : isMac ? 'macos' : 'ios';
  return {
    platform,
    ...(namesPlatform === patch >= since.platform ? {} : { statesPlatform: namesPlatform }),
    ...(is64Bit === namesPlatform ? {} : { is64Bit }),
    ...(isMac === (platform === 'macos') ? {} : { macosBit: isMac }),
  };
}

function readLibrary(bytes: Uint8Array): ReadLibrary {
  const { parts, ...head } = readHeader(bytes);
  const [list, publicPart, privatePart, bitcode] = parts as [ByteRange, ByteRange, ByteRange, ByteRange];
  const groups = readFunctionList(bytes, list);
  const extension = readExtension(bytes, list.offset + list.size, publicPart.offset, head.version);
  const extensionSections = readSections(bytes, extension.tags, bitcode.offset + bitcode.size);
  const byVersion = head.version.patch >= since.inclusiveSizes;
  const inclusiveSizes = includesSizeField(bytes, publicPart) ?? byVersion;
  const sizeFieldBytes = inclusiveSizes ? 4 : 0;
  const libraryParts: Parts = {
    publicPart: groupPart(publicPart, sizeFieldBytes),
    privatePart: groupPart(privatePart, sizeFieldBytes),
    bitcode,
    extensionSections,
  };
  const found = groups.map((group) => readFunction(bytes, group, libraryParts, inclusiveSizes));
  const functions = found.map(({ fn }) => fn);
  const named = (range: ByteRange, of: (i: number) => Extent): ByteRange => ({
    ...range,
    parts: functions.map((fn, i) => ({ name: `${range.name === 'function list' ? 'tags' : range.name} of ${fn.name}`, ...of(i) })),
  });
  const ranges: ByteRange[] = [
    { name: 'header', offset: 0, size: header.size },
    named(list, (i) => groups[i]!),
    named(publicPart, (i) => found[i]!.publicAt),
    named(privatePart, (i) => found[i]!.privateAt),
    named(bitcode, (i) => found[i]!.blobAt),
    { name: 'header extension', offset: list.offset + list.size, size: extension.size },
    ...extensionSections.map(({ range }) => range),
  ];
  return {
    ...head,
    functions,
    ...(inclusiveSizes === byVersion ? {} : { inclusiveSizes: inclusiveSizes }),
    ...extensionFields(extension.tags, extensionSections, inclusiveSizes),
    sections: extensionSections.map(({ section }) => section),
    ranges: ranges.filter((r) => r.size > 0).sort((a, b) => a.offset - b.offset),
  };
}

// ── header extension ──

interface ExtensionSection {
  readonly tag: RawTag;
  readonly section: Section;
  readonly range: ByteRange;
  /** Indices of its archives or groups, by the value that functions' tags have. */
  readonly places: ReadonlyMap<number, number>;
}

/** The sections of the header extension, in file order. An unknown tag is a section if its payload can be one. */
function readSections(bytes: Uint8Array, tags: readonly RawTag[], end: number): ExtensionSection[] {
  const found: { tag: RawTag; offset: number; size: number }[] = [];
  for (const tag of tags) {
    if (tag.code === 'UUID' || (tag.payload.length !== 16 && !sectionCodes.has(tag.code))) continue;
    const r = new ByteReader(tag.payload);
    const [offset, size] = [Number(r.u64()), Number(r.u64())];
    const fits = offset + size <= bytes.length;
    if (fits && (offset >= end || sectionCodes.has(tag.code))) found.push({ tag, offset, size });
    else if (sectionCodes.has(tag.code)) fault(0, `section \`${tag.code}\` is outside the file`);
  }
  found.sort((a, b) => a.offset - b.offset);
  // Overlapping sections could add up to many times the size of the file.
  found.reduce(
    (before, { tag, offset, size }) => (offset >= before ? offset + size : fault(offset, `section \`${tag.code}\` overlaps another`)),
    0,
  );
  return found.map(({ tag, offset, size }) => {
    const section = decodeSection(tag.code, bytes.subarray(offset, offset + size), offset);
    const { places, parts } = encodeSection(section, offset);
    const partName = section.kind === 'sources' ? 'source archive' : 'reflection';
    const inner = parts.map(([at, partSize], i) => ({ name: `${partName} ${i}`, offset: offset + at, size: partSize }));
    return {
      tag,
      section,
      places: new Map(places.map((at, i) => [at, i])),
      range: { name: tag.code, offset, size, ...(inner.length > 0 ? { parts: inner } : {}) },
    };
  });
}

/** The UUID and the tags that name no section, and the order of all of them if it is unusual. */
function extensionFields(
  tags: readonly RawTag[],
  extensionSections: readonly ExtensionSection[],
  inclusiveSizes: boolean,
): Pick<Library, 'uuid' | 'otherTags' | 'extensionOrder'> {
  const sections = new Set(extensionSections.map(({ tag }) => tag));
  const uuid = tags.find((tag) => tag.code === 'UUID' && tag.payload.length === 16);
  const others = tags.filter((tag) => tag !== uuid && !sections.has(tag));
  const usual = [
    ...extensionSections.map(({ tag }) => tag.code),
    ...others.map((tag) => tag.code),
    ...(uuid || inclusiveSizes ? ['UUID'] : []),
  ];
  const order = unlessUsual(
    tags.map((tag) => tag.code),
    usual,
  );
  return {
    ...(uuid ? { uuid: uuid.payload } : {}),
    ...(others.length > 0 ? { otherTags: others } : {}),
    ...(order ? { extensionOrder: order } : {}),
  };
}

// ── functions ──

type Extent = Pick<ByteRange, 'offset' | 'size'>;

interface Group extends Extent {
  readonly tags: readonly RawTag[];
}

function readFunctionList(bytes: Uint8Array, list: ByteRange): Group[] {
  const r = new ByteReader(bytes, list.offset, list.offset + list.size);
  const count = r.u32();
  if (count * 8 > r.remaining) fault(list.offset, `the function list is too short for ${count} functions`);
  return Array.from({ length: count }, () => {
    const start = r.offset;
    const size = r.u32();
    if (size < 8 || size - 4 > r.remaining) fault(start, `a function group has a size of ${size} bytes`);
    const tags = readTags(new ByteReader(bytes, r.offset, start + size));
    r.offset = start + size;
    return { offset: start, size, tags };
  });
}

function readExtension(bytes: Uint8Array, offset: number, end: number, version: Version): { tags: RawTag[]; size: number } {
  if (version.patch < since.extension || end <= offset) return { tags: [], size: 0 };
  const r = new ByteReader(bytes, offset, end);
  const tags = readTags(r);
  return { tags, size: r.offset - offset };
}

/** A part of the metadata groups. A group that several functions refer to is read once. */
interface GroupPart {
  readonly range: ByteRange;
  /** The bytes of its own size field that a group's size includes. */
  readonly sizeFieldBytes: number;
  readonly known: Map<number, MetadataGroup>;
  /** Bytes of the groups read so extensionSections, to find overlaps. */
  used: number;
}

interface MetadataGroup extends Extent {
  readonly tags: RawTag[];
}

const groupPart = (range: ByteRange, ownSize: number): GroupPart => ({ range, sizeFieldBytes: ownSize, known: new Map(), used: 0 });

interface Parts {
  readonly publicPart: GroupPart;
  readonly privatePart: GroupPart;
  readonly bitcode: ByteRange;
  readonly extensionSections: readonly ExtensionSection[];
}

interface FoundFunction {
  readonly fn: LibraryFunction;
  readonly publicAt: Extent;
  readonly privateAt: Extent;
  readonly blobAt: Extent;
}

function readFunction(bytes: Uint8Array, group: Group, parts: Parts, inclusiveSizes: boolean): FoundFunction {
  const used = new Set<RawTag>();
  const need = (code: string, size?: number): ByteReader => {
    const tag = group.tags.find((t) => t.code === code);
    if (!tag) fault(group.offset, `a function has no \`${code}\` tag`);
    if (size !== undefined && tag.payload.length !== size) fault(group.offset, `\`${code}\` of ${tag.payload.length} bytes, not ${size}`);
    used.add(tag);
    return new ByteReader(tag.payload);
  };
  const place = (code: string, kind: Section['kind']): number | undefined => {
    const tag = group.tags.find((t) => t.code === code && t.payload.length === 8);
    const places = parts.extensionSections.find(({ section }) => section.kind === kind)?.places;
    const at = tag && places?.get(Number(new ByteReader(tag.payload).u64()));
    if (tag && at !== undefined) used.add(tag);
    return at;
  };
  const nameBytes = need('NAME');
  const name = nameBytes.text(nameBytes.remaining).replace(/\0.*$/s, '');
  const offsets = need('OFFT', 24);
  const [publicAt, privateAt, blobAt] = [Number(offsets.u64()), Number(offsets.u64()), Number(offsets.u64())];
  const vers = need('VERS', 8);
  const blob = readBlob(bytes, parts.bitcode, blobAt, Number(need('MDSZ', 8).u64()));
  const [publicGroup, privateGroup] = [readGroup(bytes, parts.publicPart, publicAt), readGroup(bytes, parts.privatePart, privateAt)];
  const type = functionTypeOf(need('TYPE', 1).u8());
  const hash = need('HASH', 32).take(32);
  const [source, reflection] = [place('SOFF', 'sources'), place('RFLT', 'reflection')];
  const codes = group.tags.map((tag) => tag.code);
  const usual = usualOrder(codes, inclusiveSizes ? functionOrder.new : functionOrder.old);
  const order = unlessUsual(codes, usual);
  const fn: LibraryFunction = {
    name,
    type,
    hash,
    airVersion: [vers.u16(), vers.u16()],
    metalVersion: [vers.u16(), vers.u16()],
    blob: blob.blob,
    bitcode: blob.bitcode,
    publicTags: publicGroup.tags,
    privateTags: privateGroup.tags,
    ...(source === undefined ? {} : { source }),
    ...(reflection === undefined ? {} : { reflection }),
    otherTags: group.tags.filter((tag) => !used.has(tag)),
    ...(order ? { order } : {}),
  };
  return { fn, publicAt: publicGroup, privateAt: privateGroup, blobAt: blob };
}

function readGroup(bytes: Uint8Array, part: GroupPart, at: number): MetadataGroup {
  const before = part.known.get(at);
  if (before) return before;
  const group = readNewGroup(bytes, part, at);
  part.known.set(at, group);
  return group;
}

/** Whether the size of the first group includes its size field, by the position of the end tag; undefined if there is no end tag. */
function includesSizeField(bytes: Uint8Array, { offset, size }: ByteRange): boolean | undefined {
  const r = new ByteReader(bytes, offset, offset + size);
  if (r.remaining < 8) return undefined;
  const end = r.u32();
  const endsAt = (at: number): boolean => {
    if (at < 4 || at + endTag.length > size) return false;
    return new ByteReader(bytes, offset + at, offset + size).text(endTag.length) === endTag;
  };
  return endsAt(end - endTag.length) ? true : endsAt(end) ? false : undefined;
}

function readNewGroup(bytes: Uint8Array, part: GroupPart, at: number): MetadataGroup {
  const { range, sizeFieldBytes: ownSize } = part;
  const r = new ByteReader(bytes, range.offset + at, range.offset + range.size);
  const start = r.offset;
  const size = r.u32() + 4 - ownSize;
  part.used += size;
  if (part.used > range.size) fault(start, 'metadata groups overlap');
  if (size < 8 || start + size > r.end) fault(start, `a metadata group has a size of ${size} bytes`);
  return { offset: start, size, tags: readTags(new ByteReader(bytes, r.offset, start + size)) };
}

function readBlob(bytes: Uint8Array, section: ByteRange, at: number, size: number): Extent & { blob: Uint8Array; bitcode: Uint8Array } {
  const start = section.offset + at;
  if (at + size > section.size) fault(start, `a bitcode blob of ${size} bytes does not fit its section`);
  const r = new ByteReader(bytes, start, start + size);
  if (r.u32() !== wrapper.magic) fault(start, 'the bitcode wrapper has another magic');
  r.u32();
  const [offset, length] = [r.u32(), r.u32()];
  if (offset + length > size) fault(start, `raw bitcode of ${length} bytes does not fit its blob`);
  return {
    offset: start,
    size,
    blob: bytes.subarray(start, start + size),
    bitcode: bytes.subarray(start + offset, start + offset + length),
  };
}
