/**
 * WASI preview 1 for programs with 64-bit pointers: every argument is a number of 64 bits, and sizes and pointers in memory have 8 bytes. The
 * layouts that follow are those of the C declarations in `wasi/api.h`. No library has them: `node:wasi`, `@bjorn3/browser_wasi_shim` and
 * others know memory of 32 bits only.
 */
import { Descriptors } from './descriptors.ts';
import { errno } from './errno.ts';
import { fileFunctions } from './file-functions.ts';
import type { ProgramHost } from './host.ts';
import { pathFunctions } from './path-functions.ts';
import type { WasiFunction, WasiState } from './state.ts';
import { systemFunctions } from './system-functions.ts';

export type { WasiState } from './state.ts';

const functions: Readonly<Record<string, WasiFunction>> = { ...systemFunctions, ...fileFunctions, ...pathFunctions };
/** Names of WASI that are answered with "not supported": a program cannot have sockets, and says so itself. */
const unsupported = ['path_link', 'path_symlink', 'proc_raise', 'sock_accept', 'sock_recv', 'sock_send', 'sock_shutdown'];

export const newWasi = (host: ProgramHost): Omit<WasiState, 'memory'> => ({
  host,
  descriptors: new Descriptors(host),
  exitCode: undefined,
});

/** The imports `wasi_snapshot_preview1` of a program. */
export const wasiImports = (state: WasiState): Record<string, (...args: bigint[]) => number> =>
  Object.fromEntries([
    ...Object.entries(functions).map(([name, run]) => [name, (...args: bigint[]) => run(state, ...args)]),
    ...unsupported.map((name) => [name, () => errno.notsup]),
  ]);
