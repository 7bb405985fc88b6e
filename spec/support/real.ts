/**
 * Metal libraries that others' compilers wrote, in the folder that CUMETAL_REAL_METALLIBS names. They are no part of the
 * project, so tests over them are registered only where the variable is set; elsewhere `needRealFiles` leaves one named skip.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { need } from './need.ts';

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

/** Registers the test that there are files, which stands for all over them where the variable is not set. */
export function needRealFiles<T>(test: Test<T>, name: string): void {
  need(test, ['real-metallibs'], name, () => assert.ok(realFiles().length > 0, 'no file in the folder is called `.metallib`'));
}
