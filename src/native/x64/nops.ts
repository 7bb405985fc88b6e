/**
 * Instructions that do nothing, of each number of bytes.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, NOP: table "Recommended Multi-Byte Sequence of NOP Instruction".
 */
import type { Code } from './code.ts';

const nops: readonly (readonly number[])[] = [
  [0x90],
  [0x66, 0x90],
  [0x0f, 0x1f, 0x00],
  [0x0f, 0x1f, 0x40, 0x00],
  [0x0f, 0x1f, 0x44, 0x00, 0x00],
  [0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
  [0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
  [0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
  [0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/** Writes so many bytes of instructions that do nothing, in as few instructions as possible. */
export function writeNops(code: Code, count: number): void {
  code.reserve(count);
  while (count > 0) {
    const nop = nops[Math.min(count, nops.length) - 1]!;
    for (const byte of nop) code.byte(byte);
    count -= nop.length;
  }
}
