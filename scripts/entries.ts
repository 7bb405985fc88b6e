/** The entries of the package: what `exports` of `package.json` names, and the source of each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** An entry: its built files, as `package.json` names them, and its source. Paths are relative to the package. */
export interface PackageEntry {
  /** As `.` or `./device`. */
  readonly name: string;
  readonly types: string;
  readonly browser: string;
  readonly built: string;
  readonly source: string;
}

/** In the order of `package.json`. */
export function packageEntries(): readonly PackageEntry[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries<Record<string, string>>(exports)
    .filter(([, paths]) => typeof paths === 'object')
    .map(([name, { types, browser, default: built }]) => ({
      name,
      types: types!,
      browser: browser!,
      built: built!,
      source: built!.replace('./dist/', 'src/').replace(/\.js$/, '.ts'),
    }));
}
