/** Byte arrays: comparison, hexadecimal text, and a little-endian writer and bounds-checked reader. */

/** Whether two arrays hold the same bytes. */
export function areSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const hexOfBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Bytes as hexadecimal digits, two per byte. */
export function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += hexOfBytes[bytes[i]!]!;
  return text;
}

/** A number as upper-case hexadecimal digits, padded with zeros to `digits`. */
export const upperHex = (value: bigint, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');

/** An offset rounded up to a multiple of an alignment. */
export const alignUp = (offset: number, align: number): number => Math.ceil(offset / align) * align;

/** Appends little-endian values to a growing buffer. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.#length, value, true);
    this.#length += 2;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  u64(value: number | bigint): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#length, BigInt(value), true);
    this.#length += 8;
  }

  bytes(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** UTF-8 text without a terminator. */
  text(text: string): void {
    this.bytes(new TextEncoder().encode(text));
  }

  zeros(count: number): void {
    this.#reserve(count);
    this.#length += count;
  }

  /** Overwrites an earlier value. */
  patchU32(offset: number, value: number): void {
    this.#view.setUint32(offset, value, true);
  }

  /** Overwrites an earlier value. */
  patchU64(offset: number, value: number | bigint): void {
    this.#view.setBigUint64(offset, BigInt(value), true);
  }

  /** A copy of the bytes written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** Thrown by `ByteReader`. The room that reads catches it at its entry point and reports a diagnostic. */
export class OutOfBytes extends Error {
  readonly offset: number;
  constructor(offset: number, what: string) {
    super(what);
    this.offset = offset;
  }
}

/** Reads little-endian values from a window of bytes. A read past the end throws `OutOfBytes` with the offset in the file. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  offset: number;
  readonly end: number;

  constructor(bytes: Uint8Array, offset = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.offset = offset;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.offset;
  }

  u8(): number {
    return this.bytes[this.#take(1)]!;
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  take(count: number): Uint8Array {
    const at = this.#take(count);
    return this.bytes.subarray(at, at + count);
  }

  text(count: number): string {
    return new TextDecoder().decode(this.take(count));
  }

  #take(count: number): number {
    if (count < 0 || count > this.remaining)
      throw new OutOfBytes(this.offset, `${count} bytes needed, ${Math.max(0, this.remaining)} left`);
    const at = this.offset;
    this.offset += count;
    return at;
  }
}
