/** A metal library in parts, as read and as written. */
import type { FunctionType } from './tags.ts';

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** A tag as it stands in a file. */
export interface RawTag {
  readonly code: string;
  readonly payload: Uint8Array;
}

export interface LibraryFunction {
  readonly name: string;
  readonly type: FunctionType;
  /** Major and minor. */
  readonly airVersion: readonly [number, number];
  readonly metalVersion: readonly [number, number];
  /** Raw bitcode, without wrapper and padding. */
  readonly bitcode: Uint8Array;
  /** As read: the bitcode in its wrapper with what pads it. Made on writing. */
  readonly blob?: Uint8Array;
  /** Groups of the metadata sections; empty for a kernel without function constants and debug information. */
  readonly publicTags?: readonly RawTag[];
  readonly privateTags?: readonly RawTag[];
  /** Function tags beyond those that the other fields give. */
  readonly otherTags?: readonly RawTag[];
  /** As read: SHA-256 of the blob. Worked out on writing. */
  readonly hash?: Uint8Array;
}

export interface Library {
  /** Container version, 1.2.7 for macOS 14. */
  readonly version: Version;
  readonly platform: string;
  readonly os: Version;
  readonly functions: readonly LibraryFunction[];
  /** 16 bytes; worked out from the functions where absent. */
  readonly uuid?: Uint8Array;
  /** Sections behind the bitcode that were read and are not understood, by their tag. */
  readonly sections?: readonly { readonly code: string; readonly bytes: Uint8Array }[];
}
