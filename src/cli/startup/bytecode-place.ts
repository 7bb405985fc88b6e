/** Where the bytecode of the built program is: beside it, because whoever can write there can change the program anyway. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bytecodeName } from './bytecode-name.ts';

/** The files that start the program, in the folder of the built files and in that of their bytecode. */
export const programFiles = ['cli/program.js', 'cli/start-fast.js', 'cli/start-helped.js'] as const;

/** The folder of the bytecode for the running Bun. */
export const bytecodeFolder = (dist: string): string => join(dist, 'bytecode', bytecodeName());

/** A file for `bin/cumetal`, which knows none of it: the name of the folder that was made last, the path of the Bun that made it, and the helper's socket. */
export const currentFile = (dist: string): string => join(dist, 'bytecode', 'current');

/** The program with bytecode for this Bun; undefined before it is made, and where `CUMETAL_BYTECODE=0` turns it off. */
export function bytecodeProgram(dist: string): string | undefined {
  if (process.env.CUMETAL_BYTECODE === '0') return undefined;
  const program = join(bytecodeFolder(dist), programFiles[0]);
  return existsSync(program) ? program : undefined;
}

/** The folder in which it is made, so that the other one is whole or absent. While it is there, no other process makes it. */
export const makingFolder = (dist: string): string => `${bytecodeFolder(dist)}.new`;

/** Milliseconds after which that folder is left over: of a process that was ended, or of a copy that was taken meanwhile. */
const leftMs = 600_000;

/** Whether that folder is left over; undefined if there is none. */
export function isLeft(dist: string): boolean | undefined {
  try {
    return Math.abs(Date.now() - statSync(makingFolder(dist)).mtimeMs) > leftMs;
  } catch {
    return undefined;
  }
}

/** Whether bytecode can and should be made: it is not turned off, no process makes it, and the user may write into the package's folder. */
export function wantsBytecode(dist: string): boolean {
  if (process.env.CUMETAL_BYTECODE === '0' || isLeft(dist) === false) return false;
  try {
    accessSync(dist, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
