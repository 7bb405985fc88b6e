/** Replaces `system.ts` in a page, which has no access to system libraries (`scripts/browser/build.ts`). */
import type * as system from './system.ts';

export const nativeSystem: typeof system.nativeSystem = () => undefined;
