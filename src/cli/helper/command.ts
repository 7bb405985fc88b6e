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
  details: `The helper is a process that keeps the compiler loaded, and compiles PTX files up to 512 KB for \`cumetal build\` and \`check\` in a quarter of the time
of a start. It is started behind the fourth such command at a terminal within two minutes of each other that took longer than 40 milliseconds, and ends 5
minutes after the last one, or when it has 400 MB. CUMETAL_HELPER=0 turns it off; CUMETAL_HELPER=1 starts it with the first command, without a terminal too.
Where a variable of a service of continuous integration is set (CI, BUILD_NUMBER, …), it is neither started nor asked.

It is on by default because nothing that a command does depends on it. The command itself reads all files: the helper gets their text, reads no environment, keeps
nothing of a text, and its output is that of the command, byte for byte. It has no cache. Where it does not begin within 50 milliseconds, ends while it works, or
declines, because an option or a variable concerns more than the text, the command does the work itself.
It listens in the folder \`helper\` of the compile cache, which only the user can enter, at a socket that only the user can connect to, for one build of cumetal
and one version of Bun; a command looks at the owner and the permissions of both before it connects. Node and Windows have none.

The usual commands ask in plain shell, because the start of Bun takes as long as the compilation: one PTX file, and an output that is a new or a regular file. They find named
pipes beside the socket, which belong to one command at a time. The helper then writes the output itself, through an empty file that the command has made beside it, so that it
writes where the command may write and sees the same folders. Such a command waits as long as the helper lives; if it ends, the command does the work itself.`,
  run: async (context) => (await import('./index.ts')).helper(context),
};
