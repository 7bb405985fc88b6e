/** The FILE of a command: PTX text, a metallib, standard input, or CUDA C++ through the compiler that is here. */

import type { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { type ExitCode, exit } from './exit.ts';
import type { Terminal } from './terminal.ts';

export type Input =
  | { readonly kind: 'ptx'; readonly path: string; readonly source: SourceFile }
  | { readonly kind: 'metallib'; readonly path: string; readonly bytes: Uint8Array };

/** The file, or the exit code after its fault was reported or printed. */
export async function readInput(path: string, terminal: Terminal, diagnostics: Diagnostics): Promise<Input | ExitCode> {
  if (path.endsWith('.cu')) {
    const { compileCuda } = await import('./cuda-source.ts');
    const text = compileCuda(path, terminal);
    return typeof text === 'string' ? { kind: 'ptx', path, source: new SourceFile(path, text) } : text;
  }
  const bytes = terminal.readFile(path);
  if (!(bytes instanceof Uint8Array)) {
    diagnostics.report('CM5030', { path, why: bytes.why });
    return exit.usage;
  }
  return classify(path, bytes, terminal);
}

function classify(path: string, bytes: Uint8Array, terminal: Terminal): Input | ExitCode {
  const starts = (...magic: number[]) => magic.every((byte, i) => bytes[i] === byte);
  if (starts(0x4d, 0x54, 0x4c, 0x42)) return { kind: 'metallib', path, bytes };
  const isElf = starts(0x7f, 0x45, 0x4c, 0x46);
  if (isElf || starts(0x50, 0xed, 0x55, 0xba)) {
    terminal.err(
      `error: \`${path}\` is ${isElf ? 'an ELF file' : 'a fatbinary'}, and reading PTX out of one is not yet available in this version\n`,
    );
    terminal.err('  = help: `cuobjdump -ptx FILE` prints the PTX in it\n');
    return exit.usage;
  }
  // A metallib cut short is no text; telling so beats a syntax error at its first byte.
  if (path.endsWith('.metallib')) return { kind: 'metallib', path, bytes };
  return { kind: 'ptx', path, source: new SourceFile(path, new TextDecoder().decode(bytes)) };
}
