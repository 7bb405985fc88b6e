/** Reads a module: numbers of limited length, and what is wrong as an error with its place. */
import { ByteReader } from '../../base/bytes.ts';

/** Thrown inside this room and caught at its entry, which reports CM4090. */
export class Unfit extends Error {
  readonly offset: number;
  constructor(offset: number, why: string) {
    super(why);
    this.offset = offset;
  }
}

export class ModuleReader extends ByteReader {
  /** An unsigned number of 32 bits. Source: WebAssembly Core Specification, 5.2.2. */
  u32Leb(): number {
    const value = this.unsigned(32);
    return Number(value);
  }

  /** An unsigned number of 64 bits. */
  u64Leb(): bigint {
    return this.unsigned(64);
  }

  private unsigned(bits: number): bigint {
    const start = this.offset;
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.u8();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 28; shift < bits; shift += 7) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << BigInt(shift);
      if (byte < 0x80) {
        if (value >> BigInt(bits) !== 0n) break;
        return value;
      }
    }
    throw new Unfit(start, `a number of more than ${bits} bits`);
  }

  /** Passes over a signed number of at most `bits` bits. */
  skipSigned(bits: number): void {
    const start = this.offset;
    for (let shift = 0; shift < bits; shift += 7) if (this.u8() < 0x80) return;
    throw new Unfit(start, `a number of more than ${bits} bits`);
  }

  /** A signed number of 64 bits. */
  s64Leb(): bigint {
    const start = this.offset;
    let value = 0n;
    for (let shift = 0n; shift < 64n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(Math.min(64, Number(shift) + 7), value);
    }
    throw new Unfit(start, 'a number of more than 64 bits');
  }

  /** Passes over a value type; returns its first byte. */
  valueType(): number {
    const at = this.offset;
    const type = this.u8();
    // A reference with its heap type.
    if (type === 0x63 || type === 0x64) this.skipSigned(33);
    else if (!isShortType(type)) throw new Unfit(at, `the value type 0x${type.toString(16)}`);
    return type;
  }

  /** Passes over the type of a block: nothing, a value type, or the number of a type. */
  blockType(): void {
    const first = this.bytes[this.offset];
    if (first === 0x63 || first === 0x64) this.valueType();
    else this.skipSigned(33);
  }
}

/** Numbers, vectors and references that have one byte. Source: as above, 5.3 (types), and the proposal of exceptions for 0x69 and 0x74. */
const isShortType = (type: number): boolean => (type >= 0x7b && type <= 0x7f) || (type >= 0x69 && type <= 0x74);
