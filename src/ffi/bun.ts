/** `bun:ffi`, asked for when it is needed: Node has no such module, and most runs need none. */
import { getBuiltinModule } from 'node:process';

export type Ffi = typeof import('bun:ffi');

/** Bun's foreign functions; nothing under another runtime. */
export const bunFfi = (): Ffi | undefined => getBuiltinModule?.('bun:ffi') as Ffi | undefined;
