/**
 * What a command and the helper say to each other. A message is its length, JSON and bytes. Before the answer to a command line comes one byte, which
 * says that the work has begun.
 */
import { framed, unframed } from '../jobs/framed.ts';

/** A command line with all that it reads: the helper opens no file of its own accord. */
export interface Task {
  readonly ask: 'run';
  /** Of the program that asks. */
  readonly build: string;
  readonly words: readonly string[];
  /** Whether each stream takes color. */
  readonly color: { readonly out: boolean; readonly err: boolean };
  /** The files by the paths that the words have; their bytes follow one another. */
  readonly files: readonly SizedFile[];
}

export interface SizedFile {
  readonly path: string;
  readonly size: number;
}

export type Request = Task | { readonly ask: 'status' } | { readonly ask: 'stop' };

/** What a command did, for the process that asked to do it: text and bytes of streams, in order, and files. */
export type Act =
  | { readonly to: 'out' | 'outBytes' | 'err' | 'errStyled'; readonly size: number }
  | { readonly to: 'file'; readonly path: string; readonly size: number };

export interface Done {
  readonly code: number;
  readonly acts: readonly Act[];
  /** The files that must be writable. */
  readonly writable: readonly string[];
}

/** The state of a helper. */
export interface HelperState {
  readonly pid: number;
  readonly served: number;
  readonly startedAt: number;
  readonly memoryBytes: number;
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
}

/** `declined`: the process that asked is to do the work itself. */
export type Answer = { readonly done: Done } | { readonly declined: true } | { readonly state: HelperState };

/** An answer and the bytes that belong to it. */
export interface Answered {
  readonly head: Answer;
  readonly parts: readonly Uint8Array[];
}

/** The first byte of an answer to a command line. */
export const begun = 0x06;

/** More than any message that is sent. */
export const maxMessageBytes = 64 * 1024 * 1024;

const lengthBytes = 4;

/** A message as bytes. */
export function packed(head: Request | Answer, parts: readonly Uint8Array[]): Uint8Array {
  const bytes = framed(head, parts);
  const whole = new Uint8Array(lengthBytes + bytes.length);
  new DataView(whole.buffer).setUint32(0, bytes.length, true);
  whole.set(bytes, lengthBytes);
  return whole;
}

/** The message at the start of bytes; `more` if it has not arrived whole, and `broken` if it is none. */
export function unpacked<T>(bytes: Uint8Array): { readonly head: T; readonly rest: Uint8Array } | 'more' | 'broken' {
  if (bytes.length < lengthBytes) return 'more';
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (length > maxMessageBytes) return 'broken';
  if (bytes.length < lengthBytes + length) return 'more';
  try {
    const found = unframed(bytes.subarray(lengthBytes, lengthBytes + length));
    return found ? { head: found.head as T, rest: found.rest } : 'broken';
  } catch {
    return 'broken';
  }
}

/** The parts of bytes that have these sizes; undefined if they are not all of them. */
export function divided(bytes: Uint8Array, sizes: readonly { readonly size: number }[]): Uint8Array[] | undefined {
  let at = 0;
  const parts = sizes.map(({ size }) => {
    at += size;
    return bytes.subarray(at - size, at);
  });
  return at === bytes.length ? parts : undefined;
}
