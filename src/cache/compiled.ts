/**
 * Cache of compilations, keyed by everything that determines the output: the text, every option, and the build of the compiler. Only
 * compilations without diagnostics are stored, so that a repeated compilation reports the same diagnostics.
 */
import { bug } from '../base/bug.ts';
import { hexOf } from '../base/bytes.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import type { Compiled, CompileOptions } from '../compile/index.ts';
import type { Store } from './store.ts';

export interface CompileCacheOptions {
  readonly store: Store;
  /** Identifies the build of this compiler. */
  readonly build: string;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
}

/** The type of `compile`, which may not be loaded yet. */
export type Compile = (source: SourceFile, options: CompileOptions, diagnostics: Diagnostics) => Compiled | undefined;

export interface CompileCache {
  /** The result of `compile`, from the cache if present. A cached reflection has gone through JSON. */
  compiled(
    source: SourceFile,
    options: CompileOptions,
    diagnostics: Diagnostics,
    load: () => Promise<Compile>,
  ): Promise<Compiled | undefined>;
  /** The same with a compiler that has been loaded. */
  compiledNow(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics, compile: Compile): Compiled | undefined;
}

/** The version of the entry format; incremented with every change of it. */
const format = 1;

/** A compilation cache on top of a store. */
export function compileCache({ store, build, sha256 }: CompileCacheOptions): CompileCache {
  /** The entry of a compilation; none if an observer of passes has to see them run. */
  const entryOf = (source: SourceFile, options: CompileOptions) => {
    if (options.afterPass) return undefined;
    const key = hexOf(sha256(keyText(source, options, build)));
    const bytes = store.read(key);
    return { key, known: bytes && unpacked(bytes) };
  };
  const compileInto = (key: string | undefined, diagnostics: Diagnostics, compile: () => Compiled | undefined): Compiled | undefined => {
    const before = diagnostics.list.length;
    const compiled = compile();
    if (compiled && key !== undefined && diagnostics.list.length === before) store.write(key, packed(compiled));
    return compiled;
  };
  return {
    async compiled(source, options, diagnostics, load) {
      const entry = entryOf(source, options);
      if (entry?.known) return entry.known;
      const compile = await load();
      return compileInto(entry?.key, diagnostics, () => compile(source, options, diagnostics));
    },
    compiledNow(source, options, diagnostics, compile) {
      const entry = entryOf(source, options);
      return entry?.known ?? compileInto(entry?.key, diagnostics, () => compile(source, options, diagnostics));
    },
  };
}

function keyText({ path, text }: SourceFile, options: CompileOptions, build: string): Uint8Array {
  const fields = Object.entries(options)
    .filter(([, value]) => value !== undefined && typeof value !== 'function')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [option, value] of fields) if (typeof value === 'object' && !Array.isArray(value)) bug(`the option ${option} has no order`);
  // The path is part of the key because the metallib of a kernel with `trap` or `assert` contains it.
  return new TextEncoder().encode(`${JSON.stringify([format, build, fields, path])}\n${text}`);
}

/** An entry: the byte length of the reflection as a 32-bit integer, the reflection as JSON, the metallib. */
function packed({ metallib, reflection }: Compiled): Uint8Array {
  const reflectionBytes = new TextEncoder().encode(JSON.stringify(reflection));
  const bytes = new Uint8Array(4 + reflectionBytes.length + metallib.length);
  new DataView(bytes.buffer).setUint32(0, reflectionBytes.length, true);
  bytes.set(reflectionBytes, 4);
  bytes.set(metallib, 4 + reflectionBytes.length);
  return bytes;
}

/**
 * Undefined if the bytes are not in the form of `packed`. The store's checksum does not rule that out: another program may have written the
 * entry.
 */
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
