/** What a process that compiles a share is given on its standard input, and what it answers on its standard output. */
import type { CompiledEntry, CompileOptions, Share } from '../../compile/index.ts';
import { framed, unframed } from './framed.ts';

/** The only argument of such a process. It is no command: nothing but this program starts it. */
export const shareWord = '--compile-share';

/** A share of a module. */
export interface ShareJob {
  readonly path: string;
  readonly text: string;
  readonly options: CompileOptions;
  readonly share: Share;
}

/** A job as bytes. */
export const packedJob = ({ text, ...job }: ShareJob): Uint8Array => framed(job, [new TextEncoder().encode(text)]);

/** The job in bytes; undefined if the process that wrote them ended before the last one. */
export function unpackedJob(bytes: Uint8Array): ShareJob | undefined {
  const found = unframed(bytes);
  return found && { ...(found.head as Omit<ShareJob, 'text'>), text: new TextDecoder().decode(found.rest) };
}

/** The entries of a share as bytes. */
export const packedEntries = (entries: readonly CompiledEntry[]): Uint8Array =>
  framed(
    entries.map(({ bitcode, ...entry }) => ({ ...entry, size: bitcode.length })),
    entries.map(({ bitcode }) => bitcode),
  );

/** The entries in bytes; undefined unless all of them are there. */
export function unpackedEntries(bytes: Uint8Array): CompiledEntry[] | undefined {
  const found = unframed(bytes);
  if (!found) return undefined;
  let at = 0;
  const entries = (found.head as (Omit<CompiledEntry, 'bitcode'> & { readonly size: number })[]).map(({ size, ...entry }) => {
    at += size;
    return { ...entry, bitcode: found.rest.slice(at - size, at) };
  });
  return at === found.rest.length ? entries : undefined;
}
