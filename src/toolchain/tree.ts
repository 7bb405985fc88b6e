/** Files in memory, as the compiler sees them. */

/** A folder of files by their names. */
export interface Tree {
  [name: string]: Tree | Uint8Array;
}

/** Puts a file into a tree. A file that is there stays, and a folder is not put below a file. */
export function putFile(root: Tree, path: string, bytes: Uint8Array): void {
  const words = path.split('/').filter((word) => word !== '');
  const name = words.pop()!;
  let folder = root;
  for (const word of words) {
    const next = folder[word] ?? {};
    if (next instanceof Uint8Array) return;
    folder[word] = next;
    folder = next;
  }
  folder[name] ??= bytes;
}
