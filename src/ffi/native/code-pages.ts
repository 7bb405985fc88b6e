/** Machine code in pages of this process. Pages are written first, and then executable and never written again. */
import { type NativeSystem, nativeSystem } from './system.ts';

/** Code in memory. All threads of the process see it at the same address, so that a message may name it. */
export interface CodePages {
  /** The address of its first byte, a multiple of 4096. */
  readonly address: number;
  /** Frees the pages: nothing may run the code any more. They are freed as well when the object is collected. */
  release(): void;
}

const pageBytes = 4096;
/** Bits of `mmap` and `mprotect` on Linux. Source: mman(2), bits/mman-linux.h of glibc. */
const [canRead, canWrite, canExecute] = [1, 2, 4];
const [isPrivate, isAnonymous] = [0x02, 0x20];

interface Span {
  readonly system: NativeSystem;
  readonly address: number;
  readonly bytes: number;
}

const free = ({ system, address, bytes }: Span): void => void system.calls.munmap(address, bytes);

const unused = new FinalizationRegistry<Span>(free);

/** Places code in executable memory; undefined where the system has no functions for that, no memory, or forbids it. */
export function placeCode(code: Uint8Array): CodePages | undefined {
  const system = nativeSystem();
  if (!system) return undefined;
  const { calls } = system;
  const bytes = Math.max(1, Math.ceil(code.length / pageBytes)) * pageBytes;
  // The result of a failure is -1.
  const address = Number(calls.mmap(null, bytes, canRead | canWrite, isPrivate | isAnonymous, -1, 0));
  if (address <= 0) return undefined;
  const span = { system, address, bytes };
  if (code.length > 0) calls.memcpy(address, code, code.length);
  if (calls.mprotect(address, bytes, canRead | canExecute) !== 0) {
    free(span);
    return undefined;
  }
  let isReleased = false;
  const token = {};
  const pages: CodePages = {
    address,
    release() {
      if (isReleased) return;
      isReleased = true;
      unused.unregister(token);
      free(span);
    },
  };
  unused.register(pages, span, token);
  return pages;
}
