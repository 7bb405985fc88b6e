/**
 * A metal library in parts, as read and as written. What a reader finds that follows from the other parts (offsets, sizes,
 * hashes) has no field: writing works it out. A file that breaks no rule of the container is written back byte for byte.
 */
import type { FileType, FunctionType } from './tags.ts';

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
  /** Its archive among those of the section of sources, and its group among those of the reflection list. */
  readonly source?: number;
  readonly reflection?: number;
  /** Function tags beyond those that the other fields give. */
  readonly otherTags?: readonly RawTag[];
  /** Codes of all its tags, where their order is not the usual one of the container version. */
  readonly order?: readonly string[];
  /** As read: SHA-256 of the blob. Worked out on writing. */
  readonly hash?: Uint8Array;
}

/** A section behind the bitcode, under the code of its tag in the header extension. */
export type Section = { readonly code: string } & (
  | {
      readonly kind: 'sources';
      /** The command line that linked the library, and the directory it ran in, which only `HSRD` has. */
      readonly link: string;
      readonly directory?: string;
      readonly archives: readonly SourceArchive[];
    }
  /** Flatbuffers, one for each function that has a reflection. */
  | { readonly kind: 'reflection'; readonly buffers: readonly Uint8Array[] }
  | { readonly kind: 'tags'; readonly tags: readonly RawTag[] }
  /** What is not understood. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
);

export interface SourceArchive {
  readonly id: string;
  /** A bzip2 stream with what pads it. */
  readonly data: Uint8Array;
}

export interface Library {
  /** Container version, 1.2.7 for macOS 14. */
  readonly version: Version;
  /** An executable where absent. */
  readonly fileType?: FileType;
  readonly isStub?: boolean;
  readonly platform: string;
  /** Whether the header names platform and system: from 1.2.6 on where absent. */
  readonly statesPlatform?: boolean;
  /** Whether the header says that the platform has 64 bits: where it names one, if absent. */
  readonly is64Bit?: boolean;
  /** The header’s bit for macOS, where it is not what the platform says. */
  readonly macosBit?: boolean;
  readonly os: Version;
  /**
   * Whether sizes of metadata groups count themselves, with the newer order of tags and a UUID: from 1.2.5 on where absent. Apple's
   * `metallib`, which links what `metal -c` made, still writes the older form.
   */
  readonly ownSizes?: boolean;
  readonly functions: readonly LibraryFunction[];
  /** 16 bytes; worked out from the functions where absent. */
  readonly uuid?: Uint8Array;
  /** Sections behind the bitcode, in the order of the file. */
  readonly sections?: readonly Section[];
  /** Tags of the header extension beyond the UUID and those of sections. */
  readonly otherTags?: readonly RawTag[];
  /** Codes of the header extension, where they are not those of sections, others, then the UUID. */
  readonly extensionOrder?: readonly string[];
}
