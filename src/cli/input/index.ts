/** The FILE argument of a command: PTX text, a container of PTX, a metallib, standard input, or CUDA C++ if a compiler is installed. */

import type { Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';
import type { IoFailure } from '../../runtime/index.ts';
import { usageError } from '../command/usage-error.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';

export type Input =
  | { readonly kind: 'ptx'; readonly path: string; readonly source: SourceFile }
  | { readonly kind: 'metallib'; readonly path: string; readonly bytes: Uint8Array };

/** The bytes of a file. One that is typed on the command line may also be a pipe or standard input; one that a file names may not. */
export const readNamed = async (path: string, terminal: Terminal, isTyped = true): Promise<Uint8Array | IoFailure> =>
  (isTyped ? await terminal.readInput?.(path) : undefined) ?? terminal.readFile(path);

/** Reads the file, or returns the exit code after reporting an error. `image` selects one image of a container. */
export async function readInput(
  path: string,
  terminal: Terminal,
  diagnostics: Diagnostics,
  image?: string,
  isTyped = true,
): Promise<Input | ExitCode> {
  if (path.endsWith('.cu')) {
    if (image !== undefined) return noImages(path, terminal);
    const { compileCuda } = await import('./cuda-source.ts');
    const text = compileCuda(path, terminal);
    return typeof text === 'string' ? { kind: 'ptx', path, source: new SourceFile(path, text) } : text;
  }
  const bytes = await readNamed(path, terminal, isTyped);
  if (!(bytes instanceof Uint8Array)) {
    diagnostics.report('CM5030', { path, why: bytes.why });
    return exit.usage;
  }
  if (looksLikeContainer(bytes)) {
    const { readContainedPtx } = await import('./contained.ts');
    const source = readContainedPtx({ path, bytes }, image, terminal, diagnostics);
    return source instanceof SourceFile ? { kind: 'ptx', path, source } : source;
  }
  if (image !== undefined) return noImages(path, terminal);
  // A truncated metallib gets an error of its own instead of a PTX syntax error at its first byte.
  if (startsWith(bytes, 0x4d, 0x54, 0x4c, 0x42) || path.endsWith('.metallib')) return { kind: 'metallib', path, bytes };
  if (bytes.length > maxTextBytes) {
    diagnostics.report('CM5030', { path, why: `as PTX it may have at most ${maxTextBytes} bytes` });
    return exit.usage;
  }
  return { kind: 'ptx', path, source: new SourceFile(path, new TextDecoder().decode(bytes)) };
}

/** The largest PTX: ten times the largest in NVIDIA's own libraries. Its tokens take ten times its size. */
const maxTextBytes = 128 * 1024 * 1024;

function noImages(path: string, terminal: Terminal): ExitCode {
  return usageError(
    `\`--image\` requires a fatbinary, cubin or ELF file, and \`${path}\` is none of these`,
    'cumetal check --help',
    terminal,
  );
}

const startsWith = (bytes: Uint8Array, ...magic: number[]): boolean => magic.every((byte, i) => bytes[i] === byte);

/** Whether the bytes are an ELF file or a fatbinary. Duplicated here so that the container reader is loaded on demand; a spec keeps this equal to `isContainer`. */
export const looksLikeContainer = (bytes: Uint8Array): boolean =>
  startsWith(bytes, 0x7f, 0x45, 0x4c, 0x46) || startsWith(bytes, 0x50, 0xed, 0x55, 0xba);
