/** Linked programs of earlier runs: files with a name and a digest of what they were made of. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The newest program of that name in a folder, whatever it was made of. */
export function keptProgram(folder: string, name: string): string | undefined {
  const pattern = new RegExp(`^${name.replaceAll('/', '_').replace(/[.+]/g, String.raw`\$&`)}-[0-9a-f]{24}$`);
  const paths = (existsSync(folder) ? readdirSync(folder) : []).filter((file) => pattern.test(file)).map((file) => join(folder, file));
  return paths.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}
