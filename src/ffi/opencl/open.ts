/** Opens libOpenCL, the loader of the drivers of this machine. */
import { bunFfi } from '../bun.ts';
import { type OpenclApi, openclTypes } from './api.ts';
import { bindingOver, type OpenclBinding } from './binding.ts';

export interface OpenedOpencl {
  readonly binding: OpenclBinding | undefined;
  /** The reasons why there is no OpenCL, a sentence each. */
  readonly failures: readonly string[];
}

/** The file name of the loader by platform. `CUMETAL_OPENCL` overrides it. */
const libraryNames: Partial<Record<string, string>> = {
  linux: 'libOpenCL.so.1',
  win32: 'OpenCL.dll',
  darwin: '/System/Library/Frameworks/OpenCL.framework/OpenCL',
};

let opened: OpenedOpencl | undefined;

/** OpenCL on this machine. The search runs once. */
export function openOpencl(): OpenedOpencl {
  opened ??= findOpencl();
  return opened;
}

function findOpencl(): OpenedOpencl {
  const path = process.env.CUMETAL_OPENCL || libraryNames[process.platform];
  return path === undefined ? { binding: undefined, failures: [] } : openOpenclAt(path);
}

/** The library at an exact path. */
export function openOpenclAt(path: string): OpenedOpencl {
  const ffi = bunFfi();
  if (!ffi) return { binding: undefined, failures: ['OpenCL needs Bun, and this is another runtime'] };
  try {
    const { symbols } = ffi.dlopen(path, openclTypes as never) as { symbols: unknown };
    return { binding: bindingOver(symbols as OpenclApi, ffi), failures: [] };
  } catch (error) {
    // A missing function means a version before 2.0.
    const why = error instanceof Error ? error.message : String(error);
    const isAbsent = /cannot open shared object|no such file/i.test(why);
    return { binding: undefined, failures: [isAbsent ? `there is no OpenCL here (${path})` : `${path}: ${why}`] };
  }
}
