/**
 * The tags of a `.metallib`: where each may occur, the layout of its payload, and the container version that introduced it.
 * Source: 42 real files of macOS 10.15 to 26 and iOS 11; names from YuAo/MetalLibraryArchive and JuliaGPU/Metal.jl.
 */

/** The layout of a payload. */
export type Payload = 'string' | 'u8' | 'u64' | 'u64x2' | 'u64x3' | 'u16x4' | 'hash' | 'uuid' | 'bytes' | 'none';

/** A tag of the container. */
export interface Tag {
  readonly code: string;
  readonly where: 'function' | 'extension' | 'public' | 'private' | 'sources' | 'reflection' | 'dynamic';
  readonly payload: Payload;
  readonly doc: string;
}

const tag = (code: string, where: Tag['where'], payload: Payload, doc: string): Tag => ({ code, where, payload, doc });

/** All known tags. */
export const tags: readonly Tag[] = [
  tag('NAME', 'function', 'string', 'the function’s name, NUL-terminated'),
  tag('TYPE', 'function', 'u8', 'the kind of the function'),
  tag('HASH', 'function', 'hash', 'SHA-256 of the padded bitcode blob'),
  tag('OFFT', 'function', 'u64x3', 'offsets of its public metadata, private metadata and bitcode, each in its section'),
  tag('VERS', 'function', 'u16x4', 'AIR and Metal language versions'),
  tag('MDSZ', 'function', 'u64', 'size of its bitcode blob, padding included'),
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
  tag('UUID', 'extension', 'uuid', 'UUID of the library'),
  tag('CNST', 'public', 'bytes', 'function constants'),
  tag('VATT', 'public', 'bytes', 'vertex inputs'),
  tag('VATY', 'public', 'bytes', 'types of vertex inputs'),
  tag('RETR', 'public', 'bytes', 'return values of render functions'),
  tag('DEBI', 'private', 'bytes', 'line and source path'),
  tag('DEPF', 'private', 'string', 'path of the dependent .air file'),
  tag('SARC', 'sources', 'bytes', 'a source archive: its id, then bzip2 data; the length has 32 bits'),
  tag('RBUF', 'reflection', 'bytes', 'a flatbuffer at a multiple of 16 in the file; the length has 32 bits'),
  tag('NAME', 'dynamic', 'string', 'the library’s file name'),
];

/** The row of a tag code, if it is known. */
export const tagOf = (code: string): Tag | undefined => tags.find((each) => each.code === code);

/** Tags of the header extension that locate a section. */
export const sectionCodes: ReadonlySet<string> = new Set(
  tags.filter((each) => each.where === 'extension' && each.payload === 'u64x2').map((each) => each.code),
);

/** Ends every group; it has neither a length nor a payload. */
export const endTag = 'ENDT';

/** The order of a function’s tags, up to container 1.2.4 and from 1.2.5 on. Source: 76 functions of 42 real files. */
export const functionOrder = {
  old: ['NAME', 'TYPE', 'HASH', 'MDSZ', 'OFFT', 'VERS'],
  new: ['NAME', 'TYPE', 'HASH', 'OFFT', 'VERS', 'MDSZ', 'SOFF', 'RFLT'],
} as const;

/** The patch version of container 1.2 that introduced each feature. Source: the same files. */
export const since = {
  /** A header extension, which may be an end tag only. */
  extension: 4,
  /** Sizes of metadata groups include the size field; the newer order of tags; a UUID. */
  inclusiveSizes: 5,
  /** Platform and system in the header. */
  platform: 6,
} as const;

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
/** A kind without a name is `type 42`; 255 means none. */
export type FunctionType = (typeof functionTypes)[number] | 'none' | `type ${number}`;
const noType = 255;

/** Conversions between the name of a kind and its number. */
export const functionTypeOf = (code: number): FunctionType => (code === noType ? 'none' : (functionTypes[code] ?? `type ${code}`));
export function functionTypeCode(type: FunctionType): number {
  if (type === 'none') return noType;
  const known = (functionTypes as readonly string[]).indexOf(type);
  return known >= 0 ? known : Number(type.slice('type '.length));
}

/** The kind of file, from the low seven bits of byte 10 of the header. */
export const fileTypes = ['executable', 'core-image', 'dynamic', 'symbol-companion'] as const;
export type FileType = (typeof fileTypes)[number] | `file type ${number}`;
export const stubBit = 0x80;
export const fileTypeOf = (code: number): FileType => fileTypes[code] ?? `file type ${code}`;
export function fileTypeCode(type: FileType): number {
  const known = (fileTypes as readonly string[]).indexOf(type);
  return known >= 0 ? known : Number(type.slice('file type '.length));
}

/** Fixed numbers of the header and of LLVM's bitcode wrapper. */
export const header = { magic: 'MTLB', size: 88, macosBit: 0x8000 } as const;
export const wrapper = { magic: 0x0b17c0de, size: 20, anyCpu: 0xffffffff, alignment: 16 } as const;
/** Mach-O platform numbers, and the 64-bit flag. */
export const platforms: Readonly<Record<number, string>> = {
  1: 'macos',
  2: 'ios',
  3: 'tvos',
  4: 'watchos',
  5: 'bridgeos',
  6: 'catalyst',
  7: 'ios-simulator',
  8: 'tvos-simulator',
  9: 'watchos-simulator',
  10: 'driverkit',
  11: 'xros',
  12: 'xros-simulator',
};
/** A platform without a name is `platform 42`. */
export const platformOf = (code: number): string => platforms[code] ?? `platform ${code}`;
export function platformCode(name: string): number {
  const known = Object.keys(platforms).find((code) => platforms[Number(code)] === name);
  return Number(known ?? /^platform (\d+)$/.exec(name)?.[1] ?? 0);
}
export const platform64Bit = 0x80;
