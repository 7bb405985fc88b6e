/** Replaces `compile.ts` in a page, which runs no native code. */
import type * as compile from './compile.ts';

export const compileModule: typeof compile.compileModule = () => ({ why: 'a page runs no native code' });
