/** Waiting for files to change. Folders are watched and not files: editors replace a file, and its watcher would be left behind. */
import { watch as watchPath } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type ExitCode, exit } from './exit.ts';

/** What watching needs of the world; specs hand in one of their own. */
export interface WatchWorld {
  /** Calls back with the name of each entry of a folder that changes; an entry without a name may be any. Gives what ends it. */
  watch(folder: string, changed: (name: string | undefined) => void): () => void;
  /** Calls back once when the user asks to stop. */
  onInterrupt(stop: () => void): void;
  /** Milliseconds to wait for more changes, since editors make several for one. */
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

/** Checks, and checks again whenever one of the files changes, until the user interrupts; then all watchers are closed. */
export async function watchFiles(paths: readonly string[], recheck: () => Promise<void>, world = processWorld): Promise<ExitCode> {
  const stopped = new Promise<void>((resolve) => world.onInterrupt(resolve));
  const again = settled(recheck, world.settleMs);
  // Watched before the first check, so that no change falls between the two.
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

/** Runs an action some time after it was asked for, once for all asks in between, and never twice at a time. */
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
