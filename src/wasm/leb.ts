/** Variable-length integers. Source: WebAssembly Core Specification 2.0, 5.2.2 (LEB128). */
import type { ByteWriter } from '../base/bytes.ts';

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
