/**
 * Captures what foreign code writes to the standard output and error of the process. The CUDA driver writes the output of kernels to C's
 * own streams only.
 */
import { bunFfi } from '../bun.ts';
import { cText, type Functions, type Pointer } from '../types.ts';

const libc = {
  dup: { args: ['i32'], returns: 'i32' },
  dup2: { args: ['i32', 'i32'], returns: 'i32' },
  close: { args: ['i32'], returns: 'i32' },
  fflush: { args: ['ptr'], returns: 'i32' },
  memfd_create: { args: ['ptr', 'u32'], returns: 'i32' },
  lseek: { args: ['i32', 'i64', 'i32'], returns: 'i64' },
  read: { args: ['i32', 'ptr', 'u64'], returns: 'i64' },
} as const;

type Libc = Functions<typeof libc>;

/** A capture in progress. */
export interface Capture {
  /** Restores both streams and returns the captured bytes. Call it once. */
  end(): { readonly out: Uint8Array; readonly err: Uint8Array };
}

let libcCache: Libc | undefined | 'none';

function openLibc(): Libc | undefined {
  if (libcCache === undefined) {
    try {
      libcCache = (bunFfi()!.dlopen('libc.so.6', libc as never) as { symbols: unknown }).symbols as Libc;
    } catch {
      libcCache = 'none';
    }
  }
  return libcCache === 'none' ? undefined : libcCache;
}

/** Standard output and error. */
const descriptors = [1, 2] as const;

/** Starts to capture both streams; undefined if the system has no way to do so. */
export function captureOutput(): Capture | undefined {
  const c = openLibc();
  if (!c) return undefined;
  c.fflush(null);
  const redirections = descriptors.map((to) => redirect(c, to));
  return {
    end() {
      c.fflush(null);
      const [out, err] = redirections.map((one) => (one ? restore(c, one) : new Uint8Array(0)));
      return { out: out!, err: err! };
    },
  };
}

interface Redirected {
  readonly to: number;
  /** A duplicate of the original descriptor. */
  readonly before: number;
  /** A file in memory. */
  readonly file: number;
}

function redirect(c: Libc, to: number): Redirected | undefined {
  const file = c.memfd_create(cText('cumetal'), 0);
  const before = c.dup(to);
  if (file >= 0 && before >= 0 && c.dup2(file, to) >= 0) return { to, before, file };
  for (const each of [file, before]) if (each >= 0) c.close(each);
  return undefined;
}

function restore(c: Libc, { to, before, file }: Redirected): Uint8Array {
  c.dup2(before, to);
  c.close(before);
  const size = Number(c.lseek(file, 0, 2));
  c.lseek(file, 0, 0);
  const bytes = new Uint8Array(Math.max(0, size));
  let at = 0;
  while (at < bytes.length) {
    const taken = Number(c.read(file, bytes.subarray(at) as Pointer, bytes.length - at));
    if (taken <= 0) break;
    at += taken;
  }
  c.close(file);
  return bytes.subarray(0, at);
}
