/** A folder of a program that is in memory, since a page has no disk. */
import { type Errno, errno } from '../program/wasi/errno.ts';
import type { Fault, Folder, OpenFile, OpenFlags, Status } from '../program/wasi/host.ts';

interface FileNode {
  readonly type: 'file';
  readonly inode: bigint;
  bytes: Uint8Array;
  /** As many of the bytes as the file has. */
  size: number;
  modified: bigint;
  isChanged: boolean;
}
interface FolderNode {
  readonly type: 'folder';
  readonly inode: bigint;
  readonly entries: Map<string, Node>;
  modified: bigint;
}
type Node = FileNode | FolderNode;
/** A name in a folder, and what has it. */
interface Place {
  readonly entries: Map<string, Node>;
  readonly name: string;
  readonly node: Node | undefined;
}

/** Most bytes of a file. */
const most = 2 ** 31 - 1;
const fault = (name: keyof typeof errno): Fault => ({ errno: errno[name] as Errno });
const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

/** The files that a program has; several folders may name them. */
export class MemoryFiles {
  #inodes = 1n;
  readonly #root = this.#newFolder();

  /** Puts a file and the folders that it is in. */
  put(path: string, bytes: Uint8Array): void {
    const words = wordsOf(path) ?? [];
    let folder = this.#root;
    for (const word of words.slice(0, -1)) {
      const next = folder.entries.get(word) ?? this.#newFolder();
      folder.entries.set(word, next);
      if (next.type === 'file') return;
      folder = next;
    }
    folder.entries.set(words.at(-1)!, { ...this.#newFile(), bytes, size: bytes.length, isChanged: false });
  }

  /** Files that were made or changed since they were put, by path. */
  changed(): { readonly name: string; readonly bytes: Uint8Array }[] {
    const found: { name: string; bytes: Uint8Array }[] = [];
    const visit = ({ entries }: FolderNode, path: string): void => {
      for (const [name, node] of entries)
        if (node.type === 'folder') visit(node, `${path}${name}/`);
        else if (node.isChanged) found.push({ name: path + name, bytes: node.bytes.slice(0, node.size) });
    };
    visit(this.#root, '');
    return found;
  }

  #newFolder(): FolderNode {
    return { type: 'folder', inode: this.#inodes++, entries: new Map(), modified: now() };
  }

  #newFile(): FileNode {
    return { type: 'file', inode: this.#inodes++, bytes: new Uint8Array(0), size: 0, modified: now(), isChanged: true };
  }

  #find(path: string): Node | Fault {
    const words = wordsOf(path);
    if (!words) return fault('notcapable');
    let node: Node = this.#root;
    for (const word of words) {
      if (node.type === 'file') return fault('notdir');
      const next: Node | undefined = node.entries.get(word);
      if (!next) return fault('noent');
      node = next;
    }
    return node;
  }

  /** The folder that a path is in, and the last word of the path. */
  #place(path: string): Place | Fault {
    const words = wordsOf(path);
    const name = words?.at(-1);
    if (!words || name === undefined) return fault(words ? 'inval' : 'notcapable');
    const folder = this.#find(words.slice(0, -1).join('/'));
    if ('errno' in folder) return folder;
    return folder.type === 'folder' ? { entries: folder.entries, name, node: folder.entries.get(name) } : fault('notdir');
  }

  /** A folder of all files, by what the program calls it. */
  folder(name: string): Folder {
    return {
      name,
      open: (path, flags) => this.#open(path, flags),
      status: (path) => {
        const node = this.#find(path);
        return 'errno' in node ? node : statusOf(node);
      },
      list: (path) => {
        const node = this.#find(path);
        if ('errno' in node) return node;
        return node.type === 'folder' ? [...node.entries].map(([each, { type, inode }]) => ({ name: each, type, inode })) : fault('notdir');
      },
      makeFolder: (path) =>
        this.#at(path, ({ entries, name: last, node }) => (node ? fault('exist') : void entries.set(last, this.#newFolder()))),
      removeFolder: (path) =>
        this.#at(path, ({ entries, name: last, node }) => {
          if (node?.type !== 'folder') return fault(node ? 'notdir' : 'noent');
          return node.entries.size > 0 ? fault('notempty') : void entries.delete(last);
        }),
      removeFile: (path) =>
        this.#at(path, ({ entries, name: last, node }) =>
          node?.type === 'file' ? void entries.delete(last) : fault(node ? 'isdir' : 'noent'),
        ),
      rename: (from, _to, toPath) => this.#rename(from, toPath),
      readLink: () => fault('inval'),
      setTimes: (path, _accessed, modified) => {
        const node = this.#find(path);
        if ('errno' in node) return node;
        node.modified = modified;
        return undefined;
      },
    };
  }

  #at(path: string, run: (place: Place) => Fault | undefined): Fault | undefined {
    const place = this.#place(path);
    return 'errno' in place ? place : run(place);
  }

  #rename(from: string, to: string): Fault | undefined {
    return this.#at(from, ({ entries, name, node }) =>
      this.#at(to, (target) => {
        if (!node) return fault('noent');
        if (node.type === 'folder' && `${wordsOf(to)!.join('/')}/`.startsWith(`${wordsOf(from)!.join('/')}/`)) return fault('inval');
        if (target.node?.type === 'folder' && (node.type === 'file' || target.node.entries.size > 0))
          return fault(node.type === 'file' ? 'isdir' : 'notempty');
        if (target.node?.type === 'file' && node.type === 'folder') return fault('notdir');
        entries.delete(name);
        target.entries.set(target.name, node);
        return undefined;
      }),
    );
  }

  #open(path: string, flags: OpenFlags): OpenFile | 'folder' | Fault {
    const found = this.#find(path);
    if (!('errno' in found)) {
      if (flags.exclusive) return fault('exist');
      if (found.type === 'folder') return flags.write || flags.create ? fault('isdir') : 'folder';
      if (flags.folder) return fault('notdir');
      if (flags.truncate) resize(found, 0);
      return openFile(found);
    }
    if (found.errno !== errno.noent || !flags.create || flags.folder) return found;
    const place = this.#place(path);
    if ('errno' in place) return place;
    const file = this.#newFile();
    place.entries.set(place.name, file);
    return openFile(file);
  }
}

