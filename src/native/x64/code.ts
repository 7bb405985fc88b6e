/** A growing array of bytes of code, and the places in it that depend on labels. */

/** A displacement of 32 bits at `at`, of a label relative to the end of its instruction. */
export interface Fixup {
  readonly at: number;
  readonly label: number;
  readonly end: number;
  readonly displacement: number;
}

export class Code {
  bytes = new Uint8Array(1 << 14);
  size = 0;
  readonly fixups: Fixup[] = [];

  /** Makes room for so many further bytes. */
  reserve(count: number): void {
    if (this.size + count <= this.bytes.length) return;
    const bytes = new Uint8Array(2 * (this.size + count));
    bytes.set(this.bytes);
    this.bytes = bytes;
  }

  /** Writes a byte; the room for it is there. */
  byte(value: number): void {
    this.bytes[this.size++] = value;
  }

  /** Writes the low `count` bytes (at most 4) of an integer, the lowest first. */
  low(value: number, count: number): void {
    for (let i = 0; i < count; i++) this.bytes[this.size++] = value >> (8 * i);
  }
}
