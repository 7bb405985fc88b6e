/** What a program needs of the machine that runs it. `host/` implements it for Bun and Node; a spec or a page may do so in memory. */
import type { Errno } from './errno.ts';

/** What is known of a file. Times are in nanoseconds since 1970. */
export interface Status {
  readonly type: 'file' | 'folder' | 'link' | 'characters' | 'other';
  readonly size: bigint;
  readonly inode: bigint;
  readonly device: bigint;
  readonly links: bigint;
  readonly accessed: bigint;
  readonly modified: bigint;
  readonly changed: bigint;
}

/** How a file is opened. */
export interface OpenFlags {
  readonly create: boolean;
  readonly exclusive: boolean;
  readonly truncate: boolean;
  readonly folder: boolean;
  readonly append: boolean;
  readonly read: boolean;
  readonly write: boolean;
  readonly follow: boolean;
}

/** An open file. Offsets are in bytes; results are counts of bytes, or an error. */
export interface OpenFile {
  read(into: Uint8Array, position: number): number | Fault;
  /** At the end if `position` is undefined. */
  write(bytes: Uint8Array, position: number | undefined): number | Fault;
  status(): Status | Fault;
  resize(bytes: number): Fault | undefined;
  flush(): Fault | undefined;
  close(): void;
}

/** An error number in place of a result. */
export interface Fault {
  readonly errno: Errno;
}

export const isFault = <T>(result: T | Fault): result is Fault => typeof result === 'object' && result !== null && 'errno' in result;

/** A folder that a program was granted, with everything below it. Paths are relative to it, with `/`. */
export interface Folder {
  /** What the program calls it. */
  readonly name: string;
  open(path: string, flags: OpenFlags): OpenFile | 'folder' | Fault;
  status(path: string, follow: boolean): Status | Fault;
  /** Names and types, without `.` and `..`. */
  list(path: string): readonly { readonly name: string; readonly type: Status['type']; readonly inode: bigint }[] | Fault;
  makeFolder(path: string): Fault | undefined;
  removeFolder(path: string): Fault | undefined;
  removeFile(path: string): Fault | undefined;
  rename(from: string, to: Folder, toPath: string): Fault | undefined;
  readLink(path: string): string | Fault;
  setTimes(path: string, accessed: bigint, modified: bigint): Fault | undefined;
}

/** The machine as a program sees it. */
export interface ProgramHost {
  /** The name of the program, then its arguments. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly folders: readonly Folder[];
  /** Bytes of standard input that were read; 0 at its end. */
  readInput(into: Uint8Array): number | Fault;
  /** Writes all of it to standard output (1) or standard error (2). */
  writeOutput(stream: 1 | 2, bytes: Uint8Array): Fault | undefined;
  isTerminal(stream: 0 | 1 | 2): boolean;
  /** Nanoseconds since 1970. */
  realTime(): bigint;
  /** Nanoseconds since some moment. */
  monotonicTime(): bigint;
  /** Nanoseconds of processor time. */
  cpuTime(): bigint;
  fillRandom(bytes: Uint8Array): void;
  sleep(milliseconds: number): void;
}
