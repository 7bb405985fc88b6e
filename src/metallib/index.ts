/**
 * The `.metallib` container. Knows bytes, tags, sections and hashes; does not know the bitcode inside. Start at `tags.ts` (the tag table)
 * and `library.ts` (the parts), then `write.ts` and `read.ts`.
 */
export { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
export { describeTag, withGaps } from './describe.ts';
export type { Library, LibraryFunction, RawTag, Section, SourceArchive, Version } from './library.ts';
export { type ByteRange, isMetallib, type ReadLibrary, readMetallib } from './read.ts';
export { type FunctionType, functionTypes, type Tag, tagOf, tags } from './tags.ts';
export { validateMetallib } from './validate.ts';
export { wrapBitcode, writeMetallib } from './write.ts';
