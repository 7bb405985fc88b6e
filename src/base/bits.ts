/**
 * Bits: the fields of LLVM's bitstream. Little-endian, lowest bit first, in 32-bit words.
 * Source: LLVM Bitcode File Format, "Bitstream Format".
 */
import { bug } from './bug.ts';

const char6 = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._';

/** The mask of so many low bits, up to 32. */
const mask = (bits: number): number => (bits < 32 ? (1 << bits) - 1 : -1);

/** Appends fields to a growing list of words. */
export class BitWriter {
  #words = new Uint32Array(1024);
  #count = 0;
  #word = 0;
  #used = 0;

  /** Bits written so far. */
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
    if (this.#count === this.#words.length) this.#reserve(this.#count + 1);
    this.#words[this.#count++] = word;
    this.#used = used - 32;
    this.#word = used === 32 ? 0 : value >>> (bits - (used - 32));
  }

  /** A variable-width field of a non-negative number below 2^53, or of a 64-bit value as a bigint. */
  vbr(value: number | bigint, bits: number): void {
    const more = bits < 32 ? 1 << (bits - 1) : 2 ** (bits - 1);
    // Two chunks at once where they fit: most values are as small as that.
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

  align32(): void {
    if (this.#used > 0) this.fixed(0, 32 - this.#used);
  }

  /** Bytes on a word border, zero-padded to the next. */
  blob(bytes: Uint8Array): void {
    this.align32();
    for (const byte of bytes) this.fixed(byte, 8);
    this.align32();
  }

  /** Fills in 32 bits that were written as zeros, at any bit position in words that are complete. */
  patch32(position: number, value: number): void {
    const index = Math.floor(position / 32);
    const shift = position % 32;
    this.#words[index]! |= value << shift;
    if (shift > 0) this.#words[index + 1]! |= value >>> (32 - shift);
  }

  /** The bytes so far; only on a word border. */
  finish(): Uint8Array {
    if (this.#used !== 0) bug('a bitstream that does not end on a word');
    const bytes = new Uint8Array(this.#count * 4);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < this.#count; i++) view.setUint32(i * 4, this.#words[i]!, true);
    return bytes;
  }

  #reserve(count: number): void {
    const larger = new Uint32Array(Math.max(this.#words.length * 2, count));
    larger.set(this.#words);
    this.#words = larger;
  }
}

/** Raised by `BitReader` at the end of its bits; caught at the border of the room that reads. */
export class OutOfBits extends Error {}

/** Reads fields and never past the end. */
export class BitReader {
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  /** Bits from the start of the bytes, and how many there are. */
  position = 0;
  readonly length: number;

  constructor(bytes: Uint8Array) {
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
    const index = Math.floor(position / 32);
    const shift = position % 32;
    let value = this.#words[index]! >>> shift;
    if (shift + bits > 32) value |= this.#words[index + 1]! << (32 - shift);
    return (value & mask(bits)) >>> 0;
  }

  /** A variable-width field; a bigint where a number would not hold it exactly. */
  vbr(bits: number): number | bigint {
    const more = 2 ** (bits - 1);
    const start = this.position;
    let part = this.fixed(bits);
    if (part < more) return part;
    let value = part - more;
    for (let scale = more; scale * more <= 2 ** 53; scale *= more) {
      part = this.fixed(bits);
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
    this.position = Math.ceil(this.position / 32) * 32;
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

/** Little-endian words, the last filled with zeros. */
function wordsOf(bytes: Uint8Array): Int32Array {
  const words = new Int32Array(Math.ceil(bytes.length / 4));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length >>> 2;
  for (let i = 0; i < whole; i++) words[i] = view.getInt32(i * 4, true);
  for (let i = whole * 4; i < bytes.length; i++) words[whole]! |= bytes[i]! << (8 * (i - whole * 4));
  return words;
}
