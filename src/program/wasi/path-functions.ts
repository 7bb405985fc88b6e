/** Functions of paths below a folder. */
import { type FolderEntry, joined } from './descriptors.ts';
import { errno } from './errno.ts';
import { putStatus } from './file-functions.ts';
import { isFault } from './host.ts';
import type { WasiFunction, WasiState } from './state.ts';

/** Source: WASI preview 1, `oflags`, `fdflags`, `lookupflags`, `rights`. */
const openFlags = { create: 1, folder: 2, exclusive: 4, truncate: 8 } as const;
const rights = { read: 2n, write: 0x40n } as const;

/** The folder of a descriptor and the whole path, or an error. */
function placeOf(
  { descriptors, memory }: WasiState,
  fd: bigint,
  path: bigint,
  length: bigint,
): { entry: FolderEntry; path: string; whole: string } | { readonly errno: number } {
  const entry = descriptors.folder(Number(fd));
  if (!entry) return { errno: descriptors.get(Number(fd)) ? errno.notdir : errno.badf };
  const text = memory.text(path, Number(length));
  if (text === undefined) return { errno: errno.fault };
  return { entry, path: text, whole: joined(entry.path, text) };
}

type At = readonly [fd: bigint, path: bigint, length: bigint];

/** Runs a function on a path. */
function on(
  state: WasiState,
  at: At,
  run: (entry: FolderEntry, whole: string, path: string) => { readonly errno: number } | undefined,
): number {
  const place = placeOf(state, ...at);
  if ('errno' in place) return place.errno;
  return run(place.entry, place.whole, place.path)?.errno ?? errno.success;
}

export const pathFunctions: Readonly<Record<string, WasiFunction>> = {
  path_open: (state, ...[fd, lookup, path, length, flags, base, , fdFlags, to]) =>
    on(state, [fd!, path!, length!], (entry, _whole, text) => {
      const is = (flag: number): boolean => (Number(flags) & flag) !== 0;
      const opened = state.descriptors.open(entry, text, {
        create: is(openFlags.create),
        exclusive: is(openFlags.exclusive),
        truncate: is(openFlags.truncate),
        folder: is(openFlags.folder),
        append: (Number(fdFlags) & 1) !== 0,
        read: (base! & rights.read) !== 0n,
        write: (base! & rights.write) !== 0n,
        follow: (Number(lookup) & 1) !== 0,
      });
      if (typeof opened !== 'number') return opened;
      return state.memory.putU32(to!, opened) ? undefined : { errno: errno.fault };
    }),
  path_filestat_get: (state, ...[fd, lookup, path, length, to]) =>
    on(state, [fd!, path!, length!], ({ folder }, whole) => {
      const status = folder.status(whole, (Number(lookup) & 1) !== 0);
      return isFault(status) ? status : { errno: putStatus(state.memory, to!, status) };
    }),
  path_filestat_set_times: (state, ...[fd, , path, length, accessed, modified, flags]) =>
    on(state, [fd!, path!, length!], ({ folder }, whole) => {
      const before = folder.status(whole, true);
      if (isFault(before)) return before;
      const now = state.host.realTime();
      const choose = (given: bigint, old: bigint, set: number, setNow: number): bigint =>
        (Number(flags) & setNow) !== 0 ? now : (Number(flags) & set) !== 0 ? given : old;
      return folder.setTimes(whole, choose(accessed!, before.accessed, 1, 2), choose(modified!, before.modified, 4, 8));
    }),
  path_create_directory: (state, ...at) => on(state, at as unknown as At, ({ folder }, whole) => folder.makeFolder(whole)),
  path_remove_directory: (state, ...at) => on(state, at as unknown as At, ({ folder }, whole) => folder.removeFolder(whole)),
  path_unlink_file: (state, ...at) => on(state, at as unknown as At, ({ folder }, whole) => folder.removeFile(whole)),
  path_rename: (state, ...[fd, path, length, toFd, toPath, toLength]) =>
    on(state, [fd!, path!, length!], ({ folder }, whole) => {
      const to = placeOf(state, toFd!, toPath!, toLength!);
      return 'errno' in to ? to : folder.rename(whole, to.entry.folder, to.whole);
    }),
  path_readlink: (state, ...[fd, path, length, to, size, used]) =>
    on(state, [fd!, path!, length!], ({ folder }, whole) => {
      const link = folder.readLink(whole);
      if (isFault(link)) return link;
      const bytes = new TextEncoder().encode(link).subarray(0, Number(size));
      return state.memory.put(to!, bytes) && state.memory.putU64(used!, bytes.length) ? undefined : { errno: errno.fault };
    }),
};
