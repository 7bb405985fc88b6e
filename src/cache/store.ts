/**
 * Bytes by key in a folder that any number of processes share. A file is its own checksum and then the bytes; it is written under another
 * name and renamed, so a reader sees all of it or nothing, whoever dies meanwhile. What is damaged is removed when it is read.
 * Files are spread over sixteen folders, each with a sixteenth of the room: what was used longest ago goes first, and a write looks at one
 * folder only.
 */
import type { Dirent, Stats } from 'node:fs';
import { areSameBytes } from '../base/bytes.ts';

export interface StoredEntry {
  readonly key: string;
  /** Of the file. */
  readonly bytes: number;
  /** When it was written or last read, to about an hour; milliseconds since 1970. */
  readonly used: number;
}

export interface Store {
  /** What was written under a key; nothing where there is none, or no sound one. */
  read(key: string): Uint8Array | undefined;
  /** Keeps bytes under a key, a SHA-256 in hexadecimal. Where that fails there is none. */
  write(key: string, bytes: Uint8Array): void;
  /** What is there, last used first. */
  list(): StoredEntry[];
  /** Removes everything; gives what was removed. */
  clear(): StoredEntry[];
}

export interface StoreOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const shards = [...'0123456789abcdef'];
const digestBytes = 32;
const hour = 3_600_000;
const isKey = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);
const isPartial = (name: string): boolean => name.startsWith('new-');

/** Loaded when it is needed, as the command line does: to load it is a tenth of a short run. */
const fs = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');

/** Calls something of the file system; what fails there is no fault of the caller, who gets nothing. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

let written = 0;

/** The store in a folder, which is made at the first write. */
export function openStore({ folder, maxBytes, sha256, now = Date.now }: StoreOptions): Store {
  const shardOf = (key: string): string => `${folder}/${key[0]}`;
  const pathOf = (key: string): string => `${shardOf(key)}/${key}`;
  const remove = (path: string): void => void attempt(() => fs().unlinkSync(path));
  const limit = Math.floor(maxBytes / shards.length);

  function read(key: string): Uint8Array | undefined {
    const path = pathOf(key);
    const file = attempt(() => new Uint8Array(fs().readFileSync(path)));
    if (!file) return undefined;
    const bytes = file.subarray(digestBytes);
    if (file.length < digestBytes || !areSameBytes(sha256(bytes), file.subarray(0, digestBytes))) {
      remove(path);
      return undefined;
    }
    const found = attempt(() => fs().statSync(path));
    if (found && found.mtimeMs < now() - hour) attempt(() => fs().utimesSync(path, now() / 1000, now() / 1000));
    return bytes;
  }

  function write(key: string, bytes: Uint8Array): void {
    if (digestBytes + bytes.length > limit) return;
    const shard = shardOf(key);
    const partial = `${shard}/new-${process.pid}-${written++}`;
    const isWritten = attempt(() => {
      fs().mkdirSync(shard, { recursive: true, mode: 0o700 });
      const file = new Uint8Array(digestBytes + bytes.length);
      file.set(sha256(bytes));
      file.set(bytes, digestBytes);
      fs().writeFileSync(partial, file, { flag: 'wx', mode: 0o600 });
      fs().renameSync(partial, pathOf(key));
      return true;
    });
    if (!isWritten) remove(partial);
    trim(shard);
  }

  /** Makes a folder no larger than it may be, and sweeps what writers left who died an hour ago. */
  function trim(shard: string): void {
    const files = filesOf(shard);
    for (const { path, name, stats } of files) if (isPartial(name) && stats.mtimeMs < now() - hour) remove(path);
    const entries = files.filter(({ name }) => isKey(name)).sort((a, b) => a.stats.mtimeMs - b.stats.mtimeMs);
    let size = entries.reduce((sum, { stats }) => sum + stats.size, 0);
    for (const { path, stats } of entries) {
      if (size <= limit) return;
      remove(path);
      size -= stats.size;
    }
  }

  const all = (): FoundFile[] => shards.flatMap((shard) => filesOf(`${folder}/${shard}`));
  const entriesOf = (files: readonly FoundFile[]): StoredEntry[] =>
    files
      .filter(({ name }) => isKey(name))
      .map(({ name, stats }) => ({ key: name, bytes: stats.size, used: stats.mtimeMs }))
      .sort((a, b) => b.used - a.used || (a.key < b.key ? -1 : 1));

  return {
    read,
    write,
    list: () => entriesOf(all()),
    clear() {
      const files = all();
      for (const { path, name } of files) if (isKey(name) || isPartial(name)) remove(path);
      return entriesOf(files);
    },
  };
}

interface FoundFile {
  readonly path: string;
  readonly name: string;
  readonly stats: Stats;
}

/** The files of a folder, as far as they can be seen: others may come and go meanwhile. */
function filesOf(folder: string): FoundFile[] {
  const found = attempt((): Dirent[] => fs().readdirSync(folder, { withFileTypes: true })) ?? [];
  return found.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    const stats = entry.isFile() ? attempt(() => fs().statSync(path)) : undefined;
    return stats ? [{ path, name: entry.name, stats }] : [];
  });
}
