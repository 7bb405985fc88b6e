/**
 * An installed clang in place of the one that is WebAssembly: it takes the same arguments, with paths of the machine in place of those of the
 * files in memory. It compiles about ten times faster. The headers of libc++ and the linker may still be those of the package.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { memoryRoots } from './arguments.ts';
import type { Clang, Outcome } from './clang-module.ts';
import { putFile, type Tree } from './tree.ts';

/** The release whose bitcode is translated, and whose libc++ the libraries of host code were built with. */
const release = '22';

export interface InstalledClang {
  /** Its folder, which may have the linker too. */
  readonly folder: string;
  readonly command: string;
  readonly version: string;
}

/** The compiler with this name or path, or why it cannot be used. */
export function installedClang(command: string): InstalledClang | { readonly why: string } {
  const said = (word: string): string => spawnSync(command, [word], { encoding: 'utf8' }).stdout ?? '';
  const version = /clang version ((\d+)\.\S+)/.exec(said('--version'));
  if (!version) return { why: 'it does not run, or is no clang' };
  if (version[2] !== release) return { why: `it is clang ${version[1]}, and a whole program requires clang ${release}` };
  const targets = said('--print-targets');
  const missing = ['nvptx64', 'wasm64'].find((target) => !targets.includes(target));
  if (missing !== undefined) return { why: `it has no target ${missing}` };
  const path = command.includes('/') ? command : spawnSync('which', [command], { encoding: 'utf8' }).stdout.trim();
  return { command, folder: dirname(realpathSync(path)), version: version[1]! };
}

/** Folders of the machine with what the package and this program have in memory. */
export interface HeaderFolders {
  /** The headers of clang and libc++. */
  readonly usr: string;
  /** The CUDA headers. */
  readonly cumetal: string;
  readonly sysroot: string;
}

/** Writes the headers that an installed compiler needs into a folder: the CUDA headers, and the package's headers of clang and libc++. */
export function writeHeaders(folder: string, resources: string, headers: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(headers)) writeInto(join(folder, 'cumetal', path), new TextEncoder().encode(text));
  for (const { name, bytes } of filesOfTar(new Uint8Array(readFileSync(resources))))
    if (/^include\/(?!wasm32)/.test(name)) writeInto(join(folder, 'usr', name), bytes);
}

function writeInto(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/** The files of an archive without links and extended names, as the package's is. Source: POSIX.1-2017, pax, "ustar Interchange Format". */
function* filesOfTar(tar: Uint8Array): Generator<{ readonly name: string; readonly bytes: Uint8Array }> {
  const textAt = (from: number, length: number): string =>
    new TextDecoder().decode(tar.subarray(from, from + length)).replace(/\0.*$/s, '');
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(textAt(at + 124, 12).trim() || '0', 8);
    const prefix = textAt(at + 345, 155);
    const isFile = ['0', ''].includes(textAt(at + 156, 1));
    const name = prefix === '' ? textAt(at, 100) : `${prefix}/${textAt(at, 100)}`;
    if (isFile) yield { name: name.replace(/^\.\//, ''), bytes: tar.subarray(at + 512, at + 512 + size) };
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

/** The compiler as the one of the package is called; `otherwise` runs the tools that are not beside it. */
export function loadInstalled(clang: InstalledClang, folders: HeaderFolders, otherwise: () => Promise<Clang>): Clang {
  const isFolder = (name: string): name is keyof HeaderFolders => Object.hasOwn(folders, name);
  const place = (word: string): string =>
    word.replace(/^(-I|-L)?\/(\w+)(?=\/|$)/, (all, option = '', name) => {
      if (name === memoryRoots.machine) return option;
      return isFolder(name) ? `${option}${folders[name]}` : all;
    });
  return async (args, files) => {
    const tool = toolOf(clang, args[0]!);
    if (tool === undefined) return (await otherwise())(args, files);
    const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
    removeWithProcess(folder);
    try {
      for (const [name, entry] of Object.entries(files))
        if (name !== memoryRoots.machine && !isFolder(name)) writeTree(join(folder, name), entry);
      const overlay = args[1] === '-cc1' ? overlayOf(files[memoryRoots.machine], folder) : [];
      const ran = await run(tool, [...args.slice(1).map(place), ...overlay], folder);
      return { ...ran, files: ran.code === 0 ? outputOf(args, folder) : {} };
    } finally {
      rmSync(folder, { recursive: true, force: true });
      temporary.delete(folder);
    }
  };
}

/**
 * The option by which the compiler reads changed files in place of those of the machine, under their own names. Source: clang's
 * `VirtualFileSystem.h`, "RedirectingFileSystem"; JSON is YAML.
 */
function overlayOf(machine: Tree | Uint8Array | undefined, folder: string): string[] {
  if (machine === undefined || machine instanceof Uint8Array) return [];
  const changed = [...filesIn(machine, '')].filter(([path, bytes]) => !existsSync(path) || !readFileSync(path).equals(bytes));
  if (changed.length === 0) return [];
  const roots = changed.map(([name, bytes], i) => {
    const content = join(folder, `changed-${i}`);
    writeFileSync(content, bytes);
    return { type: 'file', name, 'external-contents': content };
  });
  const description = join(folder, 'changed.yaml');
  writeFileSync(description, JSON.stringify({ version: 0, 'case-sensitive': 'true', 'use-external-names': 'false', roots }));
  return ['-ivfsoverlay', description];
}

/** The files of a tree by their paths. */
function* filesIn(tree: Tree, path: string): Generator<readonly [path: string, bytes: Uint8Array]> {
  for (const [name, entry] of Object.entries(tree))
    if (entry instanceof Uint8Array) yield [`${path}/${name}`, entry];
    else yield* filesIn(entry, `${path}/${name}`);
}

/** Folders of compilations that have not ended. */
const temporary = new Set<string>();
let isWatching = false;

/** Removes a folder if a signal ends this process, which waits for the compiler and has time for it. */
export function removeWithProcess(folder: string): void {
  if (!isWatching)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => {
        for (const each of temporary) rmSync(each, { recursive: true, force: true });
        process.kill(process.pid, signal);
      });
  isWatching = true;
  temporary.add(folder);
}

function toolOf({ command, folder }: InstalledClang, name: string): string | undefined {
  if (name.startsWith('clang')) return command;
  return [join(folder, name), join(folder, `llvm-${name}`)].find(existsSync);
}

function writeTree(path: string, entry: Tree | Uint8Array): void {
  if (entry instanceof Uint8Array) writeInto(path, entry);
  else for (const [name, below] of Object.entries(entry)) writeTree(join(path, name), below);
}

function run(tool: string, args: readonly string[], cwd: string): Promise<Pick<Outcome, 'code' | 'messages'>> {
  return new Promise((resolve) => {
    const child = spawn(tool, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let messages = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        messages += text;
      });
    child.on('error', ({ message }) => resolve({ code: 1, messages: `${message}\n` }));
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 1, messages: signal ? `${messages}clang stopped: ${signal}\n` : messages }),
    );
  });
}

/** The file behind `-o`, or behind the first word of `ar`. */
function outputOf(args: readonly string[], folder: string): Tree {
  const name = args.includes('-o') ? args[args.indexOf('-o') + 1]! : args[2]!;
  const tree: Tree = {};
  if (existsSync(join(folder, name))) putFile(tree, name, new Uint8Array(readFileSync(join(folder, name))));
  return tree;
}
