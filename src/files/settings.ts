/** The files of a user's settings, by the conventions of the platform and the environment. */

/** The facts about the host that determine the location. */
export interface SettingsHost {
  /** As `process.platform`. */
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Names the file of tuning tables; empty or `0`: there is none. */
export const tuningVariable = 'CUMETAL_TUNING';

/** This process; undefined in a page. */
function thisHost(): SettingsHost | undefined {
  const { process } = globalThis as { readonly process?: NodeJS.Process };
  return process?.getBuiltinModule?.('node:fs') && process;
}

/**
 * The file of tuning tables: what `CUMETAL_TUNING` names, otherwise one in the user's folder of settings. Undefined in a page, if the variable turns
 * it off, and for a user without a home directory.
 * Source: XDG Base Directory Specification 0.8; "File System Basics" of Apple's File System Programming Guide.
 */
export function tuningFile(host: SettingsHost | undefined = thisHost()): string | undefined {
  if (!host) return undefined;
  const { platform, env } = host;
  const named = env[tuningVariable];
  if (named !== undefined) return named === '' || named === '0' ? undefined : named;
  if (platform === 'win32') return env.APPDATA && `${env.APPDATA}\\cumetal\\tuning.json`;
  const home = env.HOME?.startsWith('/') ? env.HOME : undefined;
  if (platform === 'darwin') return home && `${home}/Library/Application Support/cumetal/tuning.json`;
  // The specification demands that relative paths are ignored.
  const folder = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : home && `${home}/.config`;
  return folder && `${folder}/cumetal/tuning.json`;
}

/** The text of a small file; undefined if there is none. Throws the error of the file system for one that cannot be read. */
export function readSettings(path: string): string | undefined {
  const { readFileSync, statSync } = process.getBuiltinModule('node:fs');
  const stats = statSync(path, { throwIfNoEntry: false });
  // A pipe has no end, and a large file is not one of ours.
  return stats?.isFile() && stats.size < 1 << 20 ? readFileSync(path, 'utf8') : undefined;
}

/** Makes the folder of a file, for this user alone. Throws the error of the file system. */
export function makeFolderOf(path: string): void {
  const [{ mkdirSync }, { dirname }] = [process.getBuiltinModule('node:fs'), process.getBuiltinModule('node:path')];
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
}
