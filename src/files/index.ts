/**
 * Files of this program's users: `settings.ts` says where the user's settings are. Files that are written whole or not at all. `write-file.ts` replaces a file in one step, so that an error, a full disk or a killed process
 * leaves the old file or the new one, and never a part. The command line, the cache and the shim of the Metal device write with it.
 */
export { makeFolderOf, readSettings, type SettingsHost, tuningFile, tuningVariable } from './settings.ts';
export { isTemporary, replaceBy, type WriteOptions, whyNotWritable, writeFile } from './write-file.ts';
