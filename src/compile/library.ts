/** The metallib of kernels: one function with its bitcode each. */
import type { Target } from '../air/index.ts';
import { type Library, writeMetallib } from '../metallib/index.ts';
import type { CompileOptions } from './options.ts';

/** A kernel, and the bitcode of the module that defines it alone. */
export interface KernelBitcode {
  readonly name: string;
  readonly bitcode: Uint8Array;
}

/** The bytes of a metallib for a target. */
export function libraryOf(kernels: readonly KernelBitcode[], target: Target, { sha256 }: Pick<CompileOptions, 'sha256'>): Uint8Array {
  const library: Library = {
    version: target.container,
    platform: target.platform,
    os: target.os,
    functions: kernels.map(({ name, bitcode }) => ({
      name,
      type: 'kernel',
      airVersion: [target.airVersion[0], target.airVersion[1]],
      metalVersion: [target.metalVersion[0], target.metalVersion[1]],
      bitcode,
    })),
  };
  return sha256 ? writeMetallib(library, sha256) : writeMetallib(library);
}
