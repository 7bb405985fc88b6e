/** The outside world as commands see it: two streams, files, the environment. Specs hand in one of their own. */
import { fstatSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
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
  return {
    out: (text) => writeAll(standard.out, new TextEncoder().encode(text)),
    outBytes: (bytes) => writeAll(standard.out, bytes),
    err: (text) => writeAll(standard.err, new TextEncoder().encode(text)),
    colour: { out: wantsColour(standard.out), err: wantsColour(standard.err) },
    env: process.env,
    readFile: (path) => attempt(path, () => new Uint8Array(readFileSync(path === '-' ? 0 : path))),
    writeFile(path, bytes) {
      const result = attempt(path, () => writeFileSync(path, bytes));
      return result === undefined ? undefined : result;
    },
  };
}

/** File descriptors. `process.stdout` would do, and costs a tenth of a short run to make. */
const standard = { out: 1, err: 2 } as const;

/** `NO_COLOR` of any value but the empty one forbids colour. Source: no-color.org. */
const wantsColour = (descriptor: number): boolean => isTerminal(descriptor) && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

/** A terminal is a character device; so is the null device, which does not mind colours. */
function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false;
  }
}

/** Writes every byte, waiting where the reader is slow. A reader such as `head` that has seen enough is no fault. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') process.exit();
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
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
