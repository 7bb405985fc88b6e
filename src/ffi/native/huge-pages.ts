/**
 * Memory in huge pages. Kernels go over rows that are each in a page of their own, and a processor knows the places of few pages at once. Most systems
 * give huge pages to those who ask (`madvise` in /sys/kernel/mm/transparent_hugepage/enabled).
 */
import { nativeSystem } from './system.ts';

const hugeBytes = 2 ** 21;
/** Advice of `madvise` on Linux; the latter from 6.1 on. Source: madvise(2). */
const [useHugePages, collapse] = [14, 25];
/** Bytes up to which memory that is in use already is copied into huge pages, at about 1 GB/s. */
const maxCopiedBytes = 2 ** 26;

/** Asks for huge pages for memory from an address on. Without them everything is the same, but slower. */
export function adviseHugePages(address: number, bytes: number): void {
  const from = Math.ceil(address / hugeBytes) * hugeBytes;
  const size = Math.floor((address + bytes - from) / hugeBytes) * hugeBytes;
  const system = size > 0 ? nativeSystem() : undefined;
  if (system?.calls.madvise(from, size, useHugePages) !== 0) return;
  if (size <= maxCopiedBytes) system.calls.madvise(from, size, collapse);
}
