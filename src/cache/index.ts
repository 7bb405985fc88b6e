/**
 * What has been compiled before, on disk: metallibs by the SHA-256 of all that they follow from. Knows files and compilations, no commands.
 * A cache never fails: what it cannot read is compiled again, and what it cannot write is not there the next time.
 * Start at `compiled.ts`.
 */
export { type Compile, type CompileCache, compileCache } from './compiled.ts';
export { type CacheHost, type CachePlace, cachePlace } from './place.ts';
export { openStore, type Store, type StoredEntry } from './store.ts';
