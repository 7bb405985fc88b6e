/** Variable-length integers. Source: WebAssembly Core Specification 2.0, 5.2.2 (LEB128). */
import type { ByteReader, ByteWriter } from '../base/bytes.ts';

/** An unsigned number below 2^32. */
export function unsigned(out: ByteWriter, value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    out.u8((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  out.u8(rest);
}

/** A signed number of up to 64 bits. */
export function signed(out: ByteWriter, value: bigint): void {
  let rest = value;
  for (;;) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    const isLast = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40);
    out.u8(isLast ? low : low | 0x80);
    if (isLast) return;
  }
}

/** A signed number of 32 bits, without BigInt: the usual constant. */
export function signed32(out: ByteWriter, value: number): void {
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isLast = (rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40);
    out.u8(isLast ? low : low | 0x80);
    if (isLast) return;
  }
}

/** Reads an unsigned number below 2^32. */
export function readUnsigned(from: ByteReader): number {
  let value = 0;
  for (let scale = 1; ; scale *= 0x80) {
    const byte = from.u8();
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

/** Reads a signed number of up to 64 bits. */
export function readSigned(from: ByteReader): bigint {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = from.u8();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asIntN(Number(shift) + 7, value);
  }
}
