/** The cache of this program on this machine. */
import { type CompileCache, cachePlace, compileCache, openStore, type Store } from '../../cache/index.ts';
import type { Terminal } from '../terminal/index.ts';
import { buildId } from './build-id.ts';
import { hostHash } from './host-hash.ts';

/** Where it is, and how it is read; or why there is none. */
export function storeOf({ env }: Pick<Terminal, 'env'>): { readonly store: Store; readonly folder: string } | { readonly why: string } {
  const place = cachePlace({ platform: process.platform, env, home: homeOf(env) });
  if ('why' in place) return place;
  const { sha256 } = hostHash;
  return { store: openStore({ ...place, sha256 }), folder: place.folder };
}

const homeOf = (env: Terminal['env']): string => (env.HOME?.startsWith('/') ? env.HOME : '');

/** The cache; nothing where it is turned off, or where the compiler is sources that may change. */
export function ownCompileCache(terminal: Pick<Terminal, 'env'>): CompileCache | undefined {
  const found = buildId === undefined ? undefined : storeOf(terminal);
  return found && 'store' in found ? compileCache({ store: found.store, build: buildId!, sha256: hostHash.sha256 }) : undefined;
}
