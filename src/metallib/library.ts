/**
 * The parts of a metal library, for reading and writing. Values that follow from other parts (offsets, sizes, hashes) have no field; the
 * writer computes them. A file that violates no rule of the container is written back byte for byte.
 */
import type { FileType, FunctionType } from './tags.ts';

/** The numbers of a version. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** A tag as a file has it. */
export interface RawTag {
  readonly code: string;
  readonly payload: Uint8Array;
}

/** A function of a container: its name, its kind and its bitcode. */
export interface LibraryFunction {
  readonly name: string;
  readonly type: FunctionType;
  /** Major and minor. */
  readonly airVersion: readonly [number, number];
  readonly metalVersion: readonly [number, number];
  /** Raw bitcode, without wrapper and padding. */
  readonly bitcode: Uint8Array;
  /** Set by the reader: the bitcode in its wrapper, with padding. The writer builds it if absent. */
  readonly blob?: Uint8Array;
  /** Groups of the metadata sections; empty for a kernel without function constants and debug information. */
  readonly publicTags?: readonly RawTag[];
  readonly privateTags?: readonly RawTag[];
  /** Index of its archive in the section of sources, and of its group in the reflection list. */
  readonly source?: number;
  readonly reflection?: number;
  /** Function tags that no other field holds. */
  readonly otherTags?: readonly RawTag[];
  /** Codes of all its tags, if their order is not the usual one of the container version. */
  readonly order?: readonly string[];
  /** Set by the reader: SHA-256 of the blob. The writer computes it if absent. */
  readonly hash?: Uint8Array;
}

/** A section after the bitcode, under the code of its tag in the header extension. */
export type Section = { readonly code: string } & (
  | {
      readonly kind: 'sources';
      /** The linker's command line and its working directory, which only `HSRD` has. */
      readonly link: string;
      readonly directory?: string;
      readonly archives: readonly SourceArchive[];
    }
  /** Flatbuffers, one per function with a reflection. */
  | { readonly kind: 'reflection'; readonly buffers: readonly Uint8Array[] }
  | { readonly kind: 'tags'; readonly tags: readonly RawTag[] }
  /** A section of unknown layout. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
);

/** An archive of the sources of a library. */
export interface SourceArchive {
  readonly id: string;
  /** A bzip2 stream with its padding. */
  readonly data: Uint8Array;
}

/** The parts of a container. */
export interface Library {
  /** Container version, 1.2.7 for macOS 14. */
  readonly version: Version;
  /** Default: an executable. */
  readonly fileType?: FileType;
  readonly isStub?: boolean;
  readonly platform: string;
  /** Whether the header names platform and system. Default: from 1.2.6 on. */
  readonly statesPlatform?: boolean;
  /** Whether the header marks the platform as 64-bit. Default: if it names a platform. */
  readonly is64Bit?: boolean;
  /** The header’s bit for macOS, if it does not agree with the platform. */
  readonly macosBit?: boolean;
  readonly os: Version;
  /**
   * Whether sizes of metadata groups include the size field itself, with the newer order of tags and a UUID. Default: from 1.2.5 on.
   * Apple's `metallib`, which links the output of `metal -c`, still writes the older form.
   */
  readonly inclusiveSizes?: boolean;
  readonly functions: readonly LibraryFunction[];
  /** 16 bytes. Default: computed from the functions. */
  readonly uuid?: Uint8Array;
  /** Sections after the bitcode, in file order. */
  readonly sections?: readonly Section[];
  /** Tags of the header extension that are neither the UUID nor of a section. */
  readonly otherTags?: readonly RawTag[];
  /** Codes of the header extension, if their order is not sections, others, UUID. */
  readonly extensionOrder?: readonly string[];
}
