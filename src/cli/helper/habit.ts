/**
 * Starts a helper for those who compile often: behind the command that is one of several, each of which took longer than a helper would have. Whoever
 * compiles now and then has none, and neither has a process without a terminal, which may be one of a service.
 */
import { type Environment, helpedCommands, helperUse, isLong } from './automatic.ts';
import { type HelperPlace, helperPlace } from './place.ts';
import { startHelper } from './start.ts';

/** Commands until a helper is worth its start, and milliseconds between two of them after which the first does not count. */
const [enough, recentMs] = [4, 120_000];

/** A command that has ended. */
export interface Ended {
  readonly words: readonly string[];
  readonly env: Environment;
  /** Since the process began. */
  readonly ms: number;
  /** Whether somebody sees one of the streams. */
  readonly hasTerminal: () => boolean;
}

/** Where a helper would listen, and what starts it. */
export interface Starter {
  readonly place: () => HelperPlace | { readonly why: string };
  readonly start: (place: HelperPlace) => void;
}

/** Counts a command, and starts a helper if it is the last of enough. What goes wrong is said nowhere: a helper is not needed. */
export function noteCommand({ words, env, ms, hasTerminal }: Ended, starter: Starter): void {
  if (!isLong(ms) || !helpedCommands.has(words[0] ?? '') || helperUse(env) !== 'automatic') return;
  if (!words.some((word) => word.endsWith('.ptx')) || !hasTerminal()) return;
  const place = starter.place();
  if ('why' in place) return;
  try {
    if (isEnough(place)) starter.start(place);
  } catch {
    // The folder takes no files.
  }
}

/** Counts one more in a file, whose size is the count and whose time is that of the last; true, and from the start again, for the last of enough. */
function isEnough({ folder, socket }: HelperPlace): boolean {
  const { mkdirSync, rmSync, statSync, writeFileSync } = process.getBuiltinModule('node:fs');
  const counted = `${socket}.recent`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stats = statSync(counted, { throwIfNoEntry: false });
  const isRecent = stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < recentMs;
  if (isRecent && stats.size + 1 >= enough) {
    rmSync(counted, { force: true });
    return true;
  }
  writeFileSync(counted, '.', { flag: isRecent ? 'a' : 'w', mode: 0o600 });
  return false;
}

/** Counts the command of this process. */
export function noteOwnCommand(words: readonly string[]): void {
  const { env, platform } = process;
  const hasTerminal = (): boolean => {
    const { fstatSync } = process.getBuiltinModule('node:fs');
    // A terminal is a device, and files and pipes are none: `node:tty` takes longer than the other calls.
    const devices = [0, 1, 2].filter((stream) => {
      try {
        return fstatSync(stream).isCharacterDevice();
      } catch {
        return false;
      }
    });
    return devices.length > 0 && devices.some(process.getBuiltinModule('node:tty').isatty);
  };
  noteCommand({ words, env, ms: performance.now(), hasTerminal }, { place: () => helperPlace({ env, platform }), start: startHelper });
}
