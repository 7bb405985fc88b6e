/** Writes a file under a temporary name in the same folder, and renames it. */

/** Loaded on demand: loading it takes a tenth of a short run. */
const fs = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');
const paths = (): typeof import('node:path') => process.getBuiltinModule('node:path');

export interface WriteOptions {
  /** The permissions of a new file; 0o666 without the bits of the umask by default. A file that exists keeps its own. */
  readonly mode?: number;
}

/** Temporary files of this process so far. */
let written = 0;

const temporaryName = (): string => `.cumetal-${process.pid}-${written++}.new`;

/** Whether a file of this name is a temporary one, which a killed process may have left. */
export const isTemporary = (name: string): boolean => /^\.cumetal-\d+-\d+\.new$/.test(name);

/**
 * Writes a file whole or not at all: an error leaves the old contents, or no file. A symbolic link stays and its file is replaced, permissions
 * are kept, and devices and pipes are written directly. Throws the error of the file system.
 */
export function writeFile(path: string, bytes: Uint8Array, { mode = 0o666 }: WriteOptions = {}): void {
  const { accessSync, constants, writeFileSync } = fs();
  const target = targetOf(path);
  const old = statOf(target);
  // There is nothing to replace in a device or a pipe, and for a folder this is the error.
  if (old && !old.isFile()) return writeFileSync(target, bytes);
  if (old) accessSync(target, constants.W_OK);
  const partial = paths().join(paths().dirname(target), temporaryName());
  try {
    writeFileSync(partial, bytes, { flag: 'wx', mode: old ? old.mode & 0o777 : mode });
    if (old) keepOwner(partial, old);
    fs().renameSync(partial, target);
  } catch (error) {
    remove(partial);
    if (!old || !isForbidden(error)) throw error;
    writeInPlace(target, bytes);
  }
}

/**
 * As `writeFile`, through an empty file that another process has made in the folder of `path`, and thereby shown that it may write there. No link is
 * followed, and a file that cannot be replaced is not overwritten. Throws the error of the file system, or says why it is not done.
 */
export function replaceBy(partial: string, path: string, bytes: Uint8Array): void {
  const { accessSync, constants, lstatSync, renameSync, writeFileSync } = fs();
  const [made, old] = [lstatSync(partial), lstatSync(path, { throwIfNoEntry: false })];
  const isNew = made.isFile() && made.size === 0 && made.nlink === 1 && made.uid === process.geteuid?.();
  if (!isNew || paths().dirname(partial) !== paths().dirname(path)) throw new Error(`${partial} is no new file beside ${path}`);
  if (old && !old.isFile()) throw new Error(`${path} is no file`);
  if (old) accessSync(path, constants.W_OK);
  writeFileSync(partial, bytes, { flag: 'r+' });
  if (old) keepOwner(partial, old);
  renameSync(partial, path);
}

/** Gives a file the permissions and, if this user may, the owner of the file that it replaces. */
function keepOwner(path: string, { mode, uid, gid }: import('node:fs').Stats): void {
  const { chmodSync, chownSync, statSync } = fs();
  const own = statSync(path);
  try {
    if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid);
  } catch {
    // Only the administrator gives files away; others own what they write.
  }
  // The umask has removed bits, and a change of the owner removes some as well.
  if (own.mode !== mode) chmodSync(path, mode & 0o7777);
}

/** Whether a folder takes no new file, or a mounted file cannot be replaced, although the file itself may be writable. */
const isForbidden = (error: unknown): boolean =>
  ['EACCES', 'EPERM', 'EBUSY', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Overwrites a file that cannot be replaced, and restores its contents after an error. */
function writeInPlace(path: string, bytes: Uint8Array): void {
  const { readFileSync, writeFileSync } = fs();
  const before = readFileSync(path);
  try {
    writeFileSync(path, bytes);
  } catch (error) {
    try {
      writeFileSync(path, before);
    } catch {
      // The first error is reported.
    }
    throw error;
  }
}

/**
 * The file at the end of symbolic links, which may not exist yet. A device, pipe or socket stays the path that leads to it: the links of Linux to open
 * files (`/dev/stdout`) name a pipe by a text that is no path. Source: proc(5), /proc/pid/fd.
 */
function targetOf(path: string): string {
  const { readlinkSync, realpathSync } = fs();
  const there = statOf(path);
  if (there && !there.isFile()) return path;
  let target = path;
  // Links that end nowhere have no real path. Linux follows 40.
  for (let links = 0; links < 40; links++) {
    try {
      return realpathSync(target);
    } catch {
      // Continues with one link at a time.
    }
    try {
      target = paths().resolve(paths().dirname(target), readlinkSync(target));
    } catch {
      return target;
    }
  }
  return target;
}

function statOf(path: string): import('node:fs').Stats | undefined {
  return fs().statSync(path, { throwIfNoEntry: false });
}

function remove(path: string): void {
  try {
    fs().unlinkSync(path);
  } catch {
    // It was not created.
  }
}

/** The error with which a write would fail as far as that can be known before, without changing anything; undefined if there is none. */
export function whyNotWritable(path: string): unknown {
  const { accessSync, constants } = fs();
  try {
    const target = targetOf(path);
    const old = statOf(target);
    if (old?.isDirectory()) return Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
    if (old) return void accessSync(target, constants.W_OK);
    const folder = paths().dirname(target);
    if (!fs().statSync(folder).isDirectory()) return Object.assign(new Error(`${folder} is not a folder`), { code: 'ENOTDIR' });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}
