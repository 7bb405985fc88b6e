/** Files in memory, as the compiler sees them. */

/** A folder of files by their names. */
export interface Tree {
  [name: string]: Tree | Uint8Array;
}

const wordsOf = (path: string): string[] => path.split('/').filter((word) => word !== '');

/** The folder of these names, made where it is not there; none below a file. */
function folderOf(root: Tree, words: readonly string[]): Tree | undefined {
  let folder = root;
  for (const word of words) {
    const next = folder[word] ?? {};
    if (next instanceof Uint8Array) return undefined;
    folder[word] = next;
    folder = next;
  }
  return folder;
}

/** Puts a file into a tree. A file that is there stays, and a folder is not put below a file. */
export function putFile(root: Tree, path: string, bytes: Uint8Array): void {
  const words = wordsOf(path);
  const name = words.pop()!;
  const folder = folderOf(root, words);
  if (folder) folder[name] ??= bytes;
}

/** Puts a folder into a tree, which may have no files: `folder/..` is a path only if there is `folder`. */
export const putFolder = (root: Tree, path: string): void => void folderOf(root, wordsOf(path));
