/**
 * The command line as a library: the list of commands, help, and rendered diagnostics. The process itself starts in
 * `main.ts`; start reading at `commands.ts`.
 */
export type { Command, Option } from './command/command.ts';
export { commands } from './commands.ts';
export { cliMarkdown, commandHelp, generalHelp } from './help.ts';
export { main } from './main.ts';
export { type ExitCode, exit } from './terminal/exit.ts';
export type { Terminal } from './terminal/index.ts';
export { renderAll, renderDiagnostic } from './terminal/render.ts';
