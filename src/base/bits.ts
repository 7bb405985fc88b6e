/**
 * Bit-level reader and writer of LLVM's bitstream: little-endian fields, lowest bit first, in 32-bit words.
 * Source: LLVM Bitcode File Format, "Bitstream Format".
 */
import { bug } from './bug.ts';

const char6 = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._';

/** A mask of the lowest `bits` bits, up to 32. */
const mask = (bits: number): number => (bits < 32 ? (1 << bits) - 1 : -1);

/** The continuation bits of one to four six-bit chunks. */
const continuationBits = [0, 0, 0x20, 0x820, 0x20820];

/** Appends fields to a growing list of words. JavaScript hosts are little-endian, as the format is. */
export class BitWriter {
  #words = new Uint32Array(1024);
  #count = 0;
  #word = 0;
  #used = 0;

  /** The number of bits written. */
  get position(): number {
    return this.#count * 32 + this.#used;
  }

  /** A field of up to 32 bits. */
  fixed(value: number, bits: number): void {
    if (bits < 32 ? value >>> bits !== 0 : value !== value >>> 0) bug(`${value} does not fit ${bits} bits`);
    const used = this.#used + bits;
    const word = this.#word | (value << this.#used);
    if (used < 32) {
      this.#word = word;
      this.#used = used;
      return;
    }
    if (this.#count === this.#words.length) this.#reserve(1);
    this.#words[this.#count++] = word;
    this.#used = used - 32;
    this.#word = used === 32 ? 0 : value >>> (bits - (used - 32));
  }

  /** A variable-width field of a non-negative number below 2^53, or of a 64-bit value as a bigint. */
  vbr(value: number | bigint, bits: number): void {
    const more = bits < 32 ? 1 << (bits - 1) : 2 ** (bits - 1);
    // // Fast path for values of at most two chunks, which are most of them.
    if (typeof value === 'number' && value >= 0 && value < more) return this.fixed(value, bits);
    if (typeof value === 'number' && value >= 0 && bits <= 15 && value < 1 << (2 * bits - 2))
      return this.fixed((value & (more - 1)) | more | ((value >>> (bits - 1)) << bits), 2 * bits);
    if (typeof value === 'number' && value < 0x80000000) {
      let rest = value;
      for (; rest >= more; rest >>>= bits - 1) this.fixed((rest & (more - 1)) | more, bits);
      this.fixed(rest, bits);
      return;
    }
    let rest = BigInt(value);
    const low = BigInt(more - 1);
    for (; rest >= BigInt(more); rest >>= BigInt(bits - 1)) this.fixed(Number(rest & low) + more, bits);
    this.fixed(Number(rest), bits);
  }

  /**
   * Writes the records between two word offsets. Each record is stored as its code, its operand count and its operands, unsigned 32-bit
   * integers. It is written as `id` in `width` bits, then every integer as a variable-width field of six bits.
   */
  records(from: Int32Array, first: number, end: number, id: number, width: number): void {
    // A field takes at most seven chunks.
    this.#reserve(2 * (end - first) + 1);
    const words = this.#words;
    let at = this.#count;
    let word = this.#word;
    let used = this.#used;
    let left = 0;
    for (let i = first; i < end; ) {
      let field = id;
      let bits = width;
      if (left === 0) left = 2 + from[i + 1]!;
      else {
        const value = from[i++]!;
        left--;
        if ((value & ~0xfffff) !== 0) {
          this.#count = at;
          this.#word = word;
          this.#used = used;
          this.vbr(value >>> 0, 6);
          at = this.#count;
          word = this.#word;
          used = this.#used;
          continue;
        }
        bits = value < 0x20 ? 6 : value < 0x400 ? 12 : value < 0x8000 ? 18 : 24;
        field = (value & 0x1f) | ((value & 0x3e0) << 1) | ((value & 0x7c00) << 2) | ((value & 0xf8000) << 3) | continuationBits[bits / 6]!;
      }
      word |= field << used;
      used += bits;
      if (used < 32) continue;
      words[at++] = word;
      used -= 32;
      word = used === 0 ? 0 : field >>> (bits - used);
    }
    this.#count = at;
    this.#word = word;
    this.#used = used;
  }

  align32(): void {
    if (this.#used > 0) this.fixed(0, 32 - this.#used);
  }

  /** Bytes at a word boundary, zero-padded to the next word. */
  blob(bytes: Uint8Array): void {
    this.align32();
    const count = Math.ceil(bytes.length / 4);
    this.#reserve(count);
    new Uint8Array(this.#words.buffer).set(bytes, this.#count * 4);
    this.#count += count;
  }

  /** Overwrites 32 bits that were written as zeros, at any bit position in complete words. */
  patch32(position: number, value: number): void {
    const index = Math.floor(position / 32);
    const shift = position % 32;
    this.#words[index]! |= value << shift;
    if (shift > 0) this.#words[index + 1]! |= value >>> (32 - shift);
  }

  /** The bytes written. The position must be a word boundary. */
  finish(): Uint8Array {
    if (this.#used !== 0) bug('a bitstream must end on a word boundary');
    return new Uint8Array(this.#words.slice(0, this.#count).buffer);
  }

  /** Reserves space for `count` more words. */
  #reserve(count: number): void {
    if (this.#count + count <= this.#words.length) return;
    const larger = new Uint32Array(Math.max(this.#words.length * 2, this.#count + count));
    larger.set(this.#words);
    this.#words = larger;
  }
}

/** Thrown by `BitReader` at the end of its data; the room that reads catches it at its entry point. */
export class OutOfBits extends Error {}

/** The largest input: bit positions have to fit 32 bits. */
const maxBytes = 2 ** 29 - 4;

/** Reads fields and never past the end. Input of half a gigabyte or more is refused. */
export class BitReader {
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  /** The current position, in bits from the start. */
  position = 0;
  readonly length: number;

  constructor(bytes: Uint8Array) {
    if (bytes.length > maxBytes) throw new OutOfBits(`${bytes.length} bytes are too many`);
    this.#bytes = bytes;
    this.#words = wordsOf(bytes);
    this.length = bytes.length * 8;
  }

  get atEnd(): boolean {
    return this.position + 32 > this.length;
  }

  /** A field of up to 32 bits. */
  fixed(bits: number): number {
    const { position } = this;
    if (position + bits > this.length) throw new OutOfBits('the data ends inside a field');
    this.position = position + bits;
    return (windowAt(this.#words, position) & mask(bits)) >>> 0;
  }

  /** A variable-width field. The result is a bigint where a number cannot hold the value exactly. */
  vbr(bits: number): number | bigint {
    const { position } = this;
    if (bits <= 15) {
      const window = windowAt(this.#words, position);
      const more = 1 << (bits - 1);
      // Fast path for one or two chunks, which most values are.
      if ((window & more) === 0 && position + bits <= this.length) {
        this.position = position + bits;
        return window & (more - 1);
      }
      if ((window & (more << bits)) === 0 && position + 2 * bits <= this.length) {
        this.position = position + 2 * bits;
        return (window & (more - 1)) | (((window >>> bits) & (more - 1)) << (bits - 1));
      }
    }
    return this.#longVbr(bits);
  }

  /**
   * Reads `count` variable-width fields of six bits into a preallocated list: the operands of most records. A value that a number cannot
   * hold exactly is rounded to the nearest number.
   */
  vbr6s(count: number, into: Float64Array, from = 0): void {
    const words = this.#words;
    let { position } = this;
    for (let i = from; i < from + count; i++) {
      const window = windowAt(words, position);
      if ((window & 0x20) === 0) {
        into[i] = window & 0x1f;
        position += 6;
      } else if ((window & 0x800) === 0) {
        into[i] = (window & 0x1f) | ((window >>> 1) & 0x3e0);
        position += 12;
      } else if ((window & 0x820000) !== 0x820000) {
        const isThree = (window & 0x20000) === 0;
        const low = (window & 0x1f) | ((window >>> 1) & 0x3e0) | ((window >>> 2) & 0x7c00);
        into[i] = isThree ? low : low | ((window >>> 3) & 0xf8000);
        position += isThree ? 18 : 24;
      } else {
        this.position = position;
        into[i] = Number(this.#longVbr(6));
        position = this.position;
      }
    }
    if (position > this.length) throw new OutOfBits('the data ends inside a field');
    this.position = position;
  }

  /**
   * Reads consecutive fields into a preallocated list. A positive width is a fixed field of up to 32 bits, a negative one a variable-width
   * field. A value that a number cannot hold exactly is rounded to the nearest number.
   */
  fields(widths: Int8Array, into: Float64Array): void {
    const words = this.#words;
    let { position } = this;
    for (let i = 0; i < widths.length; i++) {
      const width = widths[i]!;
      const window = windowAt(words, position);
      const more = 1 << (~width & 31);
      if (width > 0) {
        into[i] = (window & mask(width)) >>> 0;
        position += width;
      } else if ((window & more) === 0) {
        into[i] = window & (more - 1);
        position -= width;
      } else {
        this.position = position;
        into[i] = Number(this.vbr(-width));
        position = this.position;
      }
    }
    if (position > this.length) throw new OutOfBits('the data ends inside a field');
    this.position = position;
  }

  #longVbr(bits: number): number | bigint {
    const more = 2 ** (bits - 1);
    const start = this.position;
    let value = 0;
    for (let scale = 1; scale * more <= 2 ** 53; scale *= more) {
      const part = this.fixed(bits);
      if (part < more) return value + part * scale;
      value += (part - more) * scale;
    }
    this.position = start;
    return this.#wideVbr(bits, BigInt(more));
  }

  #wideVbr(bits: number, more: bigint): number | bigint {
    let value = 0n;
    let shift = 0n;
    for (;;) {
      const part = BigInt(this.fixed(bits));
      value |= (part % more) << shift;
      shift += BigInt(bits - 1);
      if (part < more) break;
      if (shift >= 64n) throw new OutOfBits('a variable-width field of more than 64 bits');
    }
    value = BigInt.asUintN(64, value);
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  }

  char6(): number {
    return char6.charCodeAt(this.fixed(6));
  }

  align32(): void {
    this.position = ((this.position + 31) >>> 5) * 32;
  }

  blob(length: number): Uint8Array {
    this.align32();
    const start = this.position / 8;
    if (start + length > this.#bytes.length) throw new OutOfBits('the data ends inside a blob');
    this.position += length * 8;
    this.align32();
    return this.#bytes.subarray(start, start + length);
  }
}

/** The 32 bits that start at a bit position. */
function windowAt(words: Int32Array, position: number): number {
  const index = position >>> 5;
  const shift = position & 31;
  return (words[index]! >>> shift) | ((words[index + 1]! << 1) << (31 - shift));
}

/** The bytes as words, zero-padded, with one more zero word for reads that cross the end. */
function wordsOf(bytes: Uint8Array): Int32Array {
  const words = new Int32Array(Math.ceil(bytes.length / 4) + 1);
  new Uint8Array(words.buffer).set(bytes);
  return words;
}
