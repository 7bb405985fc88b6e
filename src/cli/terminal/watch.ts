/** File watching. Folders are watched instead of files, because editors replace a file and a watcher of the old file would miss the change. */
import { watch as watchPath } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type ExitCode, exit } from './exit.ts';

/** The outside world of file watching; specs pass their own. */
export interface WatchWorld {
  /** Calls back with the name of each changed entry of a folder; without a name any entry may have changed. Returns the function that ends the watch. */
  watch(folder: string, changed: (name: string | undefined) => void): () => void;
  /** Calls back once when the user interrupts. */
  onInterrupt(stop: () => void): void;
  /** Milliseconds to wait for more changes, because an editor makes several per save. */
  readonly settleMs: number;
}

const processWorld: WatchWorld = {
  watch(folder, changed) {
    const watcher = watchPath(folder, (_, name) => changed(name ?? undefined));
    return () => watcher.close();
  },
  onInterrupt: (stop) => void process.once('SIGINT', stop),
  settleMs: 50,
};

/** Runs a check now and after every change of a file, until the user interrupts. Then all watchers are closed. */
export async function watchFiles(paths: readonly string[], recheck: () => Promise<void>, world = processWorld): Promise<ExitCode> {
  const stopped = new Promise<void>((resolve) => world.onInterrupt(resolve));
  const again = settled(recheck, world.settleMs);
  // The watch starts before the first check, so that no change is missed in between.
  const closers = [...byFolder(paths)].map(([folder, names]) =>
    world.watch(folder, (name) => {
      if (name === undefined || names.has(name)) again.ask();
    }),
  );
  again.ask(0);
  await stopped;
  for (const close of closers) close();
  await again.end();
  return exit.ok;
}

function byFolder(paths: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const path of paths) folders.set(dirname(path), (folders.get(dirname(path)) ?? new Set()).add(basename(path)));
  return folders;
}

/** Debounces an action: requests within the delay run it once, and runs never overlap. */
function settled(action: () => Promise<void>, settleMs: number): { ask(ms?: number): void; end(): Promise<void> } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  return {
    ask(ms = settleMs) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        running = running.then(action);
      }, ms);
    },
    end() {
      clearTimeout(timer);
      return running;
    },
  };
}
