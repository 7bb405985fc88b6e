/** Starts the command line from the sources, or as a single-file program. `start-built.ts` starts the built files of the package. */
import { isSingleFile } from './command/own-place.ts';
import { helpedCommands, mayCount } from './helper/automatic.ts';
import { engineSettings } from './startup/engine-settings.ts';

async function run(): Promise<void> {
  await (await import('./program.ts')).run();
}

/** What `bin/cumetal` does for the package: asks a helper, and sets the engine for short runs. */
async function runSingleFile(): Promise<void> {
  const words = process.argv.slice(2);
  const isHelped = helpedCommands.has(words[0] ?? '');
  const settings = unsetSettings(words[0] ?? '');
  if (settings) {
    const code = isHelped ? await (await import('./helper/client.ts')).askHelper(words) : undefined;
    if (code !== undefined) {
      process.exitCode = code;
      return;
    }
    startWith(settings, words);
  }
  await run();
  if (mayCount(words)) (await import('./helper/habit.ts')).noteOwnCommand(words);
}

/** The settings of the engine for a command; undefined if there are none, and if one of them is set. */
function unsetSettings(command: string): Readonly<Record<string, string>> | undefined {
  const settings = Object.hasOwn(engineSettings, command) ? engineSettings[command] : undefined;
  return settings && Object.keys(settings).every((name) => process.env[name] === undefined) ? settings : undefined;
}

/** An open file of this process as a path, such as a pipe that a shell makes for `<(…)`. Bun does not leave it to the next program. */
const openFile = /\/(dev\/fd|proc)\//;

/** Replaces this process by one of the same program with settings, where the system can: that takes 8 ms, and they save 100. */
function startWith(settings: Readonly<Record<string, string>>, words: readonly string[]): void {
  const { env, execPath, platform } = process;
  if (platform === 'win32' || !process.execve || words.some((word) => openFile.test(word))) return;
  try {
    process.execve(execPath, [execPath, ...words], { ...env, ...settings });
  } catch {
    // The program runs without them.
  }
}

// A single-file program with bytecode cannot have a top-level await.
void (isSingleFile() ? runSingleFile() : run());
