/** `cumetal validate`: checks the container, bitcode and AIR rules, and prints one line per violation. */
import { validateAir } from '../air/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { printable } from '../base/printable.ts';
import { readModule } from '../bitcode/index.ts';
import { readMetallib, validateMetallib } from '../metallib/index.ts';
import { type Context, has } from './command/command.ts';
import { usageError } from './command/usage-error.ts';
import { binaryDiagnostics } from './input/binary.ts';
import { readNamed } from './input/index.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import { diagnosticJson } from './terminal/formats.ts';
import { jsonDocument } from './terminal/json.ts';

/** Runs the command. The violations are the result, so they go to standard output. */
export async function validate({ parsed, terminal }: Context): Promise<ExitCode> {
  const path = parsed.positionals[0]!;
  const bytes = await readNamed(path, terminal);
  if (!(bytes instanceof Uint8Array)) return usageError(`cannot read \`${path}\`: ${bytes.why}`, 'cumetal validate --help', terminal);
  const diagnostics = new Diagnostics();
  const isValid = validateBytes(bytes, diagnostics, path);
  if (has(parsed, 'json')) terminal.out(jsonDocument({ file: path, valid: isValid, diagnostics: diagnostics.list.map(diagnosticJson) }));
  else
    terminal.out(
      isValid
        ? `${printable(path)}: valid\n`
        : diagnostics.list.map((d) => `${printable(`${path}: ${d.severity}[${d.code}]: ${d.message}`)}\n`).join(''),
    );
  return isValid ? exit.ok : exit.failed;
}

/** Whether a metallib satisfies every rule; each violation is reported (CM40xx), with the file if its path is given. */
export function validateBytes(bytes: Uint8Array, diagnostics: Diagnostics, path?: string): boolean {
  const own = path === undefined ? new Diagnostics() : binaryDiagnostics(path);
  validateMetallib(bytes, own);
  const library = own.hasErrors ? undefined : readMetallib(bytes, own);
  for (const { bitcode } of library?.functions ?? []) {
    const module = readModule(bitcode, own);
    if (module) validateAir(module, own);
  }
  diagnostics.addAll(own.list);
  return library !== undefined && !own.hasErrors;
}
