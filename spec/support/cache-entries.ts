/** The entries of a compile cache in a folder, as specs look at them. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/cache/index.ts';
import { hostHash } from '../../src/cli/command/host-hash.ts';

export interface CacheEntries {
  /** The keys of all entries, in order. */
  keys(): string[];
  /** The keys of entries that something reads or writes, in order. */
  usedBy(act: () => void): string[];
}

export function cacheEntries(folder: string): CacheEntries {
  const entries = () => openStore({ folder, maxBytes: 2 ** 28, sha256: hostHash.sha256 }).list();
  return {
    keys: () =>
      entries()
        .map(({ key }) => key)
        .sort(),
    usedBy(act) {
      const old = Date.now() / 1000 - 7200;
      for (const { key } of entries()) utimesSync(join(folder, key[0]!, key), old, old);
      act();
      return entries()
        .filter(({ used }) => used > Date.now() - 3_600_000)
        .map(({ key }) => key)
        .sort();
    },
  };
}
