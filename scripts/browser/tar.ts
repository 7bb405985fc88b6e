/** Tar archives of files with short names. Source: POSIX.1-1988, `ustar`. */

export interface TarEntry {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const block = 512;
const upTo = (size: number): number => Math.ceil(size / block) * block;

/** An archive without times and owners, with its folders before their files, as the compiler's reader of archives wants it. */
export function tarOf(files: readonly TarEntry[]): Uint8Array {
  const folders = new Set(files.flatMap(({ path }) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))));
  const entries = [...[...folders].sort().map((path) => ({ path, bytes: undefined })), ...files];
  const all = new Uint8Array(entries.reduce((sum, { bytes }) => sum + block + upTo(bytes?.length ?? 0), 2 * block));
  let at = 0;
  for (const { path, bytes } of entries) {
    all.set(head(path, bytes), at);
    if (bytes) all.set(bytes, at + block);
    at += block + upTo(bytes?.length ?? 0);
  }
  return all;
}

function head(path: string, bytes: Uint8Array | undefined): Uint8Array {
  if (path.length > 100) throw new Error(`the name ${path} is too long for the archive`);
  const out = new Uint8Array(block);
  const put = (at: number, text: string): void => out.set(new TextEncoder().encode(text), at);
  put(0, path);
  put(100, bytes ? '0000644\0' : '0000755\0');
  put(108, '0000000\0');
  put(116, '0000000\0');
  put(124, `${(bytes?.length ?? 0).toString(8).padStart(11, '0')}\0`);
  put(136, '00000000000\0');
  put(148, '        ');
  put(156, bytes ? '0' : '5');
  put(257, 'ustar\x0000');
  const sum = out.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return out;
}

/** The files of an archive. */
export function untarred(archive: Uint8Array): TarEntry[] {
  const files: TarEntry[] = [];
  const text = (at: number, length: number): string => new TextDecoder().decode(archive.subarray(at, at + length)).replace(/\0.*$/s, '');
  for (let at = 0; at + block <= archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const prefix = text(at + 345, 155);
    const path = `${prefix === '' ? '' : `${prefix}/`}${text(at, 100)}`.replace(/^\.\//, '');
    const type = archive[at + 156]!;
    if (type === 0 || type === 0x30) files.push({ path, bytes: archive.slice(at + block, at + block + size) });
    at += block + upTo(size);
  }
  return files;
}
