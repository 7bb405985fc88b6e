/**
 * Writes the container: header, function list, extension, metadata groups, bitcode, back to back.
 * Source: layouts of real files of macOS 11 and later.
 */
import { ByteWriter } from '../base/bytes.ts';
import { sha256 } from '../base/sha256.ts';
import type { Library, LibraryFunction, RawTag } from './library.ts';
import { endTag, functionTypes, header, platform64Bit, platforms, wrapper } from './tags.ts';

/** SHA-256. */
type Hash = (bytes: Uint8Array) => Uint8Array;

/**
 * The bytes of a library of container 1.2.5 or later; the same library gives the same bytes. A host that has a faster SHA-256
 * may hand it in.
 */
export function writeMetallib(library: Library, hash: Hash = sha256): Uint8Array {
  const blobs = library.functions.map((fn) => wrapBitcode(fn.bitcode));
  const publicGroups = library.functions.map((fn) => group(fn.publicTags ?? []));
  const privateGroups = library.functions.map((fn) => group(fn.privateTags ?? []));
  const parts = [publicGroups, privateGroups, blobs];
  const list = functionList(library, parts, hash);
  const extension = new ByteWriter();
  writeTag(extension, 'UUID', library.uuid ?? uuidOf(list, hash));
  extension.text(endTag);
  const out = new ByteWriter();
  out.zeros(header.size);
  out.bytes(list);
  out.bytes(extension.finish());
  const sections = parts.map((groups) => appendSection(out, groups));
  const bytes = out.finish();
  bytes.set(writeHeader(library, bytes.length, list.length - 4, sections));
  return bytes;
}

interface Section {
  readonly offset: number;
  readonly size: number;
}

function appendSection(out: ByteWriter, groups: readonly Uint8Array[]): Section {
  const offset = out.length;
  for (const bytes of groups) out.bytes(bytes);
  return { offset, size: out.length - offset };
}

/** `listSize` leaves out the count in front of the list. */
function writeHeader({ version, platform, os }: Library, size: number, listSize: number, sections: readonly Section[]): Uint8Array {
  const out = new ByteWriter();
  const isMac = platform === 'macos';
  out.text(header.magic);
  out.u16(version.major | (isMac ? header.macosBit : 0));
  out.u16(version.minor);
  out.u16(version.patch);
  out.u8(0);
  out.u8(Number(Object.keys(platforms).find((n) => platforms[Number(n)] === platform) ?? 0) | platform64Bit);
  out.u16(os.major);
  out.u8(os.minor);
  out.u8(os.patch);
  out.u64(size);
  out.u64(header.size);
  out.u64(listSize);
  for (const section of sections) {
    out.u64(section.offset);
    out.u64(section.size);
  }
  return out.finish();
}

function functionList(library: Library, parts: readonly (readonly Uint8Array[])[], hash: Hash): Uint8Array {
  const out = new ByteWriter();
  out.u32(library.functions.length);
  library.functions.forEach((fn, i) => {
    const offsets = parts.map((groups) => groups.slice(0, i).reduce((sum, bytes) => sum + bytes.length, 0));
    out.bytes(functionGroup(fn, parts[2]![i]!, offsets, hash));
  });
  return out.finish();
}

function functionGroup(fn: LibraryFunction, blob: Uint8Array, offsets: readonly number[], hash: Hash): Uint8Array {
  return group([
    { code: 'NAME', payload: new TextEncoder().encode(`${fn.name}\0`) },
    { code: 'TYPE', payload: Uint8Array.of(functionTypes.indexOf(fn.type)) },
    { code: 'HASH', payload: hash(blob) },
    {
      code: 'OFFT',
      payload: payload((out) => {
        for (const offset of offsets) out.u64(offset);
      }),
    },
    {
      code: 'VERS',
      payload: payload((out) => {
        for (const part of [...fn.airVersion, ...fn.metalVersion]) out.u16(part);
      }),
    },
    { code: 'MDSZ', payload: payload((out) => out.u64(blob.length)) },
    ...(fn.otherTags ?? []),
  ]);
}

function payload(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(out);
  return out.finish();
}

/** A group from its size, which counts itself, to its end tag. */
function group(tags: readonly RawTag[]): Uint8Array {
  const out = new ByteWriter();
  out.u32(0);
  for (const { code, payload: bytes } of tags) writeTag(out, code, bytes);
  out.text(endTag);
  out.patchU32(0, out.length);
  return out.finish();
}

function writeTag(out: ByteWriter, code: string, bytes: Uint8Array): void {
  out.text(code);
  out.u16(bytes.length);
  out.bytes(bytes);
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

/** An identity that follows from the function list, which has the hash of each blob, in the shape of a version 4 UUID. */
function uuidOf(list: Uint8Array, hash: Hash): Uint8Array {
  const uuid = hash(list).slice(0, 16);
  uuid[6] = (uuid[6]! & 0x0f) | 0x40;
  uuid[8] = (uuid[8]! & 0x3f) | 0x80;
  return uuid;
}
