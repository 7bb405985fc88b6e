/** What the headers' recording and its spec share. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Device } from '../../src/api/index.ts';

export const includeFolder = join(import.meta.dirname, '../../cuda/include');
export const headerFixtures = join(import.meta.dirname, '../../fixtures/cuda/headers');

/** Fixtures that nvcc compiles as well: words that each thread of its kernels writes. */
export const wordsPerThread: Readonly<Record<string, number>> = {
  intrinsics: 64,
  halves: 64,
  formats: 64,
  matrices: 64,
  sequences: 64,
  distributions: 64,
  groups: 8,
};
const threads = 64;

/** The headers by their names below the folder, sorted. */
export function headerNames(): readonly string[] {
  return readdirSync(includeFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(includeFolder, join(entry.parentPath, entry.name)))
    .sort();
}

/** A hash of all headers. */
export function headersHash(): string {
  const hash = createHash('sha256');
  for (const name of headerNames()) hash.update(`${name}\0`).update(readFileSync(join(includeFolder, name)));
  return hash.digest('hex');
}

/** Words of all kinds: any, small, and those that are edges of integers and floats. */
export function headerInput(): Uint32Array<ArrayBuffer> {
  let state = 12345;
  const random = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const edges = [0, 1, 2, 0xffffffff, 0x80000000, 0x7fffffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x80000001, 0x3f800000, 0xbf800000];
  const floats = [0x3f000000, 0x4b000000, 0x40200000, 0x8000, 0x7c00, 0x3c00, 0xff, 0x80, 0x477fefff, 0x38d1b717];
  const all = [...edges, ...floats];
  return Uint32Array.from({ length: 256 }, () => {
    if (random() % 3 === 0) return all[random() % all.length]!;
    if (random() % 2) return random();
    return random() % 3 ? random() & 0xffff : 0x3f000000 + (random() & 0x3ffffff);
  });
}

/** For each kernel of a module the digest (FNV-1a) of each word over all threads. */
export async function headerDigests(ptx: string, words: number): Promise<Record<string, string[]>> {
  const device = await Device.open('cpu');
  try {
    // Barriers for some of the threads are only in this target.
    const options = /\bbarrier\.sync\s+%/.test(ptx) ? ({ compile: { target: 'cpu' } } as const) : undefined;
    const module = await device.load(ptx, options);
    const digests: Record<string, string[]> = {};
    for (const [, name] of ptx.matchAll(/\.entry (\w+)\(/g)) {
      const input = device.allocate('u32', 256);
      input.write(headerInput());
      const output = device.allocate('u32', threads * words);
      output.write(new Uint32Array(threads * words));
      // Groups are of one block; the others use two.
      const [grid, block] = words === 8 ? [1, threads] : [2, threads / 2];
      await module.kernel(name!).launch({ grid, block, args: [input, output] });
      const found = await output.read();
      digests[name!] = Array.from({ length: words }, (_, word) => {
        let hash = 0x811c9dc5;
        for (let thread = 0; thread < threads; thread++) hash = Math.imul(hash ^ found[thread * words + word]!, 0x01000193);
        return (hash >>> 0).toString(16).padStart(8, '0');
      });
      input.free();
      output.free();
    }
    return digests;
  } finally {
    await device.close();
  }
}
