/**
 * Reads 64-bit little-endian ELF files: host objects and programs, and cubins.
 * Source: System V ABI, "Object Files"; NVIDIA's own parts were read off the files that nvcc 13.0 writes.
 */
import { ByteReader } from '../../base/bytes.ts';
import { malformed } from './malformed.ts';

export interface Section {
  readonly name: string;
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  /** Index of the referenced section: for a symbol table, its names. */
  readonly link: number;
}

export interface Elf {
  readonly machine: number;
  readonly abiVersion: number;
  readonly flags: number;
  readonly sections: readonly Section[];
}

/** e_machine of a cubin. */
export const cudaMachine = 190;

const magic = 0x464c457f;
const headerSize = 64;
const sectionSize = 64;
const symbolSize = 24;
/** Section types. */
const symbols = 2;
const noBits = 8;

/** Whether bytes start with the ELF magic. */
export const isElf = (bytes: Uint8Array): boolean => bytes.length >= 4 && new ByteReader(bytes).u32() === magic;

/** Reads header and sections; throws `OutOfBytes`. */
export function readElf(bytes: Uint8Array): Elf {
  if (bytes.length < headerSize) malformed(bytes.length, `${bytes.length} bytes are too few for an ELF header`);
  if (bytes[4] !== 2 || bytes[5] !== 1) malformed(4, 'an ELF file that is not 64-bit little-endian');
  const r = new ByteReader(bytes, 18);
  const machine = r.u16();
  r.offset = 40;
  const at = offsetOf(r, bytes);
  const flags = r.u32();
  r.offset = 60;
  const [count, names] = [r.u16(), r.u16()];
  return { machine, abiVersion: bytes[8]!, flags, sections: at === 0 ? [] : readSections(bytes, at, count, names) };
}

function offsetOf(r: ByteReader, bytes: Uint8Array): number {
  const at = r.offset;
  const value = r.u64();
  if (value > BigInt(bytes.length)) malformed(at, `an ELF offset of ${value}, in a file of ${bytes.length} bytes`);
  return Number(value);
}

interface RawSection extends Omit<Section, 'name'> {
  readonly nameAt: number;
}

function readSections(bytes: Uint8Array, at: number, count: number, names: number): Section[] {
  const first = new ByteReader(bytes, at);
  // A file of 65280 sections or more has the count in the first section header.
  const zero = readSection(first);
  const size = count === 0 ? zero.size : count;
  if (size > (bytes.length - at) / sectionSize) malformed(at, `${size} ELF sections run past the file`);
  const r = new ByteReader(bytes, at);
  const raw = Array.from({ length: size }, () => readSection(r));
  const strings = raw[names === 0xffff ? zero.link : names];
  const text = strings && isInside(strings, bytes) ? bytes.subarray(strings.offset, strings.offset + strings.size) : new Uint8Array(0);
  return raw.map(({ nameAt, ...section }) => ({ name: textAt(text, nameAt, maxSectionNameLength), ...section }));
}

function readSection(r: ByteReader): RawSection {
  const at = r.offset;
  const nameAt = r.u32();
  const type = r.u32();
  r.offset = at + 24;
  const [offset, size] = [Number(r.u64()), Number(r.u64())];
  const link = r.u32();
  r.take(at + sectionSize - r.offset);
  return { nameAt, type, offset, size, link };
}

const isInside = ({ offset, size }: { offset: number; size: number }, bytes: Uint8Array): boolean => offset + size <= bytes.length;

/** The longest section name that is read; the relevant ones are shorter. */
const maxSectionNameLength = 32;
/** The longest kernel name that is read; C++ mangles to long names. */
const maxNameLength = 16384;

function textAt(bytes: Uint8Array, at: number, longest: number): string {
  const window = bytes.subarray(at, at + longest);
  const end = window.indexOf(0);
  return new TextDecoder().decode(end < 0 ? window : window.subarray(0, end));
}

/** The bytes of a section; throws `OutOfBytes`. A section without file content is empty. */
export function sectionBytes(bytes: Uint8Array, section: Section): Uint8Array {
  if (section.type === noBits) return new Uint8Array(0);
  if (!isInside(section, bytes)) malformed(Math.min(section.offset, bytes.length), `ELF section \`${section.name}\` runs past the file`);
  return bytes.subarray(section.offset, section.offset + section.size);
}

/** The architecture of a cubin, as a number: in the second byte of the flags since ABI version 8, earlier in the first. */
export const cubinArch = ({ abiVersion, flags }: Elf): number => (abiVersion >= 8 ? (flags >> 8) & 0xff : flags & 0xff);

/** Names of a cubin's kernels: functions marked as entries. Throws `OutOfBytes`. */
export function cubinEntries(bytes: Uint8Array): string[] {
  const { sections } = readElf(bytes);
  const table = sections.find(({ type }) => type === symbols);
  const names = table && sections[table.link];
  if (!table || !names) return [];
  const text = sectionBytes(bytes, names);
  const r = new ByteReader(sectionBytes(bytes, table));
  const entries: string[] = [];
  // Names do not overlap, so that their total length is bounded by the string table.
  let left = text.length;
  while (r.remaining >= symbolSize) {
    const [nameAt, info, other, section] = [r.u32(), r.u8(), r.u8(), r.u16()];
    r.take(16);
    // STT_FUNC, defined, with the entry bit.
    if ((info & 15) !== 2 || (other & 0x10) === 0 || section === 0) continue;
    const name = textAt(text, nameAt, maxNameLength);
    left -= name.length;
    if (left < 0) malformed(names.offset, 'the names of a cubin overlap');
    entries.push(name);
  }
  return entries;
}
