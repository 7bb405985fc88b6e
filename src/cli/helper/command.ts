/** `cumetal helper` as a value. */
import type { Command } from '../command/command.ts';

export const helper: Command = {
  name: 'helper',
  summary: 'show or stop the process that makes short builds faster',
  usage: ['status|stop'],
  positionals: [1, 1],
  options: [],
  examples: [
    { line: 'cumetal helper status', does: 'show whether a helper runs' },
    { line: 'cumetal helper stop', does: 'stop it' },
  ],
  details: `With CUMETAL_HELPER=1, \`cumetal build\` and \`check\` of PTX files up to 512 KB ask a process that keeps the compiler loaded, which takes a third of the
time of a start once it has compiled some files. The first command starts it, and it ends 10 minutes after the last one.

The process that was started reads and writes all files: the helper gets their text and returns what is to be written. It has no cache. Where it does not
begin within 50 milliseconds, or declines, because an option concerns more than the text, the command does the work itself. It listens in the folder \`helper\`
of the compile cache, which only the user can enter, for one build of cumetal and one version of Bun.`,
  run: async (context) => (await import('./index.ts')).helper(context),
};
