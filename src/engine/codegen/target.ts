/**
 * What compiles the engine's modules further. An engine of WebAssembly has vectors of 128 bits and, on common processors, 16 registers for them:
 * every vector of a lane group is a value of its own, functions have limits, and calls save what is live. The native compiler (`src/native`)
 * packs the vectors of a lane group into wide registers.
 */

/** The registers of a processor that native code is made for. */
export interface NativeTarget {
  readonly vectorBytes: 32 | 64;
  readonly vectorRegisters: 16 | 32;
}

/** Undefined: an engine of WebAssembly. */
export type Target = NativeTarget | undefined;
