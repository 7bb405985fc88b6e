/**
 * CUDA C++ without an installed compiler: clang as WebAssembly from an npm package, our own CUDA headers, and the translation of its
 * bitcode to PTX. Knows neither launches nor devices.
 */
export { type Clang, loadClang, type Outcome, type Tree } from './clang.ts';
export { compileDevice, type DeviceCode, type DeviceOptions, deviceKey } from './device.ts';
export { includedFiles, type SourceFiles } from './includes.ts';
export { findPackage, locatePackage, packageName, packageSize, type ToolchainPackage } from './locate.ts';
