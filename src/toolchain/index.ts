/**
 * CUDA C++ without an installed compiler: clang as WebAssembly from an npm package, our own CUDA headers, and the translation of its
 * bitcode to PTX; host code as WebAssembly with the libraries of another package. Knows neither launches nor devices.
 */
export type { Language, SourceOptions } from './arguments.ts';
export { loadClang } from './clang.ts';
export type { Clang, Outcome } from './clang-module.ts';
export { cudaLibrariesOf, cudaLibraryNames } from './cuda-libraries.ts';
export { compileDevice, type DeviceCode, deviceKey } from './device.ts';
export { headers } from './headers.ts';
export { archive, compileHost, hostKey, type LinkOptions, link, type Made, preprocess } from './host.ts';
export { includedFiles, type SourceFiles } from './includes.ts';
export { type HeaderFolders, type InstalledClang, installedClang, loadInstalled, removeWithProcess, writeHeaders } from './installed.ts';
export {
  findPackage,
  findSysroot,
  locatePackage,
  packageName,
  packageSize,
  programPackageName,
  programPackageSize,
  type ToolchainPackage,
} from './locate.ts';
export { type Sysroot, sysrootIn } from './sysroot.ts';
export type { Tree } from './tree.ts';
