/**
 * Metal libraries that others' compilers wrote, in the folder that CUMETAL_REAL_METALLIBS names. They are no part of the
 * project, so tests over them are registered only where the variable is set.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RealFile {
  /** The name of the file, for messages. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The files in the order of their names; none where the variable is not set. */
export function realFiles(): readonly RealFile[] {
  const folder = process.env.CUMETAL_REAL_METALLIBS;
  if (!folder) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.metallib'));
  return names.sort().map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(folder, name))) }));
}
