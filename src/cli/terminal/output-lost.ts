/** The report of a standard stream that takes no more, apart from the program, which loads it only then. */
import { Diagnostics } from '../../base/diagnostic.ts';
import { type ExitCode, exit } from './exit.ts';
import type { Terminal } from './index.ts';
import { writeDiagnostics } from './render.ts';

/** Reports that results are lost, if messages are taken at least. */
export function reportOutputLost(why: string, terminal: Terminal): ExitCode {
  const diagnostics = new Diagnostics();
  diagnostics.report('CM5031', { path: 'standard output', why });
  try {
    writeDiagnostics(diagnostics.list, terminal);
  } catch {
    // They are not.
  }
  return exit.failed;
}
