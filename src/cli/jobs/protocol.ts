/** What a process that compiles a share is given on its standard input, and what it answers on its standard output. */
import type { CompiledEntry, CompiledShare, CompileOptions, Share } from '../../compile/index.ts';
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

/** What the process answers. */
export type ShareAnswer = Pick<CompiledShare, 'entries' | 'isSilent'>;

/** The entry without its bitcode, which follows. */
type SizedEntry = Omit<CompiledEntry, 'bitcode'> & { readonly size: number };

/** A compiled share as bytes. */
export const packedAnswer = ({ entries, isSilent }: ShareAnswer): Uint8Array =>
  framed(
    { isSilent, entries: entries.map(({ bitcode, ...entry }): SizedEntry => ({ ...entry, size: bitcode.length })) },
    entries.map(({ bitcode }) => bitcode),
  );

/** The share in bytes; undefined unless all of it is there. */
export function unpackedAnswer(bytes: Uint8Array): ShareAnswer | undefined {
  const found = unframed(bytes);
  if (!found) return undefined;
  const { isSilent, entries } = found.head as { readonly isSilent: boolean; readonly entries: readonly SizedEntry[] };
  let at = 0;
  const whole = entries.map(({ size, ...entry }) => {
    at += size;
    return { ...entry, bitcode: found.rest.slice(at - size, at) };
  });
  return at === found.rest.length ? { isSilent, entries: whole } : undefined;
}
