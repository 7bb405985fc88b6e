/** Sources of a program to objects; both halves of a `.cu` file. Objects are cached by everything that they are made of. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { hexOf } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { imageOf, relocatableKey, withDeviceCode } from '../../program/index.ts';
import {
  type Clang,
  compileDevice,
  compileHost,
  type DeviceCode,
  deviceKey,
  hostKey,
  includedFiles,
  type Language,
  loadClang,
  type SourceOptions,
} from '../../toolchain/index.ts';
import { buildId } from '../command/build-id.ts';
import { storeOf } from '../command/compile-cache.ts';
import { hostHash } from '../command/host-hash.ts';
import type { Terminal } from '../terminal/index.ts';
import { type ChildResult, compileAside, hasSecondCore } from './children.ts';
import type { ProgramToolchain } from './find.ts';
import { openInstalled } from './installed.ts';

/** How sources are compiled. */
export interface SourceWords {
  readonly folders: readonly string[];
  readonly defines: readonly string[];
  readonly undefines: readonly string[];
  readonly standard: string | undefined;
  readonly preIncludes?: readonly string[];
  readonly isContracted?: boolean;
  /** Whether device code of several files is linked. */
  readonly isRelocatable?: boolean;
  /** Whether warnings are left out. */
  readonly isQuiet?: boolean;
}

/** An object, and a key that differs for different objects. */
export interface CompiledObject {
  readonly bytes: Uint8Array;
  readonly key: string;
}

/** What compilations share: the compiler, which is loaded when something has to be compiled, and the cache. */
export class Compilations {
  readonly toolchain: ProgramToolchain;
  readonly terminal: Terminal;
  readonly #store;
  #clang: Promise<Clang> | undefined;

  constructor(toolchain: ProgramToolchain, terminal: Terminal) {
    this.toolchain = toolchain;
    this.terminal = terminal;
    const found = buildId === undefined ? undefined : storeOf(terminal);
    this.#store = found && 'store' in found ? found.store : undefined;
  }

  clang(): Promise<Clang> {
    const { clang, installed } = this.toolchain;
    const ofPackage = (): Promise<Clang> => loadClang(clang);
    this.#clang ??= installed ? openInstalled(installed, this.toolchain, this.terminal, ofPackage) : ofPackage();
    return this.#clang;
  }

  /** A key for the cache, of any parts. */
  keyOf(kind: string, parts: readonly unknown[]): string {
    const { clang, sysroot, installed } = this.toolchain;
    const versions = [buildId, clang.version, sysroot.version, installed?.version];
    return hashOf(new TextEncoder().encode(JSON.stringify([kind, versions, parts])));
  }

  read(key: string): Uint8Array | undefined {
    return this.#store?.read(key);
  }

  write(key: string, bytes: Uint8Array): void {
    this.#store?.write(key, bytes);
  }

  /** Writes messages of the compiler, with the paths of the current folder as a user would write them. */
  say(messages: string): void {
    this.terminal.status?.('');
    if (messages !== '') this.terminal.err(messages.replaceAll(`${process.cwd()}/`, ''));
  }
}

export const hashOf = (bytes: Uint8Array): string => hexOf(hostHash.sha256(bytes));

/** The language of a file by its name; undefined for an object, an archive or another file. */
export function languageOf(path: string): Language | undefined {
  if (/\.cu$/.test(path)) return 'cuda';
  if (/\.(cpp|cc|cxx|c\+\+|C)$/.test(path)) return 'c++';
  return path.endsWith('.c') ? 'c' : undefined;
}

/** The key of the object of a source. */
export function sourceKey(compilations: Compilations, language: Language, options: SourceOptions): string {
  const sources = [...options.files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, bytes]) => [name, hashOf(bytes)]);
  return compilations.keyOf('object', [sources, language, language === 'cuda' ? deviceKey(options) : '', hostKey(language, options)]);
}

