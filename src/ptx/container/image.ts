/** An image of a container: the fields of its header, and its unpacked bytes. */
import { OutOfBytes } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { cubinEntries } from './elf.ts';
import { unpackLz4 } from './lz4.ts';
import { malformed } from './malformed.ts';
import { unpackZstd } from './zstd.ts';

/** PTX text, SASS (a cubin), code for link-time optimization, or unknown. */
export type ImageKind = 'ptx' | 'sass' | 'lto' | 'other';

/** The compression of the stored bytes. */
export type Compression = 'none' | 'lz4' | 'zstd' | 'unknown';

/** An image of a container: PTX, machine code or another kind. */
export interface Image {
  /** Index in the container, from 0. */
  readonly index: number;
  readonly kind: ImageKind;
  /** The kind as stored in the file. */
  readonly kindCode: number;
  /** For example `sm_80` or `sm_90a`. */
  readonly arch: string;
  /** The PTX version, such as `9.0`. */
  readonly version: string;
  readonly compression: Compression;
  /** The unpacked size in bytes. */
  readonly size: number;
  readonly stored: Uint8Array;
  /** The offset of the stored bytes in the file. */
  readonly offset: number;
  /** The source file, if a debug build names it. */
  readonly source?: string;
}

/** The largest unpacked image: ten times the largest PTX in NVIDIA's own libraries, and small enough to hold in memory. */
const maxImageBytes = 128 * 1024 * 1024;

/** Images up to this size may have any compression ratio, as those of tables of zeros have. */
const freeImageBytes = 256 * 1024;
/** The largest ratio beyond that size. PTX of compilers is compressed to a tenth. */
const maxRatio = 128;

/** The largest size to which an image is unpacked. */
const maxSizeOf = ({ stored }: Image): number => Math.min(maxImageBytes, freeImageBytes + maxRatio * stored.length);

const isTooLarge = (image: Image): boolean => image.compression !== 'none' && image.size > maxSizeOf(image);

/** The unpacked bytes; throws `OutOfBytes` with an offset in the file. */
function unpack(image: Image): Uint8Array {
  const { compression, stored, size, offset } = image;
  if (compression === 'none') return stored;
  if (isTooLarge(image)) malformed(offset, `image ${image.index} claims to unpack to too much`);
  try {
    return compression === 'lz4' ? unpackLz4(stored, size) : unpackZstd(stored, size);
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    return malformed(offset, `image ${image.index}: ${error.message}`);
  }
}

/** The PTX of an image; undefined after reporting CM4060 (damaged), CM4064 (unknown compression) or CM4065 (too large). */
export function imageText(image: Image, diagnostics: Diagnostics): string | undefined {
  if (image.compression === 'unknown') {
    diagnostics.report('CM4064', { image: image.index });
    return undefined;
  }
  if (isTooLarge(image)) {
    const { index, stored, size } = image;
    diagnostics.report('CM4065', { image: index, stored: stored.length, size, limit: maxSizeOf(image) });
    return undefined;
  }
  try {
    return textOf(unpack(image));
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    diagnostics.report('CM4060', { offset: error.offset, why: error.message });
    return undefined;
  }
}

/** Text ends at its first NUL, except that PTX of a debug build in a cubin has a NUL at each line end. */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(withoutPadding(bytes));
  return text.includes('\0') ? text.replaceAll('\0', '\n') : text;
}

/** Whether so many images can be unpacked together: at most `maxBytes`, and less for a small file. */
export function fitTogether(images: readonly Image[], maxBytes: number): boolean {
  const [size, stored] = images.reduce(([a, b], image) => [a + image.size, b + image.stored.length], [0, 0]);
  return size <= Math.min(maxBytes, 16 * 1024 * 1024 + 32 * stored);
}

/** The names of an image's kernels, in order; undefined if the image cannot be read or has no names. */
export function imageEntries(image: Image): string[] | undefined {
  if (image.compression === 'unknown' || (image.kind !== 'ptx' && image.kind !== 'sass')) return undefined;
  try {
    const bytes = unpack(image);
    return image.kind === 'ptx' ? entriesOf(textOf(bytes)) : cubinEntries(bytes);
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    return undefined;
  }
}

/** The bytes without trailing zeros. */
export function withoutPadding(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}

/** The largest number of kernels of an image that are listed. */
const maxEntries = 65536;

/** Finds entries without parsing. Comments and strings are skipped. */
function entriesOf(text: string): string[] {
  const words = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"[^"\n]*|\.entry\s+([\w$%]+)/g;
  const names: string[] = [];
  for (const [, name] of text.matchAll(words)) {
    if (name !== undefined) names.push(name);
    if (names.length === maxEntries) break;
  }
  return names;
}
