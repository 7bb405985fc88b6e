/** Whether a command may have anything to do with the helper: `CUMETAL_HELPER` says so, or nothing speaks against it. */

/** What the helper can be asked. */
export const helpedCommands: ReadonlySet<string> = new Set(['build', 'check']);

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of which services of continuous integration set one. Each job is a machine of its own there, or is meant to leave nothing behind. */
export const serviceVariables = ['CI', 'CONTINUOUS_INTEGRATION', 'BUILD_ID', 'BUILD_NUMBER', 'RUN_ID', 'TF_BUILD', 'TEAMCITY_VERSION'];

/** Variables of this program that change nothing about a command that the helper runs. `bin/ask-helper.sh` lists the others. */
export const knownVariables: ReadonlySet<string> = new Set([
  'CUMETAL_HELPER',
  'CUMETAL_CACHE_PATH',
  'CUMETAL_CACHE_MAXSIZE',
  'CUMETAL_CACHE_DISABLE',
  'CUMETAL_BYTECODE',
  'CUMETAL_RUNTIME',
]);

/** `asked`: the user wants a helper at once. `automatic`: one is used if it is there, and started by those who compile often. */
export function helperUse(env: Environment): 'asked' | 'automatic' | 'never' {
  const { CUMETAL_HELPER: chosen } = env;
  if (chosen === '1') return 'asked';
  return chosen || serviceVariables.some((name) => env[name]) ? 'never' : 'automatic';
}

/** Milliseconds of a command that a helper would have made shorter. What the compile cache has takes less. */
const longMs = 40;

/** Whether a command of this process, which has ended, may be one that counts for a helper: what counts it is loaded for these alone. */
export const mayCount = (words: readonly string[]): boolean =>
  helpedCommands.has(words[0] ?? '') && isLong(performance.now()) && helperUse(process.env) === 'automatic';

/** Whether a helper would have made a command shorter that took some milliseconds. */
export const isLong = (ms: number): boolean => ms >= longMs;
