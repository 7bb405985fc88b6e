/** Where the cache lies, and how large it may get: the platform's folder for such things, and what the environment says. */

/** What of the machine decides it. */
export interface CacheHost {
  /** As `process.platform`. */
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's folder. */
  readonly home: string;
}

export interface CachePlace {
  readonly folder: string;
  readonly maxBytes: number;
}

const defaultMaxBytes = 256 * 1024 * 1024;

/**
 * The place, or why there is none. `CUMETAL_CACHE_DISABLE` (anything but 0) turns the cache off, `CUMETAL_CACHE_PATH` is another folder,
 * `CUMETAL_CACHE_MAXSIZE` another size in bytes: as those of CUDA's own cache, which porters know.
 * Source: XDG Base Directory Specification 0.8; "File System Basics" of Apple's File System Programming Guide.
 */
export function cachePlace(host: CacheHost): CachePlace | { readonly why: string } {
  const { env } = host;
  if (env.CUMETAL_CACHE_DISABLE !== undefined && env.CUMETAL_CACHE_DISABLE !== '' && env.CUMETAL_CACHE_DISABLE !== '0')
    return { why: '`CUMETAL_CACHE_DISABLE` is set' };
  const size = env.CUMETAL_CACHE_MAXSIZE;
  if (size !== undefined && !/^\d{1,15}$/.test(size)) return { why: `\`CUMETAL_CACHE_MAXSIZE=${size}\` is no number of bytes` };
  const folder = env.CUMETAL_CACHE_PATH || usualFolder(host);
  if (folder === undefined) return { why: 'the user has no folder' };
  return { folder, maxBytes: size === undefined ? defaultMaxBytes : Number(size) };
}

function usualFolder({ platform, env, home }: CacheHost): string | undefined {
  if (platform === 'win32') return env.LOCALAPPDATA && `${env.LOCALAPPDATA}\\cumetal\\compiled`;
  if (home === '') return undefined;
  if (platform === 'darwin') return `${home}/Library/Caches/cumetal/compiled`;
  // The specification has relative paths ignored.
  const xdg = env.XDG_CACHE_HOME?.startsWith('/') ? env.XDG_CACHE_HOME : `${home}/.cache`;
  return `${xdg}/cumetal/compiled`;
}
