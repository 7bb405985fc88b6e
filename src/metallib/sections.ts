/**
 * The sections after the bitcode: embedded sources, the reflection list, the install name. A section that does not have the known layout
 * exactly is kept as bytes.
 * Source: real files of macOS 11 to 26.
 */
import { areSameBytes, ByteReader, ByteWriter, OutOfBytes } from '../base/bytes.ts';
import type { RawTag, Section, SourceArchive } from './library.ts';
import { endTag } from './tags.ts';

/** The bytes of a section, and the positions of its archives or groups for `SOFF` and `RFLT`. */
export interface EncodedSection {
  readonly bytes: Uint8Array;
  readonly places: readonly number[];
  /** Offset and size of each archive or group. */
  readonly parts: readonly (readonly [offset: number, size: number])[];
}

/** The alignment of flatbuffers in the file. */
const bufferAlignment = 16;

/** Decodes a section that starts at `offset` in the file. */
export function decodeSection(code: string, bytes: Uint8Array, offset: number): Section {
  const section = tryDecode(code, bytes, offset);
  return section && areSameBytes(encodeSection(section, offset).bytes, bytes) ? section : { code, kind: 'bytes', bytes };
}

function tryDecode(code: string, bytes: Uint8Array, offset: number): Section | undefined {
  try {
    if (code === 'HSRC' || code === 'HSRD') return decodeSources(code, bytes);
    if (code === 'RLST') return decodeReflection(code, bytes, offset);
    return code === 'HDYN' ? { code, kind: 'tags', tags: readTags(new ByteReader(bytes)) } : undefined;
  } catch (error) {
    if (error instanceof OutOfBytes) return undefined;
    throw error;
  }
}

/** Reads tags up to the end tag. */
export function readTags(r: ByteReader): RawTag[] {
  const tags: RawTag[] = [];
  for (;;) {
    const code = r.text(4);
    if (code === endTag) return tags;
    tags.push({ code, payload: r.take(r.u16()) });
  }
}

/** A tag with a 16-bit length. */
export function writeTag(out: ByteWriter, { code, payload }: RawTag): void {
  out.text(code);
  out.u16(payload.length);
  out.bytes(payload);
}

function terminated(r: ByteReader): string {
  const end = r.bytes.subarray(0, r.end).indexOf(0, r.offset);
  if (end < 0) throw new OutOfBytes(r.offset, 'an unterminated text');
  const text = r.text(end - r.offset);
  r.u8();
  return text;
}

function decodeSources(code: string, bytes: Uint8Array): Section {
  const r = new ByteReader(bytes);
  const count = r.u32();
  const link = terminated(r);
  const directory = code === 'HSRD' ? { directory: terminated(r) } : {};
  const archives: SourceArchive[] = [];
  // Each archive consumes bytes, so that a large count ends soon.
  while (archives.length < count) {
    r.u32();
    r.text(4);
    const archive = new ByteReader(r.take(r.u32()));
    archives.push({ id: terminated(archive), data: archive.take(archive.remaining) });
    r.text(4);
  }
  return { code, kind: 'sources', link, ...directory, archives };
}

function decodeReflection(code: string, bytes: Uint8Array, offset: number): Section {
  const r = new ByteReader(bytes);
  const count = r.u32();
  const buffers: Uint8Array[] = [];
  while (buffers.length < count) {
    r.u32();
    r.text(4);
    const size = r.u32();
    const padding = paddingAt(offset + r.offset);
    r.take(padding);
    buffers.push(r.take(size - padding));
    r.text(4);
  }
  return { code, kind: 'reflection', buffers };
}

const paddingAt = (offset: number): number => (bufferAlignment - (offset % bufferAlignment)) % bufferAlignment;

/** Encodes a section that starts at `offset` in the file. */
export function encodeSection(section: Section, offset: number): EncodedSection {
  const out = new ByteWriter();
  switch (section.kind) {
    case 'sources':
      return encodeSources(out, section);
    case 'reflection':
      return encodeReflection(out, section, offset);
    case 'tags':
      for (const tag of section.tags) writeTag(out, tag);
      out.text(endTag);
      return { bytes: out.finish(), places: [], parts: [] };
    case 'bytes':
      return { bytes: section.bytes, places: [], parts: [] };
  }
}

function encodeSources(out: ByteWriter, { link, directory, archives }: Extract<Section, { kind: 'sources' }>): EncodedSection {
  const [places, parts]: [number[], (readonly [number, number])[]] = [[], []];
  out.u32(archives.length);
  for (const text of directory === undefined ? [link] : [link, directory]) out.text(`${text}\0`);
  for (const { id, data } of archives) {
    const start = out.length;
    const name = new TextEncoder().encode(`${id}\0`);
    // The size does not include its own field, and `SOFF` is relative to the byte after it.
    out.u32(4 + 4 + name.length + data.length + 4);
    places.push(out.length);
    out.text('SARC');
    out.u32(name.length + data.length);
    out.bytes(name);
    out.bytes(data);
    out.text(endTag);
    parts.push([start, out.length - start]);
  }
  return { bytes: out.finish(), places, parts };
}

function encodeReflection(out: ByteWriter, { buffers }: Extract<Section, { kind: 'reflection' }>, offset: number): EncodedSection {
  const [places, parts]: [number[], (readonly [number, number])[]] = [[], []];
  out.u32(buffers.length);
  for (const buffer of buffers) {
    const start = out.length;
    const padding = paddingAt(offset + start + 12);
    places.push(start);
    out.u32(12 + padding + buffer.length + 4);
    out.text('RBUF');
    out.u32(padding + buffer.length);
    out.zeros(padding);
    out.bytes(buffer);
    out.text(endTag);
    parts.push([start, out.length - start]);
  }
  return { bytes: out.finish(), places, parts };
}
