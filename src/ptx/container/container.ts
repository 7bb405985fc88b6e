/** Reads any file with images: a fatbinary, a cubin, or a host's ELF file with fatbinaries in its sections. */
import { OutOfBytes } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { cubinArch, cudaMachine, type Elf, isElf, readElf, sectionBytes } from './elf.ts';
import { isFatbinary, readFatbinaries } from './fatbinary.ts';
import type { Image } from './image.ts';
import { malformed } from './malformed.ts';

/** The format of a file, and its images. */
export interface Container {
  /** `elf` is a host's object, program or shared library. */
  readonly format: 'fatbinary' | 'cubin' | 'elf';
  readonly images: readonly Image[];
}

/** Sections in which nvcc and clang store fatbinaries in a host file: linked code, and relocatable device code. */
const fatbinarySections = ['.nv_fatbin', '__nv_relfatbin'];

/** The section of a cubin in which a debug build (`nvcc -G`) stores its PTX, with a NUL at each line end. */
const debugText = '.nv_debug_ptx_txt';

/** Whether bytes start with the magic of a container. */
export const isContainer = (bytes: Uint8Array): boolean => isElf(bytes) || isFatbinary(bytes);

/** The images of a file. For a damaged file, which is reported as CM4060, the images before the damage. */
export function readContainer(bytes: Uint8Array, diagnostics: Diagnostics): Container {
  const images: Image[] = [];
  const format = attempt(diagnostics, () => readInto(bytes, images));
  return { format: format ?? (isElf(bytes) ? 'elf' : 'fatbinary'), images };
}

function attempt<T>(diagnostics: Diagnostics, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    diagnostics.report('CM4060', { offset: error.offset, why: error.message });
    return undefined;
  }
}

function readInto(bytes: Uint8Array, images: Image[]): Container['format'] {
  if (isFatbinary(bytes)) {
    readFatbinaries(bytes, 0, bytes.length, images);
    return 'fatbinary';
  }
  if (!isElf(bytes)) malformed(0, 'neither a fatbinary nor an ELF file');
  const elf = readElf(bytes);
  if (elf.machine === cudaMachine) {
    images.push(...cubinImages(bytes, elf));
    return 'cubin';
  }
  if (elf.sections.length === 0) malformed(40, 'the ELF file has no table of sections, so its fatbinaries cannot be found');
  let left = bytes.length;
  for (const section of elf.sections.filter(({ name }) => fatbinarySections.includes(name))) {
    const { length } = sectionBytes(bytes, section);
    left -= length;
    if (left < 0) malformed(section.offset, 'the ELF sections with fatbinaries overlap');
    if (length > 0) readFatbinaries(bytes, section.offset, section.offset + length, images);
  }
  return 'elf';
}

/** A cubin is one image of SASS, plus the PTX of a debug build. */
function cubinImages(bytes: Uint8Array, elf: Elf): Image[] {
  const common = { arch: `sm_${cubinArch(elf)}`, compression: 'none' } as const;
  const sass: Image = { ...common, index: 0, kind: 'sass', kindCode: 2, version: '', size: bytes.length, stored: bytes, offset: 0 };
  const section = elf.sections.find(({ name }) => name === debugText);
  if (!section) return [sass];
  const stored = sectionBytes(bytes, section);
  const version = /\.version\s+(\d+\.\d+)/.exec(new TextDecoder().decode(stored.subarray(0, 4096)))?.[1] ?? '';
  return [sass, { ...common, index: 1, kind: 'ptx', kindCode: 1, version, size: stored.length, stored, offset: section.offset }];
}
