/** Starts a helper as a process that outlives this one. */
import { mainWords } from '../command/own-place.ts';
import type { HelperPlace } from './place.ts';

/** The first argument of such a process. It is no command: nothing but this program starts it. */
export const helperWord = '--helper';

/** Beside the socket, while a helper starts. */
export const startingFile = ({ socket }: HelperPlace): string => `${socket}.starting`;

/** Milliseconds after which a helper that has not started has failed, and another may be tried. */
const startMs = 10_000;

/**
 * The settings of the engine: code runs often, and garbage is collected when there is more than some files make. Memory that is freed between two
 * files is kept for some seconds: to touch new pages each time takes a quarter of the time, and so do those between pieces that are in use. `Helper`
 * collects garbage when it is idle for longer.
 */
const engine = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
  BUN_JSC_largeHeapSize: '67108864',
  BUN_GC_TIMER_DISABLE: '1',
  MIMALLOC_PURGE_DELAY: '10000',
  MIMALLOC_PURGE_HOLES: '0',
  MIMALLOC_ALLOW_THP: '1',
};

/** Starts one unless another process does. What goes wrong is said nowhere: a helper is not needed. */
export function startHelper(place: HelperPlace): void {
  const [{ mkdirSync, statSync, rmSync, writeFileSync }, { spawn }] = [
    process.getBuiltinModule('node:fs'),
    process.getBuiltinModule('node:child_process'),
  ];
  const starting = startingFile(place);
  try {
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    const other = statSync(starting, { throwIfNoEntry: false });
    if (other && Math.abs(Date.now() - other.mtimeMs) > startMs) rmSync(starting, { force: true });
    // Only one process makes the file.
    writeFileSync(starting, '', { flag: 'wx', mode: 0o600 });
    spawn(process.execPath, [...mainWords(), helperWord, place.folder, place.socket], {
      detached: true,
      stdio: 'ignore',
      cwd: '/',
      env: engine,
    }).unref();
  } catch {
    // Another process is faster, or the folder takes no files.
  }
}
