/** Reads the headers of `cuda/include`. A bundle contains their texts instead of this module (`scripts/embedded-headers.ts`). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The text of each header by its path below the folder. */
export function readHeaders(): Record<string, string> {
  const folder = join(import.meta.dirname, '../../cuda/include');
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      found[path.slice(folder.length + 1)] = readFileSync(path, 'utf8');
    }
  return found;
}
