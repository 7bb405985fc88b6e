/**
 * Compilations by what they follow from: the text, every option, and the build of the compiler. Only what compiled without a word is kept,
 * so that whoever compiles again is told the same.
 */
import { bug } from '../base/bug.ts';
import { hexOf } from '../base/bytes.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import type { Compiled, CompileOptions } from '../compile/index.ts';
import type { Store } from './store.ts';

export interface CompileCacheOptions {
  readonly store: Store;
  /** Tells this compiler from every other that ever was. */
  readonly build: string;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
}

/** As `compile`, which may not have been loaded yet. */
export type Compile = (source: SourceFile, options: CompileOptions, diagnostics: Diagnostics) => Compiled | undefined;

export interface CompileCache {
  /** What `compile` gives, from the cache where it is there; the reflection is then what JSON makes of it. */
  compiled(
    source: SourceFile,
    options: CompileOptions,
    diagnostics: Diagnostics,
    load: () => Promise<Compile>,
  ): Promise<Compiled | undefined>;
}

/** Counts up when entries change their form. */
const format = 1;

/** The cache of a compiler in a store. */
export function compileCache({ store, build, sha256 }: CompileCacheOptions): CompileCache {
  return {
    async compiled(source, options, diagnostics, load) {
      const key = hexOf(sha256(keyText(source, options, build)));
      const kept = store.read(key);
      const known = kept && unpacked(kept);
      if (known) return known;
      const before = diagnostics.list.length;
      const made = (await load())(source, options, diagnostics);
      if (made && diagnostics.list.length === before) store.write(key, packed(made));
      return made;
    },
  };
}

function keyText({ path, text }: SourceFile, options: CompileOptions, build: string): Uint8Array {
  const given = Object.entries(options)
    .filter(([, value]) => value !== undefined && typeof value !== 'function')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [option, value] of given) if (typeof value === 'object' && !Array.isArray(value)) bug(`the option ${option} has no order`);
  // A kernel that stops itself names the file.
  return new TextEncoder().encode(`${JSON.stringify([format, build, given, path])}\n${text}`);
}

/** Bytes of the reflection as a word, the reflection as JSON, the metallib. */
function packed({ metallib, reflection }: Compiled): Uint8Array {
  const about = new TextEncoder().encode(JSON.stringify(reflection));
  const bytes = new Uint8Array(4 + about.length + metallib.length);
  new DataView(bytes.buffer).setUint32(0, about.length, true);
  bytes.set(about, 4);
  bytes.set(metallib, 4 + about.length);
  return bytes;
}

/** Nothing where the bytes are none that `packed` makes, which the store's checksum leaves to other writers. */
function unpacked(bytes: Uint8Array): Compiled | undefined {
  if (bytes.length < 4) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + length > bytes.length) return undefined;
  try {
    const reflection = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    return { metallib: bytes.slice(4 + length), reflection };
  } catch {
    return undefined;
  }
}
