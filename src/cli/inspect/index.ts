/** `cumetal inspect`: the contents of a metallib from any compiler, or of a container of PTX. */
import { type KernelReflection, reflectModule } from '../../air/index.ts';
import { hexOf } from '../../base/bytes.ts';
import { namesMeant, readableName } from '../../base/demangle/index.ts';
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import { type Module, readModule } from '../../bitcode/index.ts';
import type { Service } from '../../ir/index.ts';
import {
  type ByteRange,
  describeTag,
  type LibraryFunction,
  type ReadLibrary,
  readMetallib,
  type Version,
  withGaps,
} from '../../metallib/index.ts';
import { type Context, has, lastValue } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { binaryDiagnostics } from '../input/binary.ts';
import { looksLikeContainer, readNamed } from '../input/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { diagnosticJson } from '../terminal/formats.ts';
import { jsonDocument } from '../terminal/json.ts';
import { writeDiagnostics } from '../terminal/render.ts';

/** Runs the command. Unreadable parts are reported, and the rest are shown. */
export async function inspect({ parsed, terminal }: Context): Promise<ExitCode> {
  const path = parsed.positionals[0]!;
  const bytes = await readNamed(path, terminal);
  if (!(bytes instanceof Uint8Array)) return usageError(`cannot read \`${path}\`: ${bytes.why}`, 'cumetal inspect --help', terminal);
  if (looksLikeContainer(bytes)) {
    const { inspectContainer } = await import('../input/contained.ts');
    return inspectContainer({ path, bytes }, has(parsed, 'json'), terminal);
  }
  const diagnostics = binaryDiagnostics(path);
  const library = readMetallib(bytes, diagnostics);
  const name = lastValue(parsed, 'function');
  const named = name === undefined ? undefined : namesMeant(name, library?.functions.map((fn) => fn.name) ?? []);
  const functions = library?.functions.filter((fn) => named?.includes(fn.name) ?? true) ?? [];
  if (library && name !== undefined && functions.length === 0)
    return usageError(`\`${path}\` has no function \`${name}\`: ${namesOf(library)}`, 'cumetal inspect --help', terminal);
  const parts = functions.map((fn) => readPart(fn, diagnostics));
  writeDiagnostics(diagnostics.list, terminal);
  if (has(parsed, 'json'))
    terminal.out(jsonDocument({ ...libraryJson(path, bytes, library, parts), diagnostics: diagnostics.list.map(diagnosticJson) }));
  else if (library && has(parsed, 'disassemble')) terminal.out(await disassembly(parts));
  else if (library) terminal.out(libraryText(path, bytes, library, parts));
  return library && !diagnostics.hasErrors ? exit.ok : exit.failed;
}

/** One function of a library, with its readable parts. */
interface Part {
  readonly fn: LibraryFunction;
  readonly module: Module | undefined;
  readonly kernels: readonly KernelReflection[];
  /** The reasons why the CPU device does not run it; not an error of the file. */
  readonly notRun: readonly Diagnostic[];
}

