/** `bun:ffi`, loaded on demand: Node has no such module, and most runs do not need it. */

export type Ffi = typeof import('bun:ffi');

/** Bun's foreign function interface; undefined under another runtime. */
export const bunFfi = (): Ffi | undefined => process.getBuiltinModule?.('bun:ffi') as Ffi | undefined;
