/**
 * Bits: the fields of LLVM's bitstream. Little-endian, lowest bit first, in 32-bit words.
 * Source: LLVM Bitcode File Format, "Bitstream Format".
 */
import { bug } from './bug.ts';

const char6 = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._';

/** Appends fields to a growing list of words. */
export class BitWriter {
  readonly #words: number[] = [];
  #word = 0;
  #used = 0;

  /** Bits written so far. */
  get position(): number {
    return this.#words.length * 32 + this.#used;
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
    this.#words.push(word >>> 0);
    this.#used = used - 32;
    this.#word = used === 32 ? 0 : value >>> (bits - (used - 32));
  }

  /** A variable-width field of a non-negative number below 2^53, or of a 64-bit value as a bigint. */
  vbr(value: number | bigint, bits: number): void {
    const more = bits < 32 ? 1 << (bits - 1) : 2 ** (bits - 1);
    if (typeof value === 'number' && value < 0x80000000) {
      let rest = value;
      for (; rest >= more; rest >>>= bits - 1) this.fixed((rest & (more - 1)) | more, bits);
      this.fixed(rest, bits);
      return;
    }
    let rest = BigInt(value);
    const mask = BigInt(more - 1);
    for (; rest >= BigInt(more); rest >>= BigInt(bits - 1)) this.fixed(Number(rest & mask) + more, bits);
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
    this.#words[index] = (this.#words[index]! | (value << shift)) >>> 0;
    if (shift > 0) this.#words[index + 1] = (this.#words[index + 1]! | (value >>> (32 - shift))) >>> 0;
  }

  /** The bytes so far; only on a word border. */
  finish(): Uint8Array {
    if (this.#used !== 0) bug('a bitstream that does not end on a word');
    const bytes = new Uint8Array(this.#words.length * 4);
    const view = new DataView(bytes.buffer);
    this.#words.forEach((word, i) => void view.setUint32(i * 4, word, true));
    return bytes;
  }
}

/** Raised by `BitReader` at the end of its bits; caught at the border of the room that reads. */
export class OutOfBits extends Error {}

/** Reads fields and never past the end. */
export class BitReader {
  readonly #bytes: Uint8Array;
  /** Bits from the start of the bytes. */
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.length * 8;
  }

  get atEnd(): boolean {
    return this.position + 32 > this.length;
  }

  /** A field of up to 32 bits. */
  fixed(bits: number): number {
    if (this.position + bits > this.length) throw new OutOfBits('the data ends inside a field');
    let value = 0;
    let got = 0;
    while (got < bits) {
      const offset = this.position & 7;
      const take = Math.min(8 - offset, bits - got);
      const part = (this.#bytes[this.position >> 3]! >> offset) & ((1 << take) - 1);
      value += part * 2 ** got;
      got += take;
      this.position += take;
    }
    return value;
  }

  /** A variable-width field; a bigint where a number would not hold it exactly. */
  vbr(bits: number): number | bigint {
    const more = 2 ** (bits - 1);
    let part = this.fixed(bits);
    if (part < more) return part;
    let value = BigInt(part - more);
    let shift = BigInt(bits - 1);
    do {
      part = this.fixed(bits);
      value |= BigInt(part % more) << shift;
      shift += BigInt(bits - 1);
      if (part >= more && shift >= 64n) throw new OutOfBits('a variable-width field of more than 64 bits');
    } while (part >= more);
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
