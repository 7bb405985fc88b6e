/** Reads tar archives. Source: POSIX.1-1988, `ustar`. */
import { putFile, type Tree } from '../toolchain/tree.ts';

const block = 512;
const isFile = (type: number): boolean => type === 0 || type === 0x30;

/** The files of an archive of files with short names, as `scripts/browser/program-page.ts` writes it. */
export function untar(bytes: Uint8Array): Tree {
  const root: Tree = {};
  const text = (at: number, length: number): string => new TextDecoder().decode(bytes.subarray(at, at + length)).replace(/\0.*$/s, '');
  for (let at = 0; at + block <= bytes.length && bytes[at] !== 0; ) {
    const prefix = text(at + 345, 155);
    const size = Number.parseInt(text(at + 124, 12), 8);
    const path = `${prefix === '' ? '' : `${prefix}/`}${text(at, 100)}`;
    if (isFile(bytes[at + 156]!)) putFile(root, path, bytes.subarray(at + block, at + block + size));
    at += block + Math.ceil(size / block) * block;
  }
  return root;
}
