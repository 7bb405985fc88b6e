/** What follows from how a symbol is linked. */
import type { Linkage, Visibility } from './model.ts';

/** Symbols that nothing outside can replace are local to their binary without saying so. Source: `GlobalValue::isImplicitDSOLocal`. */
export const isLocalByItself = ({ linkage, visibility }: { linkage: Linkage; visibility?: Visibility | undefined }): boolean =>
  linkage === 'internal' || linkage === 'private' || (visibility !== undefined && linkage !== 'extern_weak');
