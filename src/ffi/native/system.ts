/** The functions of the C library that place machine code and advise the system of memory, for Linux on x86-64 under Bun. */
import { bunFfi, type Ffi } from '../bun.ts';
import type { Functions, FunctionTable } from '../types.ts';

const systemTypes = {
  mmap: { args: ['ptr', 'u64', 'i32', 'i32', 'i32', 'i64'], returns: 'i64' },
  mprotect: { args: ['u64', 'u64', 'i32'], returns: 'i32' },
  munmap: { args: ['u64', 'u64'], returns: 'i32' },
  madvise: { args: ['u64', 'u64', 'i32'], returns: 'i32' },
  memcpy: { args: ['u64', 'ptr', 'u64'], returns: 'ptr' },
} as const satisfies FunctionTable;

export interface NativeSystem {
  readonly ffi: Ffi;
  readonly calls: Functions<typeof systemTypes>;
}

let opened: NativeSystem | undefined;
let isTried = false;

/** The functions; undefined on another platform, under another runtime, and where the library cannot be opened. */
export function nativeSystem(): NativeSystem | undefined {
  if (!isTried) opened = openSystem();
  isTried = true;
  return opened;
}

function openSystem(): NativeSystem | undefined {
  const { process } = globalThis as { readonly process?: NodeJS.Process };
  if (process?.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const ffi = bunFfi();
  if (!ffi) return undefined;
  try {
    const { symbols } = ffi.dlopen('libc.so.6', systemTypes as never) as { symbols: unknown };
    return { ffi, calls: symbols as NativeSystem['calls'] };
  } catch {
    return undefined;
  }
}
