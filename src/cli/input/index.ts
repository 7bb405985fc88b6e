/** The FILE argument of a command: PTX text, a container of PTX, a metallib, an AIR module, standard input, or CUDA C++ if a compiler is installed. */

import type { Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';
import type { IoFailure } from '../../runtime/index.ts';
import { allValues, lastValue, type ParsedArguments } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';
import type { CudaOptions } from './cuda-file.ts';

export type Input =
  | { readonly kind: 'ptx'; readonly path: string; readonly source: SourceFile }
  /** `isFromAir`: it was made from an AIR module. */
  | { readonly kind: 'metallib'; readonly path: string; readonly bytes: Uint8Array; readonly isFromAir?: boolean };

/** The bytes of a file. One that is typed on the command line may also be a pipe or standard input; one that a file names may not. */
export const readNamed = async (path: string, terminal: Terminal, isTyped = true): Promise<Uint8Array | IoFailure> =>
  (isTyped ? await terminal.readInput?.(path) : undefined) ?? terminal.readFile(path);

/** Reads the file, or returns the exit code after reporting an error. The options are those of `inputOptions`. */
export async function readInput(
  path: string,
  terminal: Terminal,
  diagnostics: Diagnostics,
  parsed: ParsedArguments,
  isTyped = true,
): Promise<Input | ExitCode> {
  const image = lastValue(parsed, 'image');
  if (path.endsWith('.cu')) {
    if (image !== undefined) return noImages(path, terminal);
    const { compileCuda } = await import('./cuda-source.ts');
    const source = await compileCuda(path, cudaOptions(parsed), terminal, diagnostics);
    return typeof source === 'number' ? source : { kind: 'ptx', path, source };
  }
  const bytes = await readNamed(path, terminal, isTyped);
  if (!(bytes instanceof Uint8Array)) {
    diagnostics.report('CM5030', { path, why: bytes.why });
    return exit.usage;
  }
  if (looksLikeContainer(bytes)) {
    const { readContainedPtx } = await import('./contained.ts');
    const source = readContainedPtx({ path, bytes }, image, terminal, diagnostics);
    return typeof source === 'number' ? source : { kind: 'ptx', path, source };
  }
  if (image !== undefined) return noImages(path, terminal);
  // A truncated metallib gets an error of its own instead of a PTX syntax error at its first byte.
  if (startsWith(bytes, 0x4d, 0x54, 0x4c, 0x42) || path.endsWith('.metallib')) return { kind: 'metallib', path, bytes };
  return readText(path, bytes, diagnostics);
}

/** Reads files of PTX, which are linked to one module, or one file as it is; or returns the exit code after reporting an error. */
export async function readInputs(
  paths: readonly string[],
  terminal: Terminal,
  diagnostics: Diagnostics,
  parsed: ParsedArguments,
  isLinked = paths.length > 1,
): Promise<Input | ExitCode> {
  if (!isLinked) return readInput(paths[0]!, terminal, diagnostics, parsed);
  const sources: SourceFile[] = [];
  for (const path of paths) {
    const input = await readInput(path, terminal, diagnostics, parsed);
    if (typeof input === 'number') return input;
    if (input.kind !== 'ptx') return usageError(`only PTX can be linked, and \`${path}\` is none`, 'cumetal link --help', terminal);
    sources.push(input.source);
  }
  const { linkSources } = await import('./linked.ts');
  const source = linkSources(sources, 'linked.ptx', diagnostics);
  return source ? { kind: 'ptx', path: source.path, source } : exit.doesNotCompile;
}

const cudaOptions = (parsed: ParsedArguments): CudaOptions => ({
  compiler: lastValue(parsed, 'compiler'),
  folders: allValues(parsed, 'include'),
  defines: allValues(parsed, 'define'),
  standard: lastValue(parsed, 'std'),
});

/** The largest PTX: ten times the largest in NVIDIA's own libraries. Its tokens take ten times its size. */
const maxTextBytes = 128 * 1024 * 1024;

/** PTX text or an AIR module; the exit code after reporting what else the file is. */
async function readText(path: string, bytes: Uint8Array, diagnostics: Diagnostics): Promise<Input | ExitCode> {
  if (startsWith(bytes, 0x42, 0x43, 0xc0, 0xde) || startsWith(bytes, 0xde, 0xc0, 0x17, 0x0b) || path.endsWith('.air')) {
    const { readAir, readNvvm } = await import('./air-file.ts');
    const source = readNvvm(path, bytes, diagnostics);
    if (source === 'refused') return exit.doesNotCompile;
    if (source) return { kind: 'ptx', path, source };
    return ofAir(path, readAir(path, bytes, diagnostics));
  }
  if (bytes.length > maxTextBytes) {
    diagnostics.report('CM5030', { path, why: `as PTX it may have at most ${maxTextBytes} bytes` });
    return exit.usage;
  }
  const text = new TextDecoder().decode(bytes);
  if (/\.version\s+\d/.test(text) && !bytes.subarray(0, 4096).includes(0)) return { kind: 'ptx', path, source: new SourceFile(path, text) };
  if (path.endsWith('.ll') || isLlvmText(text)) {
    const { readAirText } = await import('./air-file.ts');
    return ofAir(path, readAirText(path, text, diagnostics));
  }
  const { foreignKind } = await import('./file-kinds.ts');
  const foreign = foreignKind(path, bytes);
  if (!foreign) return { kind: 'ptx', path, source: new SourceFile(path, text) };
  diagnostics.report('CM4070', { path, what: foreign.what }, { help: foreign.help.replaceAll('{path}', path) });
  return exit.doesNotCompile;
}

const ofAir = (path: string, bytes: Uint8Array | undefined): Input | ExitCode =>
  bytes ? { kind: 'metallib', path, bytes, isFromAir: true } : exit.doesNotCompile;

const isLlvmText = (text: string): boolean =>
  /^\s*(;[^\n]*\n\s*)*(source_filename =|target (triple|datalayout) =)/.test(text.slice(0, 4096));

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
