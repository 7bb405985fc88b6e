/**
 * A key-value store in a folder that any number of processes share. An entry is a checksum and then the bytes. It is written under a
 * temporary name and renamed, so that a reader never sees a partial entry, even if a writer dies. A damaged entry is removed when it is
 * read. Entries are spread over sixteen folders, and each folder has a sixteenth of the size limit. The least recently used entry is
 * evicted first, and a write scans one folder only. Only a private folder of the user is used, and links in it are not followed. Files and
 * folders in it that another user owns or may write are not read either.
 */
import type { Dirent, Stats } from 'node:fs';
import { areSameBytes } from '../base/bytes.ts';
import { isTemporary, writeFile } from '../files/index.ts';
import { belongsToUser, distrust } from './trust.ts';

export interface StoredEntry {
  readonly key: string;
  /** The size of the file. */
  readonly bytes: number;
  /** The time of the last write or read, to about an hour, in milliseconds since 1970. */
  readonly used: number;
}

export interface Store {
  /** The bytes of a key; undefined if there is no valid entry. */
  read(key: string): Uint8Array | undefined;
  /** Stores bytes under a key, a SHA-256 in hexadecimal. A failure is ignored. */
  write(key: string, bytes: Uint8Array): void;
  /** All entries, most recently used first. */
  list(): StoredEntry[];
  /** Removes all entries and returns them. */
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
/** Also the temporary files of earlier versions. */
const isPartial = (name: string): boolean => isTemporary(name) || name.startsWith('new-');

/** Loaded lazily, because loading `node:fs` takes a tenth of a short run. */
const fs = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');

/** Runs a file system operation. An error gives undefined, because the caller cannot be at fault. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Opens the store in a folder. The first write creates the folder. */
export function openStore({ folder, maxBytes, sha256, now = Date.now }: StoreOptions): Store {
  const shardOf = (key: string): string => `${folder}/${key[0]}`;
  const pathOf = (key: string): string => `${shardOf(key)}/${key}`;
  const limit = Math.floor(maxBytes / shards.length);

  const isTrusted = (): boolean => distrust(folder) === undefined;

  function read(key: string): Uint8Array | undefined {
    const path = pathOf(key);
    const found = isTrusted() && isOwnFolder(shardOf(key)) ? attempt(() => readRegular(path)) : undefined;
    if (!found) return undefined;
    const { file, stats } = found;
    const bytes = file.subarray(digestBytes);
    if (!belongsToUser(stats) || file.length < digestBytes || !areSameBytes(sha256(bytes), file.subarray(0, digestBytes))) {
      remove(path);
      return undefined;
    }
    if (stats.mtimeMs < now() - hour) attempt(() => fs().utimesSync(path, now() / 1000, now() / 1000));
    return bytes;
  }

  function write(key: string, bytes: Uint8Array): void {
    if (digestBytes + bytes.length > limit) return;
    const shard = shardOf(key);
    if (!isTrusted()) return;
    attempt(() => {
      fs().mkdirSync(shard, { recursive: true, mode: 0o700 });
      if (!isTrusted() || !isOwnFolder(shard)) return;
      const file = new Uint8Array(digestBytes + bytes.length);
      file.set(sha256(bytes));
      file.set(bytes, digestBytes);
      // A link would have the file at its end replaced, and a file is replaced with the permissions that it has.
      const old = fs().lstatSync(pathOf(key), { throwIfNoEntry: false });
      if (old && !(old.isFile() && belongsToUser(old))) remove(pathOf(key));
      writeFile(pathOf(key), file, { mode: 0o600 });
    });
    trim({ shard, limit, time: now() });
  }

  const all = (): FoundFile[] => (isTrusted() ? shards.flatMap((shard) => filesOf(`${folder}/${shard}`)) : []);
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

/** Whether a path is a folder of this user that other users may not write. */
function isOwnFolder(path: string): boolean {
  const stats = attempt(() => fs().lstatSync(path, { throwIfNoEntry: false }));
  return stats?.isDirectory() === true && belongsToUser(stats);
}

/** The bytes of a regular file, and what is known of it. A link is not followed, as another program may have put it there. */
function readRegular(path: string): { readonly file: Uint8Array; readonly stats: Stats } | undefined {
  const { openSync, closeSync, fstatSync, readFileSync, constants } = fs();
  // The flags do not exist on Windows. Opening a pipe without a writer would wait for one.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() ? { file: new Uint8Array(readFileSync(descriptor)), stats } : undefined;
  } finally {
    closeSync(descriptor);
  }
}

const remove = (path: string): void => void attempt(() => fs().unlinkSync(path));

interface Trim {
  readonly shard: string;
  readonly limit: number;
  readonly time: number;
}

/** Evicts entries until the folder is within its limit, and removes temporary files older than an hour, which dead writers left. */
function trim({ shard, limit, time }: Trim): void {
  const files = filesOf(shard);
  for (const { path, name, stats } of files) if (isPartial(name) && stats.mtimeMs < time - hour) remove(path);
  const entries = files.filter(({ name }) => isKey(name)).sort((a, b) => a.stats.mtimeMs - b.stats.mtimeMs);
  let size = entries.reduce((sum, { stats }) => sum + stats.size, 0);
  for (const { path, stats } of entries) {
    if (size <= limit) return;
    remove(path);
    size -= stats.size;
  }
}

interface FoundFile {
  readonly path: string;
  readonly name: string;
  readonly stats: Stats;
}

/** The files of a folder. Other processes may add and remove files meanwhile. */
function filesOf(folder: string): FoundFile[] {
  // A link to a folder elsewhere would have the files of that folder removed.
  const isFolder = attempt(() => fs().lstatSync(folder).isDirectory()) ?? false;
  const found = isFolder ? (attempt((): Dirent[] => fs().readdirSync(folder, { withFileTypes: true })) ?? []) : [];
  return found.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    const stats = entry.isFile() ? attempt(() => fs().statSync(path)) : undefined;
    return stats ? [{ path, name: entry.name, stats }] : [];
  });
}
