/** One image of a container: what its header says of it, and the bytes it stands for. */
import { OutOfBytes } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { cubinEntries } from './elf.ts';
import { unpackLz4 } from './lz4.ts';
import { malformed } from './malformed.ts';
import { unpackZstd } from './zstd.ts';

/** PTX text, SASS (a cubin), code for link-time optimisation, or something this version does not know. */
export type ImageKind = 'ptx' | 'sass' | 'lto' | 'other';

export type Compression = 'none' | 'lz4' | 'zstd' | 'unknown';

export interface Image {
  /** Its place in the container, from 0. */
  readonly index: number;
  readonly kind: ImageKind;
  /** The kind as the file writes it. */
  readonly kindCode: number;
  /** `sm_80`, `sm_90a`. */
  readonly arch: string;
  /** Of PTX, the version of the language: `9.0`. */
  readonly version: string;
  readonly compression: Compression;
  /** Bytes that the image stands for. */
  readonly size: number;
  readonly stored: Uint8Array;
  /** Of the stored bytes, in the file. */
  readonly offset: number;
  /** The source file, which debug builds name. */
  readonly source?: string;
}

/** Most bytes that an image may stand for: ten times the largest PTX in NVIDIA's own libraries, and no burden to hold. */
const largestImage = 128 * 1024 * 1024;

/** LZ4 makes at most 255 bytes of one. */
const lz4Ratio = 255;

/** The bytes; raises `OutOfBytes` with an offset in the file. */
function unpack(image: Image): Uint8Array {
  const { compression, stored, size, offset } = image;
  if (compression === 'none') return stored;
  if (size > largestImage || (compression === 'lz4' && size > stored.length * lz4Ratio))
    malformed(offset, `image ${image.index} says that ${stored.length} bytes stand for ${size}, which is too much`);
  try {
    return compression === 'lz4' ? unpackLz4(stored, size) : unpackZstd(stored, size);
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    return malformed(offset, `image ${image.index}: ${error.message}`);
  }
}

/** The PTX of an image; nothing after reporting CM4060 (damaged) or CM4064 (a compression that is not known). */
export function imageText(image: Image, diagnostics: Diagnostics): string | undefined {
  if (image.compression === 'unknown') {
    diagnostics.report('CM4064', { image: image.index });
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

/** Text ends at its NULs; only PTX that a debug build left in a cubin has one for each line end. */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(withoutPadding(bytes));
  return text.includes('\0') ? text.replaceAll('\0', '\n') : text;
}

/** The names of an image's kernels, in order; nothing where it cannot be read or is of a kind without names. */
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

/** Bytes without the zeros at their end. */
export function withoutPadding(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}

/** Most kernels of one image that are named. */
const mostEntries = 65536;

/** Finds entries without parsing: comments and strings are stepped over, so words in them do not count. */
function entriesOf(text: string): string[] {
  const words = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"[^"\n]*|\.entry\s+([\w$%]+)/g;
  const names: string[] = [];
  for (const [, name] of text.matchAll(words)) {
    if (name !== undefined) names.push(name);
    if (names.length === mostEntries) break;
  }
  return names;
}
