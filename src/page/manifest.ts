/** The files that a page fetches when a program is compiled for the first time, each with its size and its hash. */
import { hexOf } from '../base/bytes.ts';
import { sha256 } from '../base/sha256.ts';

export interface LargeFile {
  /** Relative to the manifest, or absolute. */
  readonly url: string;
  /** Whether the file is compressed with gzip, whatever the server says. */
  readonly isZipped: boolean;
  /** Bytes of the contents, and about as many over the wire. */
  readonly bytes: number;
  readonly sent: number;
  /** SHA-256 of the contents, in hexadecimal digits. */
  readonly sha256: string;
}

export interface Manifest {
  /** The version of the compiler's package. */
  readonly version: string;
  /** The module that runs the compiler, relative to the manifest. */
  readonly entry: string;
  /** By the names that the compiler has for them, and `sysroot.tar`. */
  readonly files: Readonly<Record<string, LargeFile>>;
}

export const bytesOverWire = ({ files }: Manifest): number => Object.values(files).reduce((sum, { sent }) => sum + sent, 0);

const cacheName = 'cumetal-compiler';

/** The store of the browser; a page that is not served safely has none. */
const openCache = async (): Promise<Cache | undefined> => {
  try {
    return await globalThis.caches?.open(cacheName);
  } catch {
    return undefined;
  }
};

/** A name for the store that differs for different contents. */
const keyOf = ({ url, sha256: hash }: LargeFile, base: string): string => `${new URL(url, base).href}?sha256=${hash}`;

/** Whether the browser has kept every file. */
export async function isKept({ files }: Manifest, base: string): Promise<boolean> {
  const cache = await openCache();
  if (!cache) return false;
  const found = await Promise.all(Object.values(files).map((file) => cache.match(keyOf(file, base))));
  return found.every((one) => one !== undefined);
}

/** Removes what the browser keeps of other versions. */
export async function forgetOthers({ files }: Manifest, base: string): Promise<void> {
  const cache = await openCache();
  const wanted = new Set(Object.values(files).map((file) => keyOf(file, base)));
  for (const { url } of (await cache?.keys()) ?? []) if (!wanted.has(url)) await cache!.delete(url);
}

/** The contents of a file: kept by the browser or fetched, and checked. Throws the reason as a sentence. `progress`: bytes that have come. */
export async function contentsOf(file: LargeFile, base: string, progress: (bytes: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  const cache = await openCache();
  const key = keyOf(file, base);
  const kept = await cache?.match(key);
  if (kept) {
    const bytes = await unzipped(new Uint8Array(await kept.arrayBuffer()), file);
    if ((await hashOf(bytes)) === file.sha256) return bytes;
    await cache?.delete(key);
  }
  const sent = await fetched(new URL(file.url, base).href, progress);
  const bytes = await unzipped(sent, file);
  if ((await hashOf(bytes)) !== file.sha256)
    throw new Error(`${file.url} is not the file that this page was built for: its SHA-256 differs`);
  // A full disk, or a private window, keeps nothing.
  await cache?.put(key, new Response(sent)).catch(() => undefined);
  return bytes;
}

async function fetched(url: string, progress: (bytes: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url).catch((error: Error) => {
    throw new Error(`${url} cannot be fetched: ${error.message}`);
  });
  if (!response.ok || !response.body)
    throw new Error(`${url} cannot be fetched: the server says ${response.status} ${response.statusText}`);
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        progress(chunk.length);
        controller.enqueue(chunk);
      },
    }),
  );
  return new Uint8Array(await new Response(counted as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}

/** The contents; a server that said `Content-Encoding: gzip` has had the browser do it. */
async function unzipped(bytes: Uint8Array<ArrayBuffer>, { isZipped, url }: LargeFile): Promise<Uint8Array<ArrayBuffer>> {
  if (!isZipped || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    const stream = new Response(bytes).body!.pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error(`${url} is damaged: it cannot be decompressed`);
  }
}

/** A page that is not served safely has no hashes of the browser's. */
async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { subtle } = globalThis.crypto;
  return hexOf(subtle ? new Uint8Array(await subtle.digest('SHA-256', bytes)) : sha256(bytes));
}
