/**
 * The tags of a `.metallib`, once: where each may stand, how its payload is laid out, and from which container version on.
 * Source: 42 real files of macOS 10.15 to 26 and iOS 11; names from YuAo/MetalLibraryArchive and JuliaGPU/Metal.jl.
 */

/** How a payload is read and shown. */
export type Payload = 'string' | 'u8' | 'u64' | 'u64x2' | 'u64x3' | 'u16x4' | 'hash' | 'uuid' | 'bytes' | 'none';

export interface Tag {
  readonly code: string;
  readonly where: 'function' | 'extension' | 'public' | 'private';
  readonly payload: Payload;
  readonly doc: string;
}

const tag = (code: string, where: Tag['where'], payload: Payload, doc: string): Tag => ({ code, where, payload, doc });

export const tags: readonly Tag[] = [
  tag('NAME', 'function', 'string', 'the function’s name, NUL-terminated'),
  tag('TYPE', 'function', 'u8', 'what kind of function it is'),
  tag('HASH', 'function', 'hash', 'SHA-256 of the padded bitcode blob'),
  tag('OFFT', 'function', 'u64x3', 'where its public metadata, private metadata and bitcode start, each in its section'),
  tag('VERS', 'function', 'u16x4', 'AIR and Metal language versions'),
  tag('MDSZ', 'function', 'u64', 'bytes of its bitcode blob, padding included'),
  tag('SOFF', 'function', 'u64', 'its source archive'),
  tag('RFLT', 'function', 'u64', 'its reflection group'),
  tag('TESS', 'function', 'u8', 'tessellation: control points and patch kind'),
  tag('LAYR', 'function', 'u8', 'render-target layer kind'),
  tag('HSRC', 'extension', 'u64x2', 'embedded sources: file offset, size'),
  tag('HSRD', 'extension', 'u64x2', 'embedded sources with working directory: file offset, size'),
  tag('HDYN', 'extension', 'u64x2', 'install name: file offset, size'),
  tag('RLST', 'extension', 'u64x2', 'reflection list: file offset, size'),
  tag('VLST', 'extension', 'u64x2', 'variable list: file offset, size'),
  tag('ILST', 'extension', 'u64x2', 'import list: file offset, size'),
  tag('SLST', 'extension', 'u64x2', 'script list: file offset, size'),
  tag('UUID', 'extension', 'uuid', 'identity of the library'),
  tag('CNST', 'public', 'bytes', 'function constants'),
  tag('VATT', 'public', 'bytes', 'vertex inputs'),
  tag('VATY', 'public', 'bytes', 'types of vertex inputs'),
  tag('RETR', 'public', 'bytes', 'return values of render functions'),
  tag('DEBI', 'private', 'bytes', 'line and source path'),
  tag('DEPF', 'private', 'string', 'path of the dependent .air file'),
];

/** The row of a tag code, where it is known. */
export const tagOf = (code: string): Tag | undefined => tags.find((each) => each.code === code);

/** Ends every group; it has neither length nor payload. */
export const endTag = 'ENDT';

/** Function kinds by the number in `TYPE`. */
export const functionTypes = [
  'vertex',
  'fragment',
  'kernel',
  'unqualified',
  'visible',
  'extern',
  'intersection',
  'mesh',
  'object',
] as const;
export type FunctionType = (typeof functionTypes)[number];

/** Fixed numbers of the header and of LLVM's bitcode wrapper. */
export const header = { magic: 'MTLB', size: 88, macosBit: 0x8000 } as const;
export const wrapper = { magic: 0x0b17c0de, size: 20, anyCpu: 0xffffffff, alignment: 16 } as const;
/** Mach-O platform numbers, and the bit that says 64-bit. */
export const platforms: Readonly<Record<number, string>> = {
  1: 'macos',
  2: 'ios',
  3: 'tvos',
  4: 'watchos',
  6: 'catalyst',
  7: 'ios-simulator',
  11: 'xros',
};
export const platform64Bit = 0x80;
