/**
 * Whether a folder can be trusted with the cache. An entry of the cache is run, so another user must not be able to put one there: the folder is
 * a real folder of this user that other users cannot enter.
 */
import type { Stats } from 'node:fs';

/** Loaded lazily, because loading `node:fs` takes a tenth of a short run. */
const fs = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');

const isOwn = (name: string): boolean => /^[0-9a-f]$/.test(name);

/** The bits of a mode by which others get in, and by which they write. */
const [otherBits, writeBits] = [0o077, 0o022];

/** Whether a file or folder belongs to a user, and other users may not write it. */
export function belongsToUser({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, user = process.geteuid?.()): boolean {
  return user === undefined || (uid === user && (mode & writeBits) === 0);
}

/**
 * Makes a folder private, if it exists, and returns why it cannot be trusted otherwise. A folder of this user with other files in it stays as
 * it is: its mode is not the cache's business. So does one that others could write to, unless it is empty: they may have put entries there.
 */
export function distrust(folder: string, user = process.geteuid?.()): string | undefined {
  // Windows has access lists instead, and keeps the folder below the user's own.
  if (user === undefined) return undefined;
  const { lstatSync, readdirSync, chmodSync } = fs();
  try {
    const stats = lstatSync(folder);
    if (stats.isSymbolicLink()) return 'it is a symbolic link';
    if (!stats.isDirectory()) return 'it is not a folder';
    if (stats.uid !== user) return 'it belongs to another user';
    if ((stats.mode & otherBits) === 0) return undefined;
    const names = readdirSync(folder);
    if (!names.every(isOwn)) return `other users can enter it (mode ${modeText(stats.mode)}), and it holds other files`;
    if ((stats.mode & writeBits) !== 0 && names.length > 0) return `other users can write to it (mode ${modeText(stats.mode)})`;
    chmodSync(folder, 0o700);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : `it cannot be read (${code})`;
  }
}

const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');
