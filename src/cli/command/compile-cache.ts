/** The cache of this program on this machine. */

import { hexOf } from '../../base/bytes.ts';
import { printable } from '../../base/printable.ts';
import { type CompileCache, cachePlace, compileCache, distrust, openStore, type Store } from '../../cache/index.ts';
import type { CodeStore } from '../../device/device.ts';
import type { Terminal } from '../terminal/index.ts';
import { buildId } from './build-id.ts';
import { hostHash } from './host-hash.ts';

/** The store and its folder, or the reason why there is no store. */
export function storeOf({
  env,
}: Pick<Terminal, 'env'>): { readonly store: Store; readonly folder: string } | { readonly why: string; readonly isDistrusted?: boolean } {
  const place = cachePlace({ platform: process.platform, env, home: homeOf(env) });
  if ('why' in place) return place;
  const why = distrust(place.folder);
  if (why !== undefined) return { why: `the folder \`${place.folder}\` is not trusted: ${why}`, isDistrusted: true };
  const { sha256 } = hostHash;
  return { store: openStore({ ...place, sha256 }), folder: place.folder };
}

/** The folder of headers for installed compilers, beside the entries. */
export const headersFolder = (cache: string, key: string): string => `${cache}/headers/${key.slice(0, 16)}`;

const homeOf = (env: Terminal['env']): string => (env.HOME?.startsWith('/') ? env.HOME : '');

/** The store of code of the CPU device, in the same folder; undefined without a compile cache. */
export function ownCodeStore(terminal: Pick<Terminal, 'env'>): CodeStore | undefined {
  const found = buildId === undefined ? undefined : storeOf(terminal);
  if (!found || !('store' in found)) return undefined;
  const { store } = found;
  // Which instructions of WebAssembly there are depends on the runtime and the machine.
  const about = `${buildId} ${typeof Bun === 'undefined' ? process.version : `bun ${Bun.version} ${Bun.revision}`} ${process.platform} ${process.arch}`;
  return {
    keyOf: (parts) => hexOf(hostHash.sha256(joined([`code ${about}`, ...parts]))),
    read: (key) => store.read(key),
    write: (key, bytes) => store.write(key, bytes),
  };
}

/** The parts, each behind its length. */
function joined(parts: readonly (string | Uint8Array)[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.flatMap((part) => [Buffer.from(`${part.length} `), Buffer.from(part as Uint8Array)])));
}

/** Whether a note about the missing cache was written: one process says it once. */
let hasNoted = false;

/**
 * The compile cache. Undefined when it is disabled, and when the compiler runs from sources, which may change; also, with a note, when its
 * folder is not trusted.
 */
export function ownCompileCache(terminal: Pick<Terminal, 'env' | 'err'>): CompileCache | undefined {
  const found = buildId === undefined ? undefined : storeOf(terminal);
  if (found && 'why' in found && found.isDistrusted && !hasNoted) {
    hasNoted = true;
    terminal.err(`note: no compile cache: ${printable(found.why)}\n`);
  }
  return found && 'store' in found ? compileCache({ store: found.store, build: buildId!, sha256: hostHash.sha256 }) : undefined;
}
