/**
 * What compiles the engine's modules further. `wasm`: an engine of WebAssembly, with vectors of 128 bits and, on common processors, 16 registers
 * for them. `native`: `src/native`, which packs the vectors of a lane group into registers of up to 512 bits.
 */
export type Target = 'wasm' | 'native';
