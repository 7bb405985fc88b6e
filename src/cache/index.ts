/**
 * The on-disk compilation cache: metallibs, keyed by the SHA-256 of their inputs. Knows files and compilations, no commands. A cache never
 * fails: an unreadable entry is compiled again, and a failed write is ignored. Start at `compiled.ts`.
 */
export { type Compile, type CompileCache, compileCache } from './compiled.ts';
export { type CacheHost, type CachePlace, cachePlace } from './place.ts';
export { openStore, type Store, type StoredEntry } from './store.ts';
export { distrust } from './trust.ts';