/** The words of a path without `.`; undefined if it leads out. */
function wordsOf(path: string): string[] | undefined {
  const words: string[] = [];
  for (const word of path.split('/'))
    if (word === '..') {
      if (words.pop() === undefined) return undefined;
    } else if (word !== '' && word !== '.') words.push(word);
  return words;
}

const statusOf = (node: Node): Status => ({
  type: node.type,
  size: BigInt(node.type === 'file' ? node.size : 0),
  inode: node.inode,
  device: 1n,
  links: 1n,
  accessed: node.modified,
  modified: node.modified,
  changed: node.modified,
});

/** Gives a file a size; what is new is zero. */
function resize(file: FileNode, size: number): Fault | undefined {
  if (size < 0 || size > most) return fault('fbig');
  if (size > file.bytes.length) {
    const more = new Uint8Array(Math.min(most, Math.max(size, 2 * file.bytes.length)));
    more.set(file.bytes.subarray(0, file.size));
    file.bytes = more;
  } else if (size < file.size) file.bytes.fill(0, size, file.size);
  file.size = size;
  file.isChanged = true;
  file.modified = now();
  return undefined;
}

const openFile = (file: FileNode): OpenFile => ({
  read(into, position) {
    const part = file.bytes.subarray(Math.min(position, file.size), Math.min(position + into.length, file.size));
    into.set(part);
    return part.length;
  },
  write(bytes, position = file.size) {
    // What was put belongs to the page.
    if (!file.isChanged) file.bytes = file.bytes.slice();
    const failure = resize(file, Math.max(file.size, position + bytes.length));
    if (failure) return failure;
    file.bytes.set(bytes, position);
    return bytes.length;
  },
  status: () => statusOf(file),
  resize(bytes) {
    if (!file.isChanged) file.bytes = file.bytes.slice();
    return resize(file, bytes);
  },
  flush: () => undefined,
  close: () => undefined,
});
