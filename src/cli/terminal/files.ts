/** Files of the process: regular files alone, within a size. Devices, pipes and sockets have no end or have effects. */
import type { IoFailure } from '../../runtime/io.ts';

/** Loaded on demand: many commands read no file. */
export const files = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');

/** The largest file that is read: the largest buffer of the CPU device. */
export const maxFileBytes = 2 ** 31;

/** The kind of a file that is not regular. */
interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  readonly size: number;
}

/** Why a file is not read, from its status; undefined for a regular file within the size. */
function refusal(stats: Kinds): string | undefined {
  if (stats.isDirectory()) return 'it is a folder';
  if (stats.isFIFO()) return 'it is a pipe';
  if (stats.isSocket()) return 'it is a socket';
  if (!stats.isFile()) return 'it is a device, not a file';
  return stats.size > maxFileBytes ? tooLarge : undefined;
}

const tooLarge = `it has more than ${maxFileBytes} bytes`;

/**
 * The bytes of a file that a user names as the input: a regular file, a pipe as a shell makes it for `<(…)`, or `-`, standard input. Reading
 * waits: to do it in the background, Bun starts threads and collects garbage, which is a tenth of a short run.
 */
export const readInputFile = (path: string): Uint8Array | IoFailure =>
  path === '-' ? attempt(path, () => readAll(0)) : readPossiblePipe(path);

/** Reads a regular file, or waits for the writers of a pipe. */
function readPossiblePipe(path: string): Uint8Array | IoFailure {
  return attempt(path, () => {
    const { openSync, closeSync, fstatSync, statSync } = files();
    if (!statSync(path).isFIFO()) return readRegular(path);
    const descriptor = openSync(path, 'r');
    try {
      return fstatSync(descriptor).isFIFO() ? readAll(descriptor) : { why: 'it was replaced while it was opened' };
    } finally {
      closeSync(descriptor);
    }
  });
}

/** The bytes of a regular file. */
export const readFile = (path: string): Uint8Array | IoFailure => attempt(path, () => readRegular(path));

function readRegular(path: string): Uint8Array | IoFailure {
  const { openSync, closeSync, fstatSync, constants } = files();
  // Opening a pipe without a writer would wait for one.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const why = refusal(fstatSync(descriptor));
    return why === undefined ? readAll(descriptor) : { why };
  } finally {
    closeSync(descriptor);
  }
}

const chunkBytes = 1 << 16;

/** Reads to the end. The size of the status is not used: files of `/proc` have none. */
function readAll(descriptor: number): Uint8Array | IoFailure {
  const { readSync, fstatSync } = files();
  const expected = fstatSync(descriptor).size;
  let bytes = new Uint8Array(expected > 0 && expected <= maxFileBytes ? expected + 1 : chunkBytes);
  let length = 0;
  for (;;) {
    if (length === bytes.length) {
      const larger = new Uint8Array(Math.min(2 * length, maxFileBytes + 1));
      larger.set(bytes);
      bytes = larger;
    }
    const count = readSome(readSync, descriptor, bytes.subarray(length));
    if (count === 0) return bytes.subarray(0, length);
    length += count;
    if (length > maxFileBytes) return { why: tooLarge };
  }
}

/** Reads once; waits if standard input does not block. */
function readSome(readSync: (descriptor: number, bytes: Uint8Array) => number, descriptor: number, bytes: Uint8Array): number {
  for (;;) {
    try {
      return readSync(descriptor, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/** The absolute path without symbolic links, also of a file that does not exist; undefined if it cannot be resolved. */
export function realPath(path: string): string | undefined {
  return resolved(path, 0);
}

/** The maximum number of links that do not exist in a chain, as in the kernel. */
const maxLinks = 40;

function resolved(path: string, links: number): string | undefined {
  const { realpathSync, readlinkSync } = files();
  const { dirname, basename, join, resolve } = process.getBuiltinModule('node:path');
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || links > maxLinks) return undefined;
  }
  const folder = dirname(resolve(path));
  try {
    // A link to a file that does not exist: writing creates that file.
    return resolved(resolve(folder, readlinkSync(path)), links + 1);
  } catch {
    const real = folder === resolve(path) ? undefined : resolved(folder, links);
    return real === undefined ? undefined : join(real, basename(path));
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of the path is not a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
  ENXIO: 'it is a pipe or a socket, not a file',
  ELOOP: 'its symbolic links have no end',
  ENAMETOOLONG: 'the name is too long',
};

/** The result of a file operation, or why it failed. */
export function attempt<T>(path: string, action: () => T): T | IoFailure {
  try {
    return action();
  } catch (error) {
    return failureOf(path, error);
  }
}

/** Why a file operation failed. */
export function failureOf(path: string, error: unknown): IoFailure {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return { why: reasons[code] ?? `${code || String(error)} (${path})` };
}

/** The files in a folder and its subfolders, sorted; undefined if the path is not a readable folder. */
export function filesIn(folder: string): string[] | undefined {
  try {
    const found = files().readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return found.map((name) => `${folder.replace(/\/+$/, '')}/${name.replaceAll('\\', '/')}`).sort();
  } catch {
    return undefined;
  }
}

/** Whether a path is a file. */
export function exists(path: string): boolean {
  try {
    return files().statSync(path).isFile();
  } catch {
    return false;
  }
}
