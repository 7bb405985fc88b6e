/**
 * What native code and whoever calls it have in common: the context, why code leaves a module, and what it uses of memory. It imports
 * nothing, since callers need it before they need the compiler.
 */

/** Offsets in the context, which `reserved.context` holds the address of. */
export const contextOffsets = {
  /** The stack pointer of the entry, of 8 bytes. */
  stack: 0,
  /** Why the module was left: one of `traps`, or 0. */
  trap: 8,
  /** The address of the memory, and its bytes: 8 bytes each. */
  memory: 16,
  memoryBytes: 24,
  /** The result of an exported function, of 8 bytes. */
  result: 32,
  /** The addresses of imported functions, 8 bytes each; globals follow. */
  imports: 64,
} as const;

/**
 * Why code leaves the module: `unreachable`, an access out of bounds, a division by zero, the quotient of the least integer and -1, a float that no
 * integer stands for, an atomic access that is not aligned, an imported function that threw, and an access out of bounds of more memory than native code
 * uses: it may be in bounds for WebAssembly.
 */
export const traps = {
  unreachable: 1,
  bounds: 2,
  divisionByZero: 3,
  overflow: 4,
  conversion: 5,
  alignment: 6,
  imported: 7,
  memorySize: 8,
} as const;
export type Trap = keyof typeof traps;

/** What native code uses of memory at most. The bytes behind are out of bounds, so that no address that a sum wraps around to is in bounds. */
export const maxMemoryBytes = 2 ** 32 - 2 ** 24;
