/** Properties that follow from the linkage of a symbol. */
import type { Linkage, Visibility } from './model.ts';

/** Whether a symbol is implicitly `dso_local`. Source: `GlobalValue::isImplicitDSOLocal`. */
export const isImplicitlyLocal = ({ linkage, visibility }: { linkage: Linkage; visibility?: Visibility | undefined }): boolean =>
  linkage === 'internal' || linkage === 'private' || (visibility !== undefined && linkage !== 'extern_weak');
