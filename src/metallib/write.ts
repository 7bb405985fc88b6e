/**
 * Writes the container: header, function list, extension, metadata groups, bitcode, further sections, without gaps.
 * Source: layouts of real files of iOS 11 and macOS 10.15 to 26.
 */
import { ByteWriter } from '../base/bytes.ts';
import { sha256 } from '../base/sha256.ts';
import type { Library, LibraryFunction, RawTag } from './library.ts';
import { inOrder, usualOrder } from './order.ts';
import { type EncodedSection, encodeSection, writeTag } from './sections.ts';
import {
  endTag,
  fileTypeCode,
  functionOrder,
  functionTypeCode,
  header,
  platform64Bit,
  platformCode,
  since,
  stubBit,
  wrapper,
} from './tags.ts';

/** A SHA-256 function. */
type Hash = (bytes: Uint8Array) => Uint8Array;

/**
 * The bytes of a library. The output is deterministic, and a valid file that was read is written back unchanged. A host may pass a faster
 * SHA-256.
 */
export function writeMetallib(library: Library, hash: Hash = sha256): Uint8Array {
  const { functions, sections = [] } = library;
  const blobs = functions.map((fn) => wrapBitcode(fn.bitcode));
  const hashes = blobs.map(hash);
  const sizeFieldBytes = hasInclusiveSizes(library) ? 4 : 0;
  const parts = [
    functions.map((fn) => group(fn.publicTags ?? [], sizeFieldBytes)),
    functions.map((fn) => group(fn.privateTags ?? [], sizeFieldBytes)),
    blobs,
  ];
  const starts = parts.map(startsOf);
  const tagsOf = (places: SectionPlaces): RawTag[][] =>
    functions.map((fn, i) =>
      functionTags(fn, hasInclusiveSizes(library), {
        hash: hashes[i]!,
        blobSize: blobs[i]!.length,
        offsets: starts.map((list) => list[i]!),
        ...places,
      }),
    );
  // Sizes do not depend on offsets, so a list with placeholder offsets gives every position.
  const listSize = tagsOf(noPlaces).reduce((sum, tags) => sum + groupSize(tags), 4);
  const placeholderTags = sections.map(({ code }): RawTag => ({ code, payload: new Uint8Array(16) }));
  const sectionStart = header.size + listSize + extensionBytes(library, placeholderTags, new Uint8Array(16)).length + sizeOf(parts);
  const { encoded, tags } = placeSections(library, sectionStart);
  const list = functionList(tagsOf(placesOf(library, encoded)));
  const out = new ByteWriter();
  out.zeros(header.size);
  out.bytes(list);
  out.bytes(extensionBytes(library, tags, library.uuid ?? uuidOf(list, hash)));
  const ranges = parts.map((groups) => appendPart(out, groups));
  for (const { bytes } of encoded) out.bytes(bytes);
  const bytes = out.finish();
  bytes.set(writeHeader(library, bytes.length, list.length - 4, ranges));
  return bytes;
}

const hasInclusiveSizes = ({ version, inclusiveSizes }: Library): boolean => inclusiveSizes ?? version.patch >= since.inclusiveSizes;

const sizeOf = (parts: readonly (readonly Uint8Array[])[]): number =>
  parts.reduce((sum, groups) => sum + groups.reduce((part, bytes) => part + bytes.length, 0), 0);

/** The start offsets of consecutive groups. */
function startsOf(groups: readonly Uint8Array[]): number[] {
  let at = 0;
  return groups.map((bytes) => {
    at += bytes.length;
    return at - bytes.length;
  });
}

// ── sections after the bitcode ──

/** The positions of archives and reflections in their sections. */
interface SectionPlaces {
  readonly sources: readonly number[];
  readonly reflections: readonly number[];
}

const noPlaces: SectionPlaces = { sources: [], reflections: [] };

function placesOf({ sections = [] }: Library, encoded: readonly EncodedSection[]): SectionPlaces {
  const of = (kind: string): readonly number[] => encoded[sections.findIndex((section) => section.kind === kind)]?.places ?? [];
  return { sources: of('sources'), reflections: of('reflection') };
}

/** Places sections consecutively from a file offset on, and builds the tags that locate them. */
function placeSections({ sections = [] }: Library, offset: number): { encoded: EncodedSection[]; tags: RawTag[] } {
  const encoded: EncodedSection[] = [];
  const tags: RawTag[] = [];
  let at = offset;
  for (const section of sections) {
    const one = encodeSection(section, at);
    const start = at;
    encoded.push(one);
    tags.push({ code: section.code, payload: payload((out) => [start, one.bytes.length].forEach((n) => void out.u64(n))) });
    at += one.bytes.length;
  }
  return { encoded, tags };
}

