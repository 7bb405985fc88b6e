/** The way to the CUDA driver: its library, where there is one. */
import { bunFfi } from '../bun.ts';
import { type CudaApi, cudaTypes } from './api.ts';
import { bindingOver, type CudaBinding } from './binding.ts';

export interface OpenedCuda {
  readonly binding: CudaBinding | undefined;
  /** Why there is none, a sentence each; empty where no machine of its kind has one. */
  readonly failures: readonly string[];
}

/** What the driver's library is called, by system; `CUMETAL_CUDA` names another. */
const libraryNames: Partial<Record<string, string>> = { linux: 'libcuda.so.1', win32: 'nvcuda.dll' };

let opened: OpenedCuda | undefined;

/** The driver of this machine; looked for once. */
export function openCuda(): OpenedCuda {
  opened ??= lookForCuda();
  return opened;
}

function lookForCuda(): OpenedCuda {
  const path = process.env.CUMETAL_CUDA || libraryNames[process.platform];
  if (path === undefined) return { binding: undefined, failures: [] };
  return openCudaAt(path);
}

/** The driver by a path of its library, which is taken as it stands. */
export function openCudaAt(path: string): OpenedCuda {
  const ffi = bunFfi();
  if (!ffi) return { binding: undefined, failures: ['the CUDA driver is reached through Bun, and this is another runtime'] };
  try {
    const { symbols } = ffi.dlopen(path, cudaTypes as never) as { symbols: unknown };
    const binding = bindingOver(symbols as CudaApi, ffi);
    return 'call' in binding
      ? { binding: undefined, failures: [`${binding.call}: ${binding.text} (${binding.name})`] }
      : { binding, failures: [] };
  } catch (error) {
    // A driver without one of the functions is an old one.
    const why = error instanceof Error ? error.message : String(error);
    const isAbsent = /cannot open shared object|no such file/i.test(why);
    return { binding: undefined, failures: [isAbsent ? `there is no CUDA driver here (${path})` : `${path}: ${why}`] };
  }
}
