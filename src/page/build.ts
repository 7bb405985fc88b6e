/** A whole program from files in memory: both halves of each source, and their link. */
import { Diagnostics } from '../base/diagnostic.ts';
import { imageOf, withDeviceCode } from '../program/device-code.ts';
import { programBase } from '../program/memory.ts';
import type { Language, SourceOptions } from '../toolchain/arguments.ts';
import type { Clang } from '../toolchain/clang-module.ts';
import { compileDevice } from '../toolchain/device.ts';
import { compileHost, link } from '../toolchain/host.ts';
import type { Sysroot } from '../toolchain/sysroot.ts';
import type { NamedFile } from './messages.ts';

/** The folder of the files, where the compiler sees them. */
const folder = '/program/';

export interface PageToolchain {
  readonly clang: Clang;
  readonly sysroot: Sysroot;
  /** Functions that whoever runs the program gives to it. */
  readonly imports: readonly string[];
  /** Diagnostics as text. */
  render(diagnostics: Diagnostics): string;
  /** Receives what is done now. */
  step(what: string): void;
}

/** The linked program, undefined where the compiler refused, and the messages of all compilations. */
export interface BuiltProgram {
  readonly module: Uint8Array | undefined;
  readonly messages: string;
}

function languageOf(name: string): Language | undefined {
  if (name.endsWith('.cu')) return 'cuda';
  return /\.(cpp|cc|cxx)$/.test(name) ? 'c++' : name.endsWith('.c') ? 'c' : undefined;
}

const optionsOf = (sysroot: Sysroot, files: readonly NamedFile[], name: string): SourceOptions => ({
  path: folder + name,
  files: new Map(files.map((file) => [folder + file.name, file.bytes])),
  folders: [folder.slice(0, -1)],
  sysroot,
});

/** The device half of the first file, as PTX. */
export async function deviceCode(
  { clang, sysroot, render }: PageToolchain,
  files: readonly NamedFile[],
): Promise<{ readonly ptx: string | undefined; readonly messages: string }> {
  const diagnostics = new Diagnostics();
  const { ptx, messages } = await compileDevice(clang, optionsOf(sysroot, files, files[0]?.name ?? 'kernel.cu'), diagnostics);
  return { ptx, messages: (messages + render(diagnostics)).replaceAll(folder, '') };
}

/** Compiles every source among the files, and links them. Other files are headers. */
export async function buildFiles(toolchain: PageToolchain, files: readonly NamedFile[]): Promise<BuiltProgram> {
  const objects: { name: string; bytes: Uint8Array }[] = [];
  let messages = '';
  const say = (text: string): void => {
    messages += text.replaceAll(folder, '');
  };
  const sources = files.filter(({ name }) => languageOf(name));
  for (const { name } of sources) {
    const options = optionsOf(toolchain.sysroot, files, name);
    const bytes = await objectOf(toolchain, name, options, say);
    if (bytes) objects.push({ name: name.replace(/\.\w+$/, '.o'), bytes });
  }
  if (sources.length === 0) say('error: there is no file to compile: its name must end in .cu, .cpp or .c\n');
  if (objects.length === 0 || objects.length < sources.length) return { module: undefined, messages };
  toolchain.step('linking');
  const linked = await link(toolchain.clang, {
    objects,
    libraries: [],
    sysroot: toolchain.sysroot.tree(),
    base: programBase,
    imports: toolchain.imports,
  });
  say(linked.messages);
  return { module: linked.bytes, messages };
}

async function objectOf(
  { clang, render, step }: PageToolchain,
  name: string,
  options: SourceOptions,
  say: (text: string) => void,
): Promise<Uint8Array | undefined> {
  const language = languageOf(name)!;
  if (language !== 'cuda') {
    step(`compiling ${name}`);
    const { bytes, messages } = await compileHost(clang, language, options);
    say(messages);
    return bytes;
  }
  step(`compiling ${name}: device code`);
  const diagnostics = new Diagnostics();
  const device = await compileDevice(clang, options, diagnostics);
  say(device.messages + render(diagnostics));
  if (device.ptx === undefined) return undefined;
  step(`compiling ${name}: host code`);
  const host = await compileHost(clang, language, options, imageOf(name));
  if (host.bytes) return withDeviceCode(host.bytes, name, device.ptx);
  // The device half accepts some of what the host half refuses.
  say(host.messages);
  return undefined;
}
