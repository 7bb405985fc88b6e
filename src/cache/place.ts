/** The folder and the size limit of the cache, from the platform's conventions and the environment. */

/** The facts about the host that determine the location. */
export interface CacheHost {
  /** As `process.platform`. */
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home directory. */
  readonly home: string;
}

export interface CachePlace {
  readonly folder: string;
  readonly maxBytes: number;
}

const defaultMaxBytes = 256 * 1024 * 1024;

/**
 * The location, or the reason why there is no cache. `CUMETAL_CACHE_DISABLE` (anything but 0) turns the cache off, `CUMETAL_CACHE_PATH`
 * sets the folder, and `CUMETAL_CACHE_MAXSIZE` the size limit in bytes. CUDA's own cache has variables of the same names.
 * Source: XDG Base Directory Specification 0.8; "File System Basics" of Apple's File System Programming Guide.
 */
export function cachePlace(host: CacheHost): CachePlace | { readonly why: string } {
  const { env } = host;
  if (env.CUMETAL_CACHE_DISABLE !== undefined && env.CUMETAL_CACHE_DISABLE !== '' && env.CUMETAL_CACHE_DISABLE !== '0')
    return { why: '`CUMETAL_CACHE_DISABLE` is set' };
  const size = env.CUMETAL_CACHE_MAXSIZE;
  if (size !== undefined && !/^\d{1,15}$/.test(size)) return { why: `\`CUMETAL_CACHE_MAXSIZE=${size}\` is not a number of bytes` };
  const folder = env.CUMETAL_CACHE_PATH || defaultFolder(host);
  if (folder === undefined) return { why: 'the user has no home directory' };
  return { folder, maxBytes: size === undefined ? defaultMaxBytes : Number(size) };
}

function defaultFolder({ platform, env, home }: CacheHost): string | undefined {
  if (platform === 'win32') return env.LOCALAPPDATA && `${env.LOCALAPPDATA}\\cumetal\\compiled`;
  if (home === '') return undefined;
  if (platform === 'darwin') return `${home}/Library/Caches/cumetal/compiled`;
  // The specification demands that relative paths are ignored.
  const xdg = env.XDG_CACHE_HOME?.startsWith('/') ? env.XDG_CACHE_HOME : `${home}/.cache`;
  return `${xdg}/cumetal/compiled`;
}
