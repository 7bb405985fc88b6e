/**
 * Reads fatbinaries: a header, then consecutive images, each with a header. NVIDIA does not document the layout; it was read off files that
 * nvcc and fatbinary 13.0 write, and agrees with other descriptions. All numbers are little-endian.
 *
 *     header   0 u32 magic   4 u16 version (1)   6 u16 size of the header (16)   8 u64 size of everything after it
 *     image    0 u16 kind    2 u16 version   4 u32 size of this header   8 u64 size of the bytes, a multiple of 8
 *             16 u32 size of the compressed bytes, 0 if not compressed   24 u16 minor  26 u16 major version   28 u32 architecture
 *             32 u32, 36 u32 offset of the source's name in this header, and its length   40 u64 flags   56 u64 unpacked size
 */
import { ByteReader } from '../../base/bytes.ts';
import { type Compression, type Image, type ImageKind, withoutPadding } from './image.ts';
import { malformed } from './malformed.ts';

const magic = 0xba55ed50;
const headerSize = 16;
const imageHeaderSize = 64;
/** The largest number of images in a file; NVIDIA's largest libraries hold some thousands. */
const maxImages = 65536;

const kinds: Readonly<Record<number, ImageKind>> = { 1: 'ptx', 2: 'sass', 8: 'lto' };

/** Bits of the flags. */
const flag = { lz4: 0x2000n, zstd: 0x8000n, architectureSpecific: 0x100000n, familySpecific: 0x200000n } as const;

/** Whether a fatbinary starts at this offset. */
export const isFatbinary = (bytes: Uint8Array, at = 0): boolean => at + 4 <= bytes.length && new ByteReader(bytes, at).u32() === magic;

/**
 * Adds the images of every fatbinary in a range of a file: one, or several with zeros in between after linking. Throws `OutOfBytes` and
 * keeps the images before the fault.
 */
export function readFatbinaries(bytes: Uint8Array, at: number, end: number, images: Image[]): void {
  for (let from = at; from + 8 <= end; ) {
    if (isFatbinary(bytes, from)) from = readFatbinary(bytes, from, end, images);
    else if (new ByteReader(bytes, from).u64() === 0n) from += 8;
    else malformed(from, 'neither a fatbinary nor padding');
  }
}

/** Returns the offset of the next possible fatbinary, a multiple of 8 from here. */
function readFatbinary(bytes: Uint8Array, at: number, end: number, images: Image[]): number {
  const r = new ByteReader(bytes, at + 4, end);
  const version = r.u16();
  const skip = r.u16();
  if (version !== 1 || skip < headerSize) malformed(at + 4, `a fatbinary of version ${version} with a header of ${skip} bytes`);
  const size = r.u64();
  r.offset = at + skip;
  // A truncated file still shows the images before the truncation.
  const isWhole = size <= BigInt(Math.max(0, end - r.offset));
  const last = isWhole ? r.offset + Number(size) : end;
  while (r.offset < last) readImage(r, last, images);
  if (!isWhole) malformed(at + 8, `the fatbinary has a size of ${size} bytes, but ${end - at - skip} are left`);
  return last + ((at - last) & 7);
}

function readImage(r: ByteReader, end: number, images: Image[]): void {
  const at = r.offset;
  if (end - at < imageHeaderSize) malformed(at, 'the header of an image runs past its fatbinary');
  if (images.length >= maxImages) malformed(at, `more than ${maxImages} images`);
  const kindCode = r.u16();
  r.u16();
  const skip = r.u32();
  const padded = r.u64();
  if (skip < imageHeaderSize || skip > end - at || padded > BigInt(end - at - skip))
    malformed(at, `image ${images.length} has a header of ${skip} bytes and ${padded} bytes of data, but ${end - at} are left`);
  const packed = r.u32();
  if (packed > padded) malformed(at + 16, `image ${images.length} has ${packed} compressed bytes in ${padded}`);
  r.offset = at + skip;
  const stored = r.take(Number(padded));
  images.push(imageOf(r.bytes, at, skip, { index: images.length, kindCode, packed, stored }));
}

interface Found {
  readonly index: number;
  readonly kindCode: number;
  readonly packed: number;
  readonly stored: Uint8Array;
}

function imageOf(bytes: Uint8Array, at: number, skip: number, { index, kindCode, packed, stored }: Found): Image {
  const r = new ByteReader(bytes, at + 24, at + skip);
  const [minor, major, sm, nameAt, nameSize, flags] = [r.u16(), r.u16(), r.u32(), r.u32(), r.u32(), r.u64()];
  r.u64();
  const unpacked = Number(r.u64());
  const kind = kinds[kindCode] ?? 'other';
  const own = packed > 0 ? stored.subarray(0, packed) : kind === 'ptx' ? withoutPadding(stored) : stored;
  return {
    index,
    kind,
    kindCode,
    arch: `sm_${sm}${flags & flag.architectureSpecific ? 'a' : flags & flag.familySpecific ? 'f' : ''}`,
    version: `${major}.${minor}`,
    compression: packed > 0 ? compressionOf(flags) : 'none',
    size: packed > 0 ? unpacked : own.length,
    stored: own,
    offset: at + skip,
    ...sourceOf(bytes.subarray(at, at + skip), nameAt, nameSize),
  };
}

function compressionOf(flags: bigint): Compression {
  const [isLz4, isZstd] = [(flags & flag.lz4) !== 0n, (flags & flag.zstd) !== 0n];
  if (isLz4 === isZstd) return 'unknown';
  return isLz4 ? 'lz4' : 'zstd';
}

function sourceOf(header: Uint8Array, at: number, size: number): { source?: string } {
  if (at < imageHeaderSize || size === 0 || at + size > header.length) return {};
  return { source: new TextDecoder().decode(withoutPadding(header.subarray(at, at + size))) };
}
