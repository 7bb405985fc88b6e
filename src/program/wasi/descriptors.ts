/** The descriptors of a program: its streams, the folders that it was granted, and what it has opened. */
import { type Errno, errno } from './errno.ts';
import type { Folder, OpenFile, OpenFlags, ProgramHost, Status } from './host.ts';
import { isFault } from './host.ts';

export interface StreamEntry {
  readonly kind: 'stream';
  readonly stream: 0 | 1 | 2;
}
export interface FolderEntry {
  readonly kind: 'folder';
  readonly folder: Folder;
  /** Below the granted folder; empty for itself. */
  readonly path: string;
  /** Whether the program had it from the start. */
  readonly isGranted: boolean;
}
export interface FileEntry {
  readonly kind: 'file';
  readonly file: OpenFile;
  position: number;
  append: boolean;
}
export type Entry = StreamEntry | FolderEntry | FileEntry;

/** Most descriptors of a program, as on Linux. */
const most = 1024;

export class Descriptors {
  readonly #entries: (Entry | undefined)[];

  constructor(host: ProgramHost) {
    const streams = ([0, 1, 2] as const).map((stream): Entry => ({ kind: 'stream', stream }));
    this.#entries = [...streams, ...host.folders.map((folder): Entry => ({ kind: 'folder', folder, path: '', isGranted: true }))];
  }

  get(fd: number): Entry | undefined {
    return this.#entries[fd];
  }

  file(fd: number): FileEntry | undefined {
    const entry = this.#entries[fd];
    return entry?.kind === 'file' ? entry : undefined;
  }

  folder(fd: number): FolderEntry | undefined {
    const entry = this.#entries[fd];
    return entry?.kind === 'folder' ? entry : undefined;
  }

  /** The lowest free number. */
  add(entry: Entry): number | undefined {
    const free = this.#entries.indexOf(undefined);
    const fd = free < 0 ? this.#entries.length : free;
    if (fd >= most) return undefined;
    this.#entries[fd] = entry;
    return fd;
  }

  close(fd: number): Errno {
    const entry = this.#entries[fd];
    if (!entry) return errno.badf;
    if (entry.kind === 'file') entry.file.close();
    this.#entries[fd] = undefined;
    return errno.success;
  }

  /** Gives a descriptor another number, which is closed first. */
  renumber(from: number, to: number): Errno {
    const entry = this.#entries[from];
    if (!entry || !this.#entries[to]) return errno.badf;
    if (from === to) return errno.success;
    this.close(to);
    this.#entries[to] = entry;
    this.#entries[from] = undefined;
    return errno.success;
  }

  closeAll(): void {
    for (const entry of this.#entries) if (entry?.kind === 'file') entry.file.close();
  }

  /** Opens a path below a folder. */
  open(folder: FolderEntry, path: string, flags: OpenFlags): number | { readonly errno: Errno } {
    const whole = joined(folder.path, path);
    const opened = folder.folder.open(whole, flags);
    if (isFault(opened)) return { errno: opened.errno };
    const entry: Entry =
      opened === 'folder'
        ? { kind: 'folder', folder: folder.folder, path: whole, isGranted: false }
        : { kind: 'file', file: opened, position: 0, append: flags.append };
    return this.add(entry) ?? { errno: errno.mfile };
  }
}

/** A path below a path. */
export const joined = (folder: string, path: string): string => (folder === '' ? path : `${folder}/${path}`);

/** WASI's numbers of what a descriptor is. */
export const fileTypes: Readonly<Record<Status['type'], number>> = { other: 0, characters: 2, folder: 3, file: 4, link: 7 };
