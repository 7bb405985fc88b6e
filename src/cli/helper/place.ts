/**
 * Where the helper listens: a socket in a private folder beside the compile cache, named after the build of this program and of Bun. Whoever may
 * connect there may have files compiled, and whoever may listen there gives answers, so that the folder is one that other users cannot enter.
 */
import { cachePlace } from '../../cache/place.ts';
import { distrust } from '../../cache/trust.ts';
import { buildId } from '../command/build-id.ts';
import { socketName } from '../startup/socket-name.ts';

/** What decides about the place. */
export interface HelperHost {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface HelperPlace {
  readonly folder: string;
  readonly socket: string;
}

/** The longest path of a socket that all systems take. Source: `sockaddr_un` of macOS, 104 bytes with the end. */
const maxPathBytes = 103;

/** The socket of the helper for this program, or why there is none. Looks at folders and changes nothing. */
export function helperPlace({ platform, env }: HelperHost): HelperPlace | { readonly why: string } {
  if (typeof Bun === 'undefined' || buildId === undefined) return { why: 'only built files have a helper, under Bun' };
  if (platform === 'win32' || process.getuid?.() !== process.geteuid?.()) return { why: 'this process is not that of one user' };
  // A user without a cache has a helper too: it keeps nothing.
  const { CUMETAL_CACHE_DISABLE: _, ...others } = env;
  const cache = cachePlace({ platform, env: others, home: env.HOME?.startsWith('/') ? env.HOME : '' });
  if ('why' in cache) return cache;
  if (!cache.folder.startsWith('/')) return { why: 'the folder of the cache is a relative path' };
  const folder = `${cache.folder}/helper`;
  const socket = `${folder}/${socketName(buildId)}`;
  if (Buffer.byteLength(socket) > maxPathBytes) return { why: `the path of its socket is too long: ${socket}` };
  const why = distrust(cache.folder) ?? distrust(folder);
  return why === undefined ? { folder, socket } : { why: `the folder \`${folder}\` is not trusted: ${why}` };
}

/** The folder of the pipes by which `bin/cumetal` asks, beside the socket. */
export const pipesFolder = (socket: string): string => `${socket}.pipes`;

/** Whether a path is a socket of this user that others cannot connect to; the folder keeps them away as well. */
export function isOwnSocket(path: string): boolean {
  const stats = process.getBuiltinModule('node:fs').lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSocket() === true && stats.uid === process.geteuid?.() && (stats.mode & 0o077) === 0;
}
