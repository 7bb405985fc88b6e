/** Has the garbage collector of V8 release memory that is shared with workers. */

/** Bytes of unused memory that are worth a collection. */
const worthBytes = 2 ** 26;
/** Pages of a memory that V8 collects for at once: it permits some 128 MiB since the last collection. */
const urgentPages = 2 ** 12;

let unusedBytes = 0;

/**
 * Records that this thread has dropped shared memory of some bytes. V8 does not count shared memory when it decides about a collection, so that
 * a program which opens devices one after the other would hold the memory of all of them. A memory of one thread is counted. This one is never
 * accessed, so that it takes addresses only; engines write zeros into a new `ArrayBuffer` of that size.
 */
export function noteUnused(bytes: number): void {
  unusedBytes += bytes;
  if (unusedBytes < worthBytes) return;
  unusedBytes = 0;
  try {
    new WebAssembly.Memory({ initial: urgentPages });
  } catch {
    // V8 collects before it refuses.
  }
}
