/**
 * Containers: the files that `nvcc` makes PTX travel in. This part of the room knows fatbinaries, the ELF files around them,
 * cubins, and how images are compressed; it does not know what PTX means. Bytes in, values out; a damaged file is a diagnostic,
 * never an exception. Start at `container.ts`, then `fatbinary.ts`.
 */
export { chooseImage, type ImageChoice, imageWords } from './choose.ts';
export { type Container, isContainer, readContainer } from './container.ts';
export { type Compression, type Image, type ImageKind, imageEntries, imageText } from './image.ts';
