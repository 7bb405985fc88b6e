/**
 * What foreign code writes to the standard output and error of the process, caught: the CUDA driver hands what kernels print to C's
 * own streams, and to nobody else.
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

/** A catch that is under way. */
export interface Capture {
  /** Lets the streams go where they went before, and gives what came meanwhile. Once. */
  end(): { readonly out: Uint8Array; readonly err: Uint8Array };
}

let known: Libc | undefined | 'none';

function openLibc(): Libc | undefined {
  if (known === undefined) {
    try {
      known = (bunFfi()!.dlopen('libc.so.6', libc as never) as { symbols: unknown }).symbols as Libc;
    } catch {
      known = 'none';
    }
  }
  return known === 'none' ? undefined : known;
}

/** Standard output and error. */
const descriptors = [1, 2] as const;

/** Begins to catch both streams; nothing where the system has no way to. */
export function captureOutput(): Capture | undefined {
  const c = openLibc();
  if (!c) return undefined;
  c.fflush(null);
  const caught = descriptors.map((to) => redirect(c, to));
  return {
    end() {
      c.fflush(null);
      const [out, err] = caught.map((one) => (one ? restore(c, one) : new Uint8Array(0)));
      return { out: out!, err: err! };
    },
  };
}

interface Redirected {
  readonly to: number;
  /** Where the stream went before. */
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
