/** A program from its files: sources are compiled, objects and archives are taken as they are, and all of them are linked. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import { SourceFile } from '../../base/source.ts';
import { cudaFunctions, programBase, relocatableCodes, withLinkedCode } from '../../program/index.ts';
import { cudaLibrariesOf, cudaLibraryNames, type Language, link } from '../../toolchain/index.ts';
import { linkSources } from '../input/linked.ts';
import { exists, type Terminal } from '../terminal/index.ts';
import { membersOf, neededMembers } from './archive-members.ts';
import {
  type Compilations,
  type CompiledObject,
  compileSource,
  languageOf,
  readObject,
  type SourceWords,
  sourceKey,
  sourceOptions,
} from './compile.ts';
import { libraryOf } from './library-stub.ts';

/** A source, object or archive; its language where its name does not say it. */
export interface ProgramPart {
  readonly path: string;
  readonly language?: Language;
}

export interface ProgramWords extends SourceWords {
  readonly files: readonly ProgramPart[];
  /** Folders with archives, and names of archives in them or of libraries. */
  readonly libraryFolders: readonly string[];
  readonly libraries: readonly string[];
}

/** The words of a command line that name the same libraries. */
export const linkWordsOf = ({ libraryFolders, libraries }: ProgramWords): string[] => [
  ...libraryFolders.map((folder) => `-L${folder}`),
  ...libraries.map((name) => `-l${name}`),
];

/** Objects of files, in their order; undefined after messages or reports for the files that failed. */
export async function objectsOf(
  compilations: Compilations,
  words: ProgramWords,
  diagnostics: Diagnostics,
): Promise<(CompiledObject & { readonly name: string })[] | undefined> {
  const objects: (CompiledObject & { readonly name: string })[] = [];
  let isWhole = true;
  for (const part of [...words.files, ...archivesOf(compilations, words)]) {
    const object = await objectOf(compilations, part, words, diagnostics);
    if (object) objects.push({ ...object, name: part.path });
    else isWhole = false;
  }
  return isWhole ? objects : undefined;
}

async function objectOf(
  compilations: Compilations,
  { path: name, language = languageOf(name) }: ProgramPart,
  words: ProgramWords,
  diagnostics: Diagnostics,
): Promise<CompiledObject | undefined> {
  if (language) return compileSource(compilations, name, language, words, diagnostics);
  const object = readObject(name);
  if (isLinkable(object.bytes)) return object;
  compilations.say(`error: \`${printable(name)}\` is neither a source nor an object or archive that \`cumetal cc\` made\n`);
  return undefined;
}

/** Modules of WebAssembly, and archives. */
const isLinkable = (bytes: Uint8Array): boolean => {
  const head = String.fromCharCode(...bytes.subarray(0, 8));
  return head.startsWith('\0asm') || head === '!<arch>\n';
};

/** Archives that `-l` finds in folders of `-L`, and those of CUDA's libraries. */
function archivesOf({ toolchain: { sysroot } }: Compilations, { libraryFolders, libraries }: ProgramWords): ProgramPart[] {
  const named = libraries.flatMap((name) => libraryFolders.map((folder) => `${folder}/lib${name}.a`));
  return [...named.filter(isArchive), ...cudaLibrariesOf(libraries, sysroot).map(({ path }) => path)].map((path) => ({ path }));
}

/** Whether an archive is there, and does not stand for a library. */
const isArchive = (path: string): boolean => exists(path) && libraryOf(new Uint8Array(readFileSync(path))) === undefined;

/** The name of the object of a source; other names stay. */
export const objectName = (path: string): string => path.replace(/\.(cu|cpp|cc|cxx|c\+\+|C|c)$/, '.o');

/** Libraries of CUDA and of compilers that are part of what runs the program or have no use in it, so that no file has their names. */
const isBuiltIn =
  /^(cuda|cudart|cudart_static|cudadevrt|culibos|nvToolsExt|nvToolsExt64|nvrtc|nvrtc_static|nvrtc-builtins|nvrtc-builtins_static|stdc\+\+|stdc\+\+fs|gcc|gcc_s|gomp|gfortran|quadmath|c|c\+\+|c\+\+abi)$/;

/** The first file that cannot be read, and why. */
export function unreadable(
  { readFile }: Terminal,
  files: readonly ProgramPart[],
): { readonly path: string; readonly why: string } | undefined {
  for (const { path } of files) {
    const read = readFile(path);
    if (!(read instanceof Uint8Array)) return { path, why: read.why };
  }
  return undefined;
}

