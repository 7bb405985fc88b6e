/** Opens the library of the CUDA driver. */
import { bunFfi, type Ffi } from '../bun.ts';
import { type CudaApi, cudaTypes, markCudaTypes, newerCudaTypes } from './api.ts';
import { bindingOver, type CudaBinding } from './binding.ts';

export interface OpenedCuda {
  readonly binding: CudaBinding | undefined;
  /** The reasons why there is no driver, a sentence each; empty on a platform that has none. */
  readonly failures: readonly string[];
}

/** The file name of the driver by platform. `CUMETAL_CUDA` overrides it. */
const libraryNames: Partial<Record<string, string>> = { linux: 'libcuda.so.1', win32: 'nvcuda.dll' };

let opened: OpenedCuda | undefined;

/** The driver of this machine. The search runs once. */
export function openCuda(): OpenedCuda {
  opened ??= findCuda();
  return opened;
}

function findCuda(): OpenedCuda {
  const path = process.env.CUMETAL_CUDA || libraryNames[process.platform];
  if (path === undefined) return { binding: undefined, failures: [] };
  return openCudaAt(path);
}

/** The driver at an exact path. */
export function openCudaAt(path: string): OpenedCuda {
  const ffi = bunFfi();
  if (!ffi) return { binding: undefined, failures: ['the CUDA driver needs Bun, and this is another runtime'] };
  try {
    const { symbols } = ffi.dlopen(path, cudaTypes as never) as { symbols: unknown };
    const binding = bindingOver({ ...(symbols as CudaApi), ...found(ffi, path, newerCudaTypes), ...found(ffi, path, markCudaTypes) }, ffi);
    return 'call' in binding
      ? { binding: undefined, failures: [`${binding.call}: ${binding.text} (${binding.name})`] }
      : { binding, failures: [] };
  } catch (error) {
    // A missing function means an old driver.
    const why = error instanceof Error ? error.message : String(error);
    const isAbsent = /cannot open shared object|no such file/i.test(why);
    return { binding: undefined, failures: [isAbsent ? `there is no CUDA driver here (${path})` : `${path}: ${why}`] };
  }
}

/** Functions that an older driver lacks; none if it lacks one. */
function found(ffi: Ffi, path: string, types: typeof newerCudaTypes | typeof markCudaTypes): Partial<CudaApi> {
  try {
    return (ffi.dlopen(path, types as never) as { symbols: unknown }).symbols as Partial<CudaApi>;
  } catch {
    return {};
  }
}
