/** Access to files, which the caller passes in: the runtime itself has none. */
import type { Diagnostics } from '../base/diagnostic.ts';

/** Why a file could not be read or written. */
export interface IoFailure {
  readonly why: string;
}

export interface Io {
  readFile(path: string): Uint8Array | IoFailure;
  /** Writes a file whole or not at all. */
  writeFile(path: string, bytes: Uint8Array): IoFailure | undefined;
  /** The absolute path without symbolic links, also of a file that does not exist; undefined if it cannot be resolved. */
  realPath?(path: string): string | undefined;
  /** Bytes of memory that can be taken; unknown where absent. */
  availableMemory?(): number;
  /** Why a write would fail, as far as that can be known before; undefined if there is no reason. Nothing is changed. */
  whyNotWritable?(path: string): IoFailure | undefined;
}

/** The contents of a file; undefined after reporting CM5030. */
export function readBytes(io: Io, path: string, diagnostics: Diagnostics): Uint8Array | undefined {
  const found = io.readFile(path);
  if (found instanceof Uint8Array) return found;
  diagnostics.report('CM5030', { path, why: found.why });
  return undefined;
}

/** Writes a file; false after reporting CM5031. */
export function writeBytes(io: Io, path: string, bytes: Uint8Array, diagnostics: Diagnostics): boolean {
  const failure = io.writeFile(path, bytes);
  if (failure) diagnostics.report('CM5031', { path, why: failure.why });
  return failure === undefined;
}

/** Whether files can be written, as far as that can be known before; reports CM5031 for each that cannot. */
export function areWritable(io: Io, paths: readonly string[], diagnostics: Diagnostics): boolean {
  const failures = paths.flatMap((path) => {
    const failure = io.whyNotWritable?.(path);
    if (failure) diagnostics.report('CM5031', { path, why: failure.why });
    return failure ?? [];
  });
  return failures.length === 0;
}

/** A path as written in a file of `folder`; absolute paths stay. */
export function pathFrom(folder: string, path: string): string {
  if (folder === '' || folder === '.' || path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) return path;
  return `${folder.replace(/\/+$/, '')}/${path}`;
}

/** The folder of a path: `a/b.ptx` gives `a`, `b.ptx` gives the empty path. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash) || '/';
}
