/** The outside world as commands see it: two streams, files, the environment. Specs hand in one of their own. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Io, IoFailure } from '../runtime/io.ts';

export interface Terminal extends Io {
  /** Results, and nothing else. */
  out(text: string): void;
  /** A result that is not text. */
  outBytes(bytes: Uint8Array): void;
  /** Diagnostics and everything that is not a result. */
  err(text: string): void;
  /** Whether each stream takes colour. */
  readonly colour: { readonly out: boolean; readonly err: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The process's own streams and files; `-` reads standard input. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', leaveOnClosedPipe);
  return {
    out: (text) => void process.stdout.write(text),
    outBytes: (bytes) => void process.stdout.write(bytes),
    err: (text) => void process.stderr.write(text),
    colour: { out: wantsColour(process.stdout), err: wantsColour(process.stderr) },
    env: process.env,
    readFile: (path) => attempt(path, () => new Uint8Array(readFileSync(path === '-' ? 0 : path))),
    writeFile(path, bytes) {
      const result = attempt(path, () => writeFileSync(path, bytes));
      return result === undefined ? undefined : result;
    },
  };
}

/** `NO_COLOR` of any value but the empty one forbids colour. Source: no-color.org. */
const wantsColour = (stream: { isTTY?: boolean }): boolean => stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

/** A reader such as `head` that has seen enough is no fault. */
function leaveOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  throw error;
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of the path is not a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

function attempt<T>(path: string, action: () => T): T | IoFailure {
  try {
    return action();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    return { why: reasons[code] ?? `${code || String(error)} (${path})` };
  }
}

/** Whether a file is there. */
export function exists(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
