/** `cumetal inspect`: what is in a metallib, whoever wrote it, or in a container of PTX. */
import { type KernelReflection, reflectModule } from '../air/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { type Module, readModule } from '../bitcode/index.ts';
import { type LibraryFunction, type ReadLibrary, readMetallib, type Version } from '../metallib/index.ts';
import { type Context, has } from './command.ts';
import { type ExitCode, exit } from './exit.ts';
import { diagnosticJson } from './formats.ts';
import { looksLikeContainer } from './input.ts';
import { jsonText } from './json.ts';
import { renderAll } from './render.ts';
import { wrongWords } from './wrong-words.ts';

/** Runs the command. What cannot be read is reported, and the rest is still shown. */
export async function inspect({ words, terminal }: Context): Promise<ExitCode> {
  const path = words.positionals[0]!;
  const bytes = terminal.readFile(path);
  if (!(bytes instanceof Uint8Array)) return wrongWords(`cannot read \`${path}\`: ${bytes.why}`, 'cumetal inspect --help', terminal);
  if (looksLikeContainer(bytes)) {
    const { inspectContainer } = await import('./contained.ts');
    return inspectContainer({ path, bytes }, has(words, 'json'), terminal);
  }
  const diagnostics = new Diagnostics();
  const library = readMetallib(bytes, diagnostics);
  const parts = library?.functions.map((fn) => readPart(fn, diagnostics)) ?? [];
  terminal.err(renderAll(diagnostics.list, terminal.colour.err));
  if (has(words, 'json'))
    terminal.out(`${jsonText({ ...libraryJson(path, bytes, library, parts), diagnostics: diagnostics.list.map(diagnosticJson) })}\n`);
  else if (library && has(words, 'disassemble')) terminal.out(await disassembly(parts));
  else if (library) terminal.out(libraryText(path, bytes, library, parts));
  return library && !diagnostics.hasErrors ? exit.ok : exit.failed;
}

/** One function of a library, as far as it can be read. */
interface Part {
  readonly fn: LibraryFunction;
  readonly module: Module | undefined;
  readonly kernels: readonly KernelReflection[];
}

function readPart(fn: LibraryFunction, diagnostics: Diagnostics): Part {
  const module = readModule(fn.bitcode, diagnostics);
  return { fn, module, kernels: module && fn.type === 'kernel' ? reflectModule(module, diagnostics) : [] };
}

async function disassembly(parts: readonly Part[]): Promise<string> {
  const { disassemble } = await import('../bitcode/index.ts');
  return parts.flatMap(({ module }) => (module ? [disassemble(module)] : [])).join('\n');
}

function libraryText(path: string, bytes: Uint8Array, library: ReadLibrary, parts: readonly Part[]): string {
  const head = `${path}: metallib ${dotted(library.version)} for ${library.platform}${library.os.major > 0 ? ` ${dotted(library.os)}` : ''}, ${bytes.length} bytes`;
  const ranges = library.ranges.map(({ name, offset, size }) => `  ${name}: ${size} bytes at ${offset}`);
  return `${[head, ...ranges, ...parts.flatMap(partLines)].join('\n')}\n`;
}

const dotted = ({ major, minor, patch }: Version): string => (patch > 0 ? `${major}.${minor}.${patch}` : `${major}.${minor}`);

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

function partLines({ fn, kernels }: Part): string[] {
  const lines = [
    '',
    `${fn.type} ${fn.name}`,
    `  AIR ${fn.airVersion.join('.')}, Metal ${fn.metalVersion.join('.')}, ${fn.bitcode.length} bytes of bitcode`,
  ];
  for (const kernel of kernels) lines.push(...kernelLines(kernel));
  return lines;
}

function kernelLines(kernel: KernelReflection): string[] {
  const width = Math.max(0, ...kernel.params.map((p) => p.name.length));
  const lines = kernel.params.map(({ slot, offset, name, kind, size, element, access }) => {
    const what =
      kind === 'buffer'
        ? `buffer of ${element ?? `elements of ${size} bytes`}, ${access ?? 'access unknown'}`
        : `${size} bytes by value${element ? `, ${element}` : ''}${offset === undefined ? '' : `, at byte ${offset}`}`;
    return `  slot ${String(slot).padStart(2)}  ${name.padEnd(width)}  ${what}`;
  });
  const hidden = (slot: number, what: string): void => void lines.push(`  slot ${String(slot).padStart(2)}  ${what}`);
  if (kernel.memory) {
    const { slot, size, symbols } = kernel.memory;
    hidden(slot, `global variables of the module, ${size} bytes: ${symbols.map((symbol) => symbol.name).join(', ')}`);
  }
  if (kernel.faults) hidden(kernel.faults.slot, `why the kernel stopped itself: ${kernel.faults.texts.join('; ')}`);
  if (kernel.printf)
    hidden(kernel.printf.slot, `what the kernel prints: ${kernel.printf.formats.map((text) => JSON.stringify(text)).join(', ')}`);
  if (kernel.staticSharedBytes > 0) lines.push(`  static shared memory   ${kernel.staticSharedBytes} bytes`);
  if (kernel.usesDynamicShared) lines.push('  dynamic shared memory  threadgroup slot 0');
  if (kernel.maxThreads !== undefined) lines.push(`  threads in a block     at most ${kernel.maxThreads}`);
  return lines;
}

function libraryJson(path: string, bytes: Uint8Array, library: ReadLibrary | undefined, parts: readonly Part[]): object {
  if (!library) return { file: path, bytes: bytes.length };
  const { platform, uuid } = library;
  const functions = parts.map(({ fn, kernels }) => ({
    name: fn.name,
    type: fn.type,
    air_version: fn.airVersion,
    metal_version: fn.metalVersion,
    bitcode_bytes: fn.bitcode.length,
    hash: fn.hash && hex(fn.hash),
    kernel: kernels.find((k) => k.name === fn.name) ?? null,
  }));
  return {
    file: path,
    bytes: bytes.length,
    version: dotted(library.version),
    platform,
    os: dotted(library.os),
    uuid: uuid && hex(uuid),
    sections: library.ranges,
    functions,
  };
}
