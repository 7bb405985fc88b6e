/** `bun:ffi`, asked for when it is needed: Node has no such module, and most runs need none. */

export type Ffi = typeof import('bun:ffi');

/** Bun's foreign functions; nothing under another runtime. */
export const bunFfi = (): Ffi | undefined => process.getBuiltinModule?.('bun:ffi') as Ffi | undefined;
