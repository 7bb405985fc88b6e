/**
 * Archives that stand for libraries: build systems look for `libcudart.a` and the like as files, and whoever links takes the library itself.
 * Source: the format of `ar`, as in POSIX.1-2008.
 */

const magic = '!<arch>\n';
const member = 'cumetal-library';
/** An archive of this kind is shorter. */
const maxBytes = 256;

/** An archive that stands for a library. */
export function stubOf(library: string): Uint8Array {
  const content = library.length % 2 === 0 ? library : `${library}\n`;
  const fields = [
    [`${member}/`, 16],
    ['0', 12],
    ['0', 6],
    ['0', 6],
    ['644', 8],
    [`${content.length}`, 10],
  ] as const;
  return new TextEncoder().encode(`${magic}${fields.map(([text, width]) => text.padEnd(width)).join('')}\`\n${content}`);
}

/** The library that an archive stands for; undefined for any other file. */
export function libraryOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > maxBytes) return undefined;
  const text = new TextDecoder('latin1').decode(bytes);
  return text.startsWith(`${magic}${member}/`) ? text.slice(magic.length + 60).trim() : undefined;
}
