/** Rules of the container that the reader does not need; each violation is a CM4010. */
import { areSameBytes } from '../base/bytes.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { sha256 } from '../base/sha256.ts';
import { type ByteRange, type ReadLibrary, readMetallib } from './read.ts';
import { wrapBitcode, writeMetallib } from './write.ts';

/** Checks hashes, padding, adjacency of sections, and that the parts represent the whole file. Returns whether the file is valid. */
export function validateMetallib(bytes: Uint8Array, diagnostics: Diagnostics): boolean {
  const before = diagnostics.list.length;
  const library = readMetallib(bytes, diagnostics);
  if (!library) return false;
  const report = (rule: string, why: string): void => diagnostics.report('CM4010', { rule, why });
  for (const fn of library.functions) {
    const blob = fn.blob ?? wrapBitcode(fn.bitcode);
    if (fn.bitcode.length % 4 !== 0)
      report('bitcode-words', `the bitcode of \`${fn.name}\` has ${fn.bitcode.length} bytes, which is not a multiple of 4`);
    if (!(fn.hash && areSameBytes(sha256(blob), fn.hash)))
      report('hash', `HASH of \`${fn.name}\` is not the SHA-256 of its padded bitcode`);
    if (!areSameBytes(blob, wrapBitcode(fn.bitcode)))
      report('wrapper', `\`${fn.name}\` is not wrapped in 20 bytes and padded with the fewest zeros to 16`);
  }
  const names = library.functions.map((fn) => fn.name);
  for (const name of names.filter((each, i) => names.indexOf(each) < i)) report('unique-names', `two functions are named \`${name}\``);
  let end = 0;
  for (const range of library.ranges) {
    if (range.offset !== end)
      report('adjacency', `the ${range.name} starts at byte ${range.offset}, but the previous range ends at ${end}`);
    end = range.offset + range.size;
  }
  if (end !== bytes.length) report('adjacency', `${bytes.length - end} bytes follow the last section`);
  if (diagnostics.list.length === before) checkRepack(bytes, library, report);
  return diagnostics.list.length === before;
}

/** A general check: the parts, written back, must give the same bytes. */
function checkRepack(bytes: Uint8Array, library: ReadLibrary, report: (rule: string, why: string) => void): void {
  const rewritten = writeMetallib(library);
  if (areSameBytes(rewritten, bytes)) return;
  const at = bytes.findIndex((byte, i) => byte !== rewritten[i]);
  const where = rangeAt(library.ranges, at);
  report('usual-form', `byte ${at}${where ? `, in the ${where}` : ''}, is not as the parts of the library say`);
}

/** The name of the smallest range that holds an offset. */
function rangeAt(ranges: readonly ByteRange[], at: number): string | undefined {
  const range = ranges.find(({ offset, size }) => at >= offset && at < offset + size);
  return range && (rangeAt(range.parts ?? [], at) ?? range.name);
}
