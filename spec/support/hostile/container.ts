/** Damage to fatbinaries and ELF files: of bytes, and of the compressed text of an image in headers that stay well formed. */
import { damagedBytes } from './bytes.ts';
import { below, damagedText, pick, type Random } from './ptx.ts';

const header = '.version 8.0\n.target sm_80\n.address_size 64\n';
const kernelOf = (body: string): string => `${header}.visible .entry k()\n{\n${body}\n}\n`;
const pieces = ['ret;', ';', 'a:', '{', '}', '.reg .b32 a;', '@p bra L;', 'x ', '/*', '"', '1,', '.global .b8 a[9];', '\0'];

/** A fatbinary of one PTX image. */
export function fatbinaryOf(payload: Uint8Array, { flags, size }: { readonly flags: number; readonly size: number }): Uint8Array {
  const padded = (payload.length + 7) & ~7;
  const bytes = new Uint8Array(16 + 64 + padded);
  const view = new DataView(bytes.buffer);
  const words: readonly (readonly [at: number, value: number])[] = [
    [0, 0xba55ed50],
    [4, 0x0010_0001],
    [8, 64 + padded],
    [16, 1],
    [20, 64],
    [24, padded],
    [32, payload.length],
    [44, 80],
    [56, flags],
    [72, size],
  ];
  for (const [at, value] of words) view.setUint32(at, value, true);
  bytes.set(payload, 80);
  return bytes;
}

/** The text of a piece repeated, compressed: little that unpacks to much. */
function bomb(next: Random): Uint8Array {
  const text = kernelOf(pick(next, pieces).repeat(below(next, 30_000)));
  const packed = new Uint8Array(Bun.zstdCompressSync(text, { level: 1 }));
  return fatbinaryOf(packed, { flags: 0x8011, size: next() < 0.8 ? text.length : below(next, 2 ** 32) });
}

/** A damaged text in a whole fatbinary, or damaged compressed bytes. */
function packedText(next: Random): Uint8Array {
  const text = damagedText(kernelOf('.reg .b32 %r<3>;\nadd.u32 %r1, %r2, 7;\nret;'), next);
  const packed = new Uint8Array(Bun.zstdCompressSync(text, { level: 1 + below(next, 19) }));
  return fatbinaryOf(next() < 0.5 ? packed : damagedBytes(packed, next), { flags: 0x8011, size: new TextEncoder().encode(text).length });
}

/** A damaged copy, or a file of our own. */
export function damagedContainer(bytes: Uint8Array, next: Random): Uint8Array {
  const kind = next();
  if (kind < 0.02) return bomb(next);
  return kind < 0.3 ? packedText(next) : damagedBytes(bytes, next);
}
