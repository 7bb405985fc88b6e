/** SHA-256 of the host: Bun's own is there without loading anything. */
import type { CompileOptions } from '../compile/index.ts';

/** An option of the compiler; empty where the host has nothing faster. */
export const hostHash: Pick<CompileOptions, 'sha256'> =
  typeof Bun === 'undefined' ? {} : { sha256: (bytes) => new Uint8Array(Bun.SHA256.hash(bytes) as Uint8Array) };
