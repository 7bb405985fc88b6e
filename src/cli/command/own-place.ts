/** Where this program is. In a single-file program, modules have no place of their own. */

/** Whether the program is a single file. */
export const isSingleFile = (): boolean => typeof Bun !== 'undefined' && /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN)/.test(Bun.main);

/** The folder of the built files or of the sources of the command line; that of the program, if it is a single file. */
export function ownFolder(): string {
  // Loading these takes a millisecond or two, and most commands do not ask.
  const [{ dirname }, { fileURLToPath }] = [process.getBuiltinModule('node:path'), process.getBuiltinModule('node:url')];
  return isSingleFile() ? dirname(process.execPath) : dirname(dirname(fileURLToPath(import.meta.url)));
}

/** The words behind the runtime that start this program again: its main file, which a single-file program has within. */
export const mainWords = (): readonly string[] => (isSingleFile() ? [] : [process.argv[1]!]);
