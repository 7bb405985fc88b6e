/** `cumetal lsp`: the language server, over standard input and output. */
import { createConnection, ProposedFeatures } from 'vscode-languageserver/node';
import type { Context } from '../command/command.ts';
import { compileOptions } from '../command/compile-options.ts';
import { version } from '../command/version.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { serve } from './server.ts';

/** Runs the command until the client ends it. */
export async function lsp({ parsed }: Context): Promise<ExitCode> {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
  serve(connection, { version, compile: compileOptions(parsed) });
  connection.listen();
  await new Promise((resolve) => process.stdin.once('close', resolve));
  return exit.ok;
}
