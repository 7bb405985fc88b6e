/** The cache of this program on this machine. */
import { type CompileCache, cachePlace, compileCache, openStore, type Store } from '../../cache/index.ts';
import type { Terminal } from '../terminal/index.ts';
import { buildId } from './build-id.ts';
import { hostHash } from './host-hash.ts';

/** The store and its folder, or the reason why there is no store. */
export function storeOf({ env }: Pick<Terminal, 'env'>): { readonly store: Store; readonly folder: string } | { readonly why: string } {
  const place = cachePlace({ platform: process.platform, env, home: homeOf(env) });
  if ('why' in place) return place;
  const { sha256 } = hostHash;
  return { store: openStore({ ...place, sha256 }), folder: place.folder };
}

const homeOf = (env: Terminal['env']): string => (env.HOME?.startsWith('/') ? env.HOME : '');

/** The compile cache. Undefined when it is disabled, and when the compiler runs from sources, which may change. */
export function ownCompileCache(terminal: Pick<Terminal, 'env'>): CompileCache | undefined {
  const found = buildId === undefined ? undefined : storeOf(terminal);
  return found && 'store' in found ? compileCache({ store: found.store, build: buildId!, sha256: hostHash.sha256 }) : undefined;
}