/** The object of a source; undefined after messages or reports. */
export async function compileSource(
  compilations: Compilations,
  path: string,
  language: Language,
  words: SourceWords,
  diagnostics: Diagnostics,
): Promise<CompiledObject | undefined> {
  const options = sourceOptions(compilations, path, words);
  const key = sourceKey(compilations, language, options);
  const known = compilations.read(key);
  if (known) return { bytes: known, key };
  compilations.terminal.status?.(`compiling ${path}`);
  const bytes =
    language === 'cuda'
      ? await bothHalves(compilations, key, options, words, diagnostics)
      : await hostHalf(compilations, language, options);
  if (!bytes) return undefined;
  compilations.write(key, bytes);
  return { bytes, key };
}

async function hostHalf(compilations: Compilations, language: Language, options: SourceOptions): Promise<Uint8Array | undefined> {
  const { bytes, messages } = await compileHost(await compilations.clang(), language, options);
  compilations.say(messages);
  return bytes;
}

/** An object with host code and device code, which are compiled at the same time if there is a second core. */
async function bothHalves(
  compilations: Compilations,
  key: string,
  options: SourceOptions,
  words: SourceWords,
  diagnostics: Diagnostics,
): Promise<Uint8Array | undefined> {
  const { terminal } = compilations;
  const imageKey = words.isRelocatable ? relocatableKey(key) : key;
  const aside = hasSecondCore() ? compileAside(['-ptx', '-x', 'cu', ...wordsOf(words), options.path], terminal) : undefined;
  const host = aside && (await compileHost(await compilations.clang(), 'cuda', options, imageOf(imageKey)));
  const device = aside ? ofChild(await aside) : await compileDevice(await compilations.clang(), options, diagnostics);
  compilations.say(device.messages);
  if (device.ptx === undefined) return undefined;
  const { bytes, messages } = host ?? (await compileHost(await compilations.clang(), 'cuda', options, imageOf(imageKey)));
  if (bytes) return withDeviceCode(bytes, imageKey, device.ptx);
  // The device half accepts some of what the host half refuses.
  compilations.say(messages);
  return undefined;
}

const ofChild = ({ bytes, messages }: ChildResult): DeviceCode => ({ ptx: bytes && new TextDecoder().decode(bytes), messages });

/** The words of a command line that say the same. */
export const wordsOf = ({
  folders,
  defines,
  undefines,
  preIncludes = [],
  standard,
  isContracted = true,
  isRelocatable = false,
  isQuiet = false,
}: SourceWords): string[] => [
  ...folders.map((folder) => `-I${folder}`),
  ...defines.map((define) => `-D${define}`),
  ...undefines.map((name) => `-U${name}`),
  ...preIncludes.flatMap((header) => ['-include', header]),
  ...(standard === undefined ? [] : [`-std=${standard}`]),
  ...(isContracted ? [] : ['-fmad=false']),
  ...(isRelocatable ? ['-rdc=true'] : []),
  ...(isQuiet ? ['-w'] : []),
];

/** What the compiler is given for a source. */
export function sourceOptions({ toolchain }: Compilations, path: string, words: SourceWords): SourceOptions {
  const folders = words.folders.map((folder) => resolve(folder));
  const preIncludes = (words.preIncludes ?? []).map((header) => resolve(header));
  const { defines, undefines, standard, isContracted = true, isRelocatable = false, isQuiet = false } = words;
  return {
    path: resolve(path),
    files: includedFiles(path, folders, preIncludes),
    folders,
    defines,
    undefines,
    preIncludes,
    isContracted,
    isRelocatable,
    isQuiet,
    ...(standard === undefined ? {} : { standard }),
    sysroot: toolchain.sysroot,
  };
}

/** An object or archive as it is. */
export function readObject(path: string): CompiledObject {
  const bytes = new Uint8Array(readFileSync(path));
  return { bytes, key: hashOf(bytes) };
}
