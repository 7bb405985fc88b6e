/** What a page and its two workers say to each other. */

/** A file that the user wrote or that a program made. */
export interface NamedFile {
  /** A path without `..`, relative to the current folder of the program. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** To the worker that compiles. */
export interface BuildOrder {
  readonly files: readonly NamedFile[];
  /** Whether the PTX of the first file is wanted, and no program. */
  readonly isDevice?: boolean;
}

/** From the worker that compiles. */
export type BuildReport =
  /** Bytes of the compiler that have come over the wire, of all that will. */
  | { readonly kind: 'loading'; readonly done: number; readonly all: number }
  /** The compiler is there; milliseconds from the start of the worker. */
  | { readonly kind: 'ready'; readonly milliseconds: number }
  | { readonly kind: 'step'; readonly what: string }
  /** Messages are those of the compiler. The module is undefined where it refused. */
  | { readonly kind: 'built'; readonly module: Uint8Array | undefined; readonly messages: string; readonly milliseconds: number }
  /** The PTX of device code, undefined where the compiler refused. */
  | { readonly kind: 'device'; readonly ptx: string | undefined; readonly messages: string }
  /** The compiler cannot be had. */
  | { readonly kind: 'failed'; readonly why: string };

/** To the worker that runs. */
export interface RunOrder {
  readonly module: Uint8Array;
  readonly args: readonly string[];
  readonly files: readonly NamedFile[];
  readonly input: Uint8Array;
  /** Threads of the CPU device. */
  readonly threads: number;
}

/** From the worker that runs. */
export type RunReport =
  | { readonly kind: 'output'; readonly stream: 1 | 2; readonly bytes: Uint8Array }
  /** Bytes of output that are not sent, so far. */
  | { readonly kind: 'dropped'; readonly bytes: number }
  /** The exit code; undefined if the module is no program. Files are those that the program made or changed. */
  | { readonly kind: 'ended'; readonly code: number | undefined; readonly files: readonly NamedFile[]; readonly milliseconds: number }
  | { readonly kind: 'failed'; readonly why: string };
