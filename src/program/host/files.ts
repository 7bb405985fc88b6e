/**
 * Folders of the machine for a program. A path never leads out of its folder: not by `..`, not by an absolute path, and not by a symbolic link,
 * whose target is looked up before anything is done.
 */
import * as fs from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { type Errno, errno } from '../wasi/errno.ts';
import type { Fault, Folder, OpenFile, OpenFlags, Status } from '../wasi/host.ts';

const numbers: Readonly<Record<string, Errno>> = {
  EACCES: errno.acces,
  EAGAIN: errno.again,
  EBADF: errno.badf,
  EBUSY: errno.busy,
  EEXIST: errno.exist,
  EFBIG: errno.fbig,
  EINVAL: errno.inval,
  EISDIR: errno.isdir,
  ELOOP: errno.loop,
  EMFILE: errno.mfile,
  ENAMETOOLONG: errno.nametoolong,
  ENOENT: errno.noent,
  ENOSPC: errno.nospc,
  ENOTDIR: errno.notdir,
  ENOTEMPTY: errno.notempty,
  EPERM: errno.perm,
  EPIPE: errno.pipe,
  EROFS: errno.rofs,
  ESPIPE: errno.spipe,
  EXDEV: errno.xdev,
};

/** The error number of an error of the file system. */
export const faultOf = (error: unknown): Fault => ({ errno: numbers[(error as NodeJS.ErrnoException).code ?? ''] ?? errno.io });

/** Runs a call of the file system; its error as an error number. */
function tried<T>(run: () => T): T | Fault {
  try {
    return run();
  } catch (error) {
    return faultOf(error);
  }
}

/** Runs a call that has no result. */
function done(run: () => void): Fault | undefined {
  const result = tried(run);
  return typeof result === 'object' && result !== null ? result : undefined;
}

const nowhere: Fault = { errno: errno.notcapable };

function typeOf(stats: fs.BigIntStats | fs.Dirent): Status['type'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  return stats.isCharacterDevice() ? 'characters' : 'other';
}

const statusOf = (stats: fs.BigIntStats): Status => ({
  type: typeOf(stats),
  size: stats.size,
  inode: stats.ino,
  device: stats.dev,
  links: stats.nlink,
  accessed: stats.atimeNs,
  modified: stats.mtimeNs,
  changed: stats.ctimeNs,
});

function fileOf(descriptor: number): OpenFile {
  return {
    read: (into, position) => tried(() => fs.readSync(descriptor, into, 0, into.length, position)),
    write: (bytes, position) => tried(() => fs.writeSync(descriptor, bytes, 0, bytes.length, position ?? null)),
    status: () => tried(() => statusOf(fs.fstatSync(descriptor, { bigint: true }))),
    resize: (bytes) => done(() => fs.ftruncateSync(descriptor, bytes)),
    flush: () => done(() => fs.fsyncSync(descriptor)),
    close: () => void tried(() => fs.closeSync(descriptor)),
  };
}

function numberOfFlags({ create, exclusive, truncate, append, read, write }: OpenFlags): number {
  const { constants: c } = fs;
  const access = write ? (read ? c.O_RDWR : c.O_WRONLY) : c.O_RDONLY;
  return access | (create ? c.O_CREAT : 0) | (exclusive ? c.O_EXCL : 0) | (truncate ? c.O_TRUNC : 0) | (append ? c.O_APPEND : 0);
}

/** A folder that also tells others of its kind where a path is. */
interface RealFolder extends Folder {
  place(path: string, follow: boolean): string | Fault;
}

/** Grants a folder of the machine; `root` is its absolute path. */
export function grantedFolder(name: string, root: string): Folder {
  const real = fs.realpathSync(root);
  const isInside = (path: string): boolean => path === real || path.startsWith(real.endsWith(sep) ? real : real + sep);

  /** The path on the machine; the last part itself, or what it links to. */
  function place(path: string, follow: boolean): string | Fault {
    if (path.includes('\0')) return { errno: errno.inval };
    const wanted = join(real, path);
    if (path.startsWith('/') || !isInside(wanted)) return nowhere;
    if (wanted === real) return real;
    const parent = tried(() => fs.realpathSync(dirname(wanted)));
    if (typeof parent !== 'string') return parent;
    if (!isInside(parent)) return nowhere;
    const last = join(parent, basename(wanted));
    if (!follow) return last;
    const target = tried(() => fs.realpathSync(last));
    if (typeof target === 'string') return isInside(target) ? target : nowhere;
    // What is not there is created where it is said, unless a link says elsewhere.
    const link = target.errno === errno.noent && tried(() => fs.readlinkSync(last));
    return target.errno === errno.noent && typeof link !== 'string' ? last : target;
  }

  /** Runs a call on the place of a path. */
  const at = <T>(path: string, follow: boolean, run: (place: string) => T): T | Fault => {
    const where = place(path, follow);
    return typeof where === 'string' ? tried(() => run(where)) : where;
  };
  const doneAt = (path: string, follow: boolean, run: (place: string) => void): Fault | undefined => {
    const where = place(path, follow);
    return typeof where === 'string' ? done(() => run(where)) : where;
  };

  const folder: RealFolder = {
    name,
    place,
    open: (path, flags) =>
      at(path, flags.follow && !flags.exclusive, (where) => {
        const stats = fs.statSync(where, { throwIfNoEntry: false });
        if (stats?.isDirectory()) return flags.write || flags.create ? { errno: errno.isdir } : 'folder';
        if (flags.folder) return { errno: stats ? errno.notdir : errno.noent };
        return fileOf(fs.openSync(where, numberOfFlags(flags) | fs.constants.O_NOFOLLOW, 0o666));
      }),
    status: (path, follow) => at(path, follow, (where) => statusOf(fs.lstatSync(where, { bigint: true }))),
    list: (path) =>
      at(path, true, (where) =>
        fs
          .readdirSync(where, { withFileTypes: true })
          .map((entry) => ({ name: entry.name, type: typeOf(entry), inode: fs.lstatSync(join(where, entry.name), { bigint: true }).ino })),
      ),
    makeFolder: (path) => doneAt(path, false, (where) => void fs.mkdirSync(where)),
    removeFolder: (path) => doneAt(path, false, (where) => fs.rmdirSync(where)),
    removeFile: (path) => doneAt(path, false, (where) => fs.unlinkSync(where)),
    rename(path, to, toPath) {
      const target = (to as RealFolder).place(toPath, false);
      return typeof target === 'string' ? doneAt(path, false, (where) => fs.renameSync(where, target)) : target;
    },
    readLink: (path) => at(path, false, (where) => fs.readlinkSync(where)),
    setTimes: (path, accessed, modified) =>
      doneAt(path, true, (where) => fs.utimesSync(where, Number(accessed) / 1e9, Number(modified) / 1e9)),
  };
  return folder;
}