const namesOf = ({ functions }: ReadLibrary): string =>
  functions.length === 0 ? 'it has none' : `it has ${functions.map((fn) => `\`${readableName(fn.name)}\``).join(', ')}`;

function readPart(fn: LibraryFunction, diagnostics: Diagnostics): Part {
  const module = readModule(fn.bitcode, diagnostics);
  const notRun = new Diagnostics();
  const kernels = module && fn.type === 'kernel' ? reflectModule(module, notRun) : [];
  return { fn, module, kernels, notRun: notRun.list };
}

async function disassembly(parts: readonly Part[]): Promise<string> {
  const { disassemble } = await import('../../bitcode/index.ts');
  return parts.flatMap(({ module }) => (module ? [disassemble(module)] : [])).join('\n');
}

function libraryText(path: string, bytes: Uint8Array, library: ReadLibrary, parts: readonly Part[]): string {
  const head = `${path}: metallib ${dotted(library.version)} for ${library.platform}${library.os.major > 0 ? ` ${dotted(library.os)}` : ''}, ${bytes.length} bytes`;
  const ranges = rangeLines(withGaps(library.ranges, bytes.length), '  ');
  return `${[head, ...ranges, ...parts.flatMap(partLines)].map(printable).join('\n')}\n`;
}

const rangeLines = (ranges: readonly ByteRange[], indent: string): string[] =>
  ranges.flatMap(({ name, offset, size, parts = [] }) => [
    `${indent}${name}: ${size} bytes at ${offset}`,
    ...rangeLines(parts, `${indent}  `),
  ]);

const dotted = ({ major, minor, patch }: Version): string => (patch > 0 ? `${major}.${minor}.${patch}` : `${major}.${minor}`);

function partLines({ fn, kernels, notRun }: Part): string[] {
  const lines = [
    '',
    ...(readableName(fn.name) === fn.name
      ? [`${fn.type} ${fn.name}`]
      : [`${fn.type} ${readableName(fn.name)}`, `  mangled name ${fn.name}`]),
    `  AIR ${fn.airVersion.join('.')}, Metal ${fn.metalVersion.join('.')}, ${fn.bitcode.length} bytes of bitcode`,
  ];
  for (const tag of [...(fn.publicTags ?? []), ...(fn.privateTags ?? []), ...(fn.otherTags ?? [])]) lines.push(`  ${describeTag(tag)}`);
  const isListed = fn.publicTags?.some(({ code }) => code === 'CNST') ?? false;
  for (const kernel of kernels) lines.push(...kernelLines(kernel, isListed));
  for (const { message } of notRun) lines.push(`  ${message}`);
  return lines;
}

/** `isListed`: the `CNST` tag has listed the required function constants, and only the optional ones remain. */
const serviceTexts: Readonly<Record<Service, string>> = {
  grid: 'the workspace for barriers of the grid',
  alone: 'nothing: the launch runs on one thread of the host',
  cluster: 'what the launch says of clusters, and their barriers',
  group: 'what the launch says of clusters, each of which is one block',
  heap: 'the heap of `malloc`',
  launches: 'the launches of the kernel',
  stack: 'the size of the stack of a thread',
};

function kernelLines(kernel: KernelReflection, isListed: boolean): string[] {
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
  if (kernel.faults) hidden(kernel.faults.slot, `abort reasons: ${kernel.faults.texts.join('; ')}`);
  if (kernel.printf) hidden(kernel.printf.slot, `printf formats: ${kernel.printf.formats.map((text) => JSON.stringify(text)).join(', ')}`);
  if (kernel.locks) hidden(kernel.locks.slot, 'the lock table of 64-bit atomics');
  for (const { service, slot } of kernel.services ?? []) hidden(slot, serviceTexts[service]);
  for (const { name, type, index, isRequired } of (kernel.constants ?? []).filter((each) => !isListed || !each.isRequired))
    lines.push(`  function constant ${index ?? ''} \`${name}\`  ${type}${isRequired ? '' : ', optional'}`);
  if (kernel.staticSharedBytes > 0) lines.push(`  static shared memory   ${kernel.staticSharedBytes} bytes`);
  if (kernel.usesDynamicShared) lines.push('  dynamic shared memory  threadgroup slot 0');
  const { required, most, isExplicit } = kernel.cluster ?? {};
  if (required) lines.push(`  blocks in a cluster    ${required.join(' x ')}`);
  else if (isExplicit) lines.push('  blocks in a cluster    as the launch says');
  if (most !== undefined) lines.push(`  blocks in a cluster    at most ${most}`);
  if (kernel.maxThreads !== undefined) lines.push(`  threads in a block     at most ${kernel.maxThreads}`);
  return lines;
}

/** A range without its bytes. */
const rangeJson = ({ name, offset, size, parts = [] }: ByteRange): object => ({
  name,
  offset,
  size,
  ...(parts.length > 0 ? { parts: parts.map(rangeJson) } : {}),
});

function libraryJson(path: string, bytes: Uint8Array, library: ReadLibrary | undefined, parts: readonly Part[]): object {
  if (!library) return { file: path, bytes: bytes.length };
  const { platform, uuid } = library;
  const functions = parts.map(({ fn, kernels, notRun }) => ({
    name: fn.name,
    type: fn.type,
    air_version: fn.airVersion,
    metal_version: fn.metalVersion,
    bitcode_bytes: fn.bitcode.length,
    hash: fn.hash && hexOf(fn.hash),
    kernel: kernels.find((k) => k.name === fn.name) ?? null,
    not_run: notRun.map(diagnosticJson),
  }));
  return {
    file: path,
    bytes: bytes.length,
    version: dotted(library.version),
    platform,
    os: dotted(library.os),
    uuid: uuid && hexOf(uuid),
    sections: withGaps(library.ranges, bytes.length).map(rangeJson),
    functions,
  };
}
