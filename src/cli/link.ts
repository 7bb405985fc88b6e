/** `cumetal link`: links modules of PTX to one. */
import { Diagnostics } from '../base/diagnostic.ts';
import { printable } from '../base/printable.ts';
import { areWritable, writeBytes } from '../runtime/io.ts';
import { type Context, lastValue } from './command/command.ts';
import { usageError } from './command/usage-error.ts';
import { readInputs } from './input/index.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import { writeDiagnostics } from './terminal/render.ts';

/** Runs the command. */
export async function link({ parsed, terminal }: Context): Promise<ExitCode> {
  const to = lastValue(parsed, 'output');
  if (to === undefined) return usageError('`cumetal link` requires an output file: `-o OUT`', 'cumetal link --help', terminal);
  const diagnostics = new Diagnostics();
  const input = await readInputs(parsed.positionals, terminal, diagnostics, parsed, true);
  if (diagnostics.list.length > 0) writeDiagnostics(diagnostics.list, terminal);
  if (typeof input === 'number') return input;
  if (input.kind !== 'ptx')
    return usageError(`\`${printable(input.path)}\` is a metallib, and only PTX is linked`, 'cumetal link --help', terminal);
  const { text } = input.source;
  const bytes = new TextEncoder().encode(text);
  if (to === '-') terminal.out(text);
  else {
    const failed = new Diagnostics();
    if (!areWritable(terminal, [to], failed) || !writeBytes(terminal, to, bytes, failed)) {
      writeDiagnostics(failed.list, terminal);
      return exit.failed;
    }
    if (!terminal.isQuiet) terminal.out(`${printable(to)}: ptx, ${bytes.length} bytes\n`);
  }
  return exit.ok;
}
