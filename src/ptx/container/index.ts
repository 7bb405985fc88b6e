/**
 * Containers: the files in which `nvcc` stores PTX. This folder knows fatbinaries, the ELF files around them, cubins, and the compression
 * of images; it does not know PTX. A damaged file is a diagnostic, never an exception. Start at `container.ts`, then `fatbinary.ts`.
 */
export { chooseImage, type ImageChoice, parseImageChoice as imageWords } from './choose.ts';
export { type Container, isContainer, readContainer } from './container.ts';
export { type Compression, type Image, type ImageKind, imageEntries, imageText } from './image.ts';