function extensionBytes(library: Library, sectionTags: readonly RawTag[], uuid: Uint8Array): Uint8Array {
  const { version, otherTags = [], extensionOrder } = library;
  const out = new ByteWriter();
  if (version.patch < since.extension && sectionTags.length + otherTags.length === 0) return out.finish();
  const tags = [...sectionTags, ...otherTags, ...(hasInclusiveSizes(library) || library.uuid ? [{ code: 'UUID', payload: uuid }] : [])];
  for (const tag of extensionOrder ? inOrder(tags, extensionOrder) : tags) writeTag(out, tag);
  out.text(endTag);
  return out.finish();
}

// ── header ──

interface PartRange {
  readonly offset: number;
  readonly size: number;
}

function appendPart(out: ByteWriter, groups: readonly Uint8Array[]): PartRange {
  const offset = out.length;
  for (const bytes of groups) out.bytes(bytes);
  return { offset, size: out.length - offset };
}

/** `listSize` does not include the count in front of the list. */
function writeHeader(library: Library, size: number, listSize: number, parts: readonly PartRange[]): Uint8Array {
  const { version, platform, os } = library;
  const out = new ByteWriter();
  const isMac = library.macosBit ?? platform === 'macos';
  out.text(header.magic);
  out.u16(version.major | (isMac ? header.macosBit : 0));
  out.u16(version.minor);
  out.u16(version.patch);
  out.u8(fileTypeCode(library.fileType ?? 'executable') | (library.isStub ? stubBit : 0));
  const states = library.statesPlatform ?? version.patch >= since.platform;
  out.u8((states ? platformCode(platform) : 0) | ((library.is64Bit ?? states) ? platform64Bit : 0));
  out.u16(os.major);
  out.u8(os.minor);
  out.u8(os.patch);
  out.u64(size);
  out.u64(header.size);
  out.u64(listSize);
  for (const part of parts) {
    out.u64(part.offset);
    out.u64(part.size);
  }
  return out.finish();
}

// ── function list ──

function functionList(groups: readonly (readonly RawTag[])[]): Uint8Array {
  const out = new ByteWriter();
  out.u32(groups.length);
  for (const tags of groups) out.bytes(group(tags, 4));
  return out.finish();
}

interface FunctionPlaces extends SectionPlaces {
  readonly hash: Uint8Array;
  readonly blobSize: number;
  readonly offsets: readonly number[];
}

function functionTags(fn: LibraryFunction, inclusiveSizes: boolean, places: FunctionPlaces): RawTag[] {
  const u64s = (...values: readonly number[]): Uint8Array => payload((out) => values.forEach((value) => void out.u64(value)));
  const tags: RawTag[] = [
    { code: 'NAME', payload: new TextEncoder().encode(`${fn.name}\0`) },
    { code: 'TYPE', payload: Uint8Array.of(functionTypeCode(fn.type)) },
    { code: 'HASH', payload: places.hash },
    { code: 'OFFT', payload: u64s(...places.offsets) },
    { code: 'VERS', payload: payload((out) => [...fn.airVersion, ...fn.metalVersion].forEach((part) => void out.u16(part))) },
    { code: 'MDSZ', payload: u64s(places.blobSize) },
  ];
  if (fn.source !== undefined) tags.push({ code: 'SOFF', payload: u64s(places.sources[fn.source] ?? 0) });
  if (fn.reflection !== undefined) tags.push({ code: 'RFLT', payload: u64s(places.reflections[fn.reflection] ?? 0) });
  tags.push(...(fn.otherTags ?? []));
  const usual = inclusiveSizes ? functionOrder.new : functionOrder.old;
  return inOrder(
    tags,
    fn.order ??
      usualOrder(
        tags.map((tag) => tag.code),
        usual,
      ),
  );
}

function payload(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(out);
  return out.finish();
}

const groupSize = (tags: readonly RawTag[]): number => tags.reduce((sum, tag) => sum + 6 + tag.payload.length, 4 + endTag.length);

/** A group from its size field to its end tag. The size includes `sizeFieldBytes` bytes of the size field: 4, or 0. */
function group(tags: readonly RawTag[], sizeFieldBytes: number): Uint8Array {
  const out = new ByteWriter();
  out.u32(groupSize(tags) - 4 + sizeFieldBytes);
  for (const tag of tags) writeTag(out, tag);
  out.text(endTag);
  return out.finish();
}

/** LLVM's Darwin wrapper around raw bitcode, zero-padded to a multiple of 16 bytes. */
export function wrapBitcode(bitcode: Uint8Array): Uint8Array {
  const out = new ByteWriter();
  out.u32(wrapper.magic);
  out.u32(0);
  out.u32(wrapper.size);
  out.u32(bitcode.length);
  out.u32(wrapper.anyCpu);
  out.bytes(bitcode);
  out.zeros((wrapper.alignment - (out.length % wrapper.alignment)) % wrapper.alignment);
  return out.finish();
}

/** A UUID derived from the function list, which has the hash of each blob, in the form of version 4. */
function uuidOf(list: Uint8Array, hash: Hash): Uint8Array {
  const uuid = hash(list).slice(0, 16);
  uuid[6] = (uuid[6]! & 0x0f) | 0x40;
  uuid[8] = (uuid[8]! & 0x3f) | 0x80;
  return uuid;
}