/** The linked program from the cache. */
export function knownProgram(compilations: Compilations, words: ProgramWords): Uint8Array | undefined {
  if (unreadable(compilations.terminal, words.files)) return undefined;
  const keys: string[] = [];
  for (const { path, language = languageOf(path) } of [...words.files, ...archivesOf(compilations, words)]) {
    keys.push(language ? sourceKey(compilations, language, sourceOptions(compilations, path, words)) : readObject(path).key);
  }
  return compilations.read(programKey(compilations, keys, words));
}

const programKey = (compilations: Compilations, objects: readonly string[], { libraries, libraryFolders }: ProgramWords): string =>
  compilations.keyOf('program', [objects, libraries, libraryFolders]);

/** The linked program; undefined after messages or reports. */
export async function buildProgram(
  compilations: Compilations,
  words: ProgramWords,
  diagnostics: Diagnostics,
): Promise<Uint8Array | undefined> {
  const objects = await objectsOf(compilations, words, diagnostics);
  if (!objects) return undefined;
  const libraries = librariesOf(compilations, words);
  if (!libraries) return undefined;
  const keys = objects.map((object) => object.key);
  const key = programKey(compilations, keys, words);
  const known = compilations.read(key);
  if (known) return known;
  compilations.terminal.status?.('linking');
  const bytes = await linkHost(compilations, objects, libraries, unnamedLibraries(compilations, words));
  const linked = bytes && linkDevice(bytes, diagnostics);
  if (linked) compilations.write(key, linked);
  return linked;
}

/** Links host code, and once more with members of archives whose device code the program needs. */
async function linkHost(
  compilations: Compilations,
  given: readonly { readonly name: string; readonly bytes: Uint8Array }[],
  libraries: readonly string[],
  unnamed: readonly string[],
): Promise<Uint8Array | undefined> {
  const objects = given.map(({ name, bytes }) => ({ name: objectName(name), bytes }));
  const members = objects.flatMap(({ bytes }) => membersOf(bytes));
  for (;;) {
    const { bytes, messages } = await link(await compilations.clang(), {
      objects,
      libraries,
      sysroot: compilations.toolchain.sysroot.tree(),
      base: programBase,
      imports: Object.keys(cudaFunctions),
      unnamed,
    });
    const more = bytes ? neededMembers(bytes, members) : [];
    if (more.length === 0) {
      compilations.say(messages);
      return bytes;
    }
    for (const member of more) members.splice(members.indexOf(member), 1);
    objects.push(...more);
  }
}

/** The program with its relocatable device code linked; undefined after reporting what is undefined or defined twice. */
function linkDevice(program: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined {
  const codes = relocatableCodes(program);
  if (codes.size === 0) return program;
  const sources = [...codes.values()].map((text, i) => new SourceFile(`device code ${i + 1}`, text));
  const source = linkSources(sources, 'linked.ptx', diagnostics);
  return source && withLinkedCode(program, codes.keys(), source.text);
}

/** CUDA's libraries that are there, and that the command line does not name. */
function unnamedLibraries({ toolchain: { sysroot } }: Compilations, { libraries }: ProgramWords): string[] {
  const named = new Set(cudaLibrariesOf(libraries, sysroot).map(({ library }) => library));
  return cudaLibraryNames(sysroot).filter((name) => !named.has(name));
}

/** The libraries of the sysroot that are named; undefined after a message for one that is nowhere. */
function librariesOf({ toolchain, terminal }: Compilations, { libraries, libraryFolders }: ProgramWords): string[] | undefined {
  const known = new Set(readdirSync(`${toolchain.sysroot.folder}/lib`).map((file) => basename(file).replace(/^lib(.*)\.a$/, '$1')));
  const ofCuda = new Set(cudaLibrariesOf(libraries, toolchain.sysroot).map(({ name }) => name));
  const isFound = (name: string): boolean => ofCuda.has(name) || libraryFolders.some((folder) => isArchive(`${folder}/lib${name}.a`));
  const missing = libraries.filter((name) => !(isBuiltIn.test(name) || known.has(name) || isFound(name)));
  for (const name of missing) terminal.err(`error: there is no library \`${printable(name)}\`\n`);
  return missing.length > 0 ? undefined : libraries.filter((name) => known.has(name) && !isBuiltIn.test(name));
}
