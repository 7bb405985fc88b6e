/**
 * The command line as a library: the list of commands, help, and rendered diagnostics. The process itself starts in
 * `main.ts`; start reading at `commands.ts`.
 */
export type { Command, Option } from './command.ts';
export { commands } from './commands.ts';
export { type ExitCode, exit } from './exit.ts';
export { cliMarkdown, commandHelp, generalHelp } from './help.ts';
export { main } from './main.ts';
export { renderAll, renderDiagnostic } from './render.ts';
export type { Terminal } from './terminal.ts';
