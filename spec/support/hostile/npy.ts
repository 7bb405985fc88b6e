/** Damage to `.npy` files: of their bytes, and of the words of their header. */
import { damagedBytes } from './bytes.ts';
import { below, pick, type Random } from './ptx.ts';

const words = [
  '<f4',
  '>f8',
  '|O',
  '<u99',
  '|S5',
  '[',
  '()',
  '(1,)',
  '(-1,)',
  '(9007199254740993,)',
  '(4294967296, 4294967296)',
  '(0,)',
  '(1e9,)',
  "'",
  '"',
  'True',
  'False',
  'descr',
  '{',
  '}',
  '\0',
  '\u00e9',
  `(${'1, '.repeat(3000)})`,
];

/** A damaged copy. */
export function damagedNpy(bytes: Uint8Array, next: Random): Uint8Array {
  if (next() < 0.4 || bytes.length < 12) return damagedBytes(bytes, next);
  const end = Math.min(bytes.length, 10 + new DataView(bytes.buffer, bytes.byteOffset).getUint16(8, true));
  const header = new TextDecoder('latin1').decode(bytes.subarray(10, end));
  const at = below(next, header.length + 1);
  const changed = header.slice(0, at) + pick(next, words) + header.slice(at + below(next, 12));
  const text = Uint8Array.from(changed, (char) => char.charCodeAt(0) & 0xff);
  const made = new Uint8Array(10 + text.length + bytes.length - end);
  made.set(bytes.subarray(0, 10));
  made.set(text, 10);
  made.set(bytes.subarray(end), 10 + text.length);
  // Mostly the length of the header is right, so that reading continues.
  if (next() < 0.8) new DataView(made.buffer).setUint16(8, text.length & 0xffff, true);
  return next() < 0.2 ? damagedBytes(made, next) : made;
}
