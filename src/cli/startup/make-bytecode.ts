/**
 * Makes the bytecode of the built program for the running Bun, which has the bundler that does it. Reading and compiling the text of the
 * program takes half of a short run, and bytecode depends on the exact version of Bun, so that a package cannot bring it.
 * `start-built.ts` starts this file as a process after the first run; `scripts/bundle.ts` calls it in a checkout.
 * Bun makes bytecode of CommonJS modules. Parts that are loaded together are functions of one such file, because finding and opening a file
 * takes longer than reading it; the others stay files. `scripts/bundle.ts` lists the groups.
 * The package may be moved or copied with its bytecode, so that nothing in it names a place: a part finds its own at run time.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { buildId } from '../command/build-id.ts';
import { bytecodeName } from './bytecode-name.ts';
import { bytecodeFolder, currentFile, isLeft, makingFolder, programFiles } from './bytecode-place.ts';
import { socketName } from './socket-name.ts';

/** Relative imports in a part, static and dynamic. */
const importedPart = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"']+\.js)["']/g;

/** The program's parts, as paths in the folder of the built files. */
function partsOf(dist: string): string[] {
  const parts = new Set<string>(programFiles);
  // The set grows while it is walked.
  for (const part of parts)
    for (const [, path] of readFileSync(join(dist, part), 'utf8').matchAll(importedPart)) parts.add(join(dirname(part), path!));
  return [...parts];
}

/** Parts that are read as one file, by what starts them, in the folder of the built files. */
const groupsFile = 'groups.json';

/** What is in that file: parts that are read as one, and names of functions by their part. */
interface GroupsFile {
  readonly groups: readonly (readonly string[])[];
  readonly lazy: Readonly<Record<string, readonly string[]>>;
}

/** The file of each part that shares one, and the function of it there. */
type GroupOf = ReadonlyMap<string, { readonly file: string; readonly name: string }>;

/** How parts are loaded. */
interface Groups {
  readonly groupOf: GroupOf;
  /** Of parts, the functions that load it when they are called. */
  readonly lazy: ReadonlyMap<string, ReadonlySet<string>>;
}

function groupsOf(dist: string): Groups {
  const { groups, lazy }: GroupsFile = JSON.parse(readFileSync(join(dist, groupsFile), 'utf8'));
  const groupOf: GroupOf = new Map(
    groups.flatMap((parts, group) => parts.map((part, i) => [part, { file: `parts/group${group}.js`, name: `part${i}` }] as const)),
  );
  return { groupOf, lazy: new Map(Object.entries(lazy).map(([part, names]) => [part, new Set(names)])) };
}

/**
 * The text with `require` for imports of parts: Bun reads no bytecode for `import()`, and what it makes of an import is a call of a getter at
 * every use. `from` is the folder of the part.
 */
function withRequire(text: string, from: string, { groupOf, lazy }: Groups): string {
  const required = (quoted: string): string => {
    const to = groupOf.get(join(from, quoted.slice(1, -1)));
    return to ? `require(${JSON.stringify(`../${to.file}`)}).${to.name}()` : `require(${quoted})`;
  };
  const lazyOf = (quoted: string): ReadonlySet<string> | undefined => lazy.get(join(from, quoted.slice(1, -1)));
  return text
    .replaceAll(/\bimport\((["']\.{1,2}\/[^"']+["'])\)/g, (_, path: string) => `Promise.resolve().then(() => ${required(path)})`)
    .replaceAll(/\bimport\{([^{}]*)\}from(["']\.{1,2}\/[^"']+["']);/g, (_, names: string, path: string) =>
      importOf(names, required(path), lazyOf(path)),
    )
    .replaceAll(/\bimport(["']\.{1,2}\/[^"']+["']);/g, (_, path: string) => (lazyOf(path) ? '' : `${required(path)};`));
}

/** Statements for imported names: those in `lazy` are functions that load what they call. */
function importOf(names: string, required: string, lazy: ReadonlySet<string> | undefined): string {
  const all = names.split(',').map((each) => {
    const [name = '', local = name] = each.trim().split(/\s+as\s+/);
    return { name, local, isLazy: lazy?.has(name) === true };
  });
  const taken = all.filter(({ isLazy }) => !isLazy).map(({ name, local }) => (name === local ? name : `${name}:${local}`));
  const called = all.filter(({ isLazy }) => isLazy).map(({ name, local }) => `${local} = (...args) => ${required}.${name}(...args)`);
  return `${taken.length > 0 ? `const {${taken}} = ${required};` : ''}${called.length > 0 ? `const ${called};` : ''}`;
}

/** What a part has in the place of `import.meta.url`, for which the bundler would write where the part is now. */
const ownUrl = 'urlOfThisPart';

/** The text with that name defined, if it is used: the URL of the built file that the part is made of, from the path of the file that Bun loads. */
function withOwnUrl(text: string, part: string, file: string): string {
  if (!text.includes('import.meta.url')) return text;
  // Bun calls a CommonJS module with its path as the fourth argument; the name for it, `__filename`, is one that the bundler replaces too.
  const up = '../'.repeat(file.split('/').length + 1);
  return `const ${ownUrl} = new URL(${JSON.stringify(up + part)}, Bun.pathToFileURL(arguments[3])).href;${text}`;
}

/** A part as a function that runs it once and gives what it exports. */
function asFunction(text: string, name: string): string {
  const body = text
    .replaceAll(
      /\bimport\s*\{([^{}]*)\}\s*from\s*(["'][\w:/]+["']);/g,
      (_, names: string, path: string) => `const {${names.replaceAll(/\bas\b/g, ':')}} = require(${path});`,
    )
    .replaceAll(/\bimport\s*\*\s*as (\w+) from\s*(["'][\w:/]+["']);/g, 'const $1 = require($2);')
    .replace(/\bexport\{([^{}]*)\};\s*$/, (_, names: string) => `return {${names.replaceAll(/(\w+) as (\w+)/g, '$2:$1')}};`);
  return `let ${name}_;export const ${name} = () => ${name}_ ??= (() => {${body}})();`;
}

/**
 * Makes the bytecode beside the built files, whose build id is given; they appear all at once or not at all. Does nothing where another process
 * makes it. Throws what the bundler or the file system says.
 */
export async function makeBytecode(given: string, build: string): Promise<void> {
  // The bundler names files by their real paths.
  const dist = realpathSync(given);
  const folder = bytecodeFolder(dist);
  const made = makingFolder(dist);
  mkdirSync(dirname(folder), { recursive: true });
  if (!isClaimed(dist)) return;
  const groups = groupsOf(dist);
  const files = [...new Set([...groups.groupOf.values()].map(({ file }) => file))];
  const parts = { name: 'parts', setup: (build: Bun.PluginBuilder) => onParts(build, dist, groups) };
  await Bun.build({
    entrypoints: [...partsOf(dist).filter((part) => !groups.groupOf.has(part)), ...files].map((part) => join(dist, part)),
    root: dist,
    outdir: made,
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    minify: { whitespace: true, identifiers: true },
    define: { 'import.meta.url': ownUrl },
    plugins: [parts],
  });
  if (!isWhole(made)) return;
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
  writeFileSync(`${made}-name`, `${bytecodeName()}\n${process.execPath}\n${socketName(build)}\n`);
  renameSync(`${made}-name`, currentFile(dist));
}

/** Whether this process is the one that makes it. */
function isClaimed(dist: string): boolean {
  const made = makingFolder(dist);
  try {
    if (isLeft(dist)) {
      // Of several processes, one can rename it.
      renameSync(made, `${made}-${process.pid}`);
      rmSync(`${made}-${process.pid}`, { recursive: true, force: true });
    }
    mkdirSync(made);
    return true;
  } catch {
    return false;
  }
}

/** Whether every file is there that starts the program or that a file requires. */
function isWhole(folder: string): boolean {
  if (!programFiles.every((name) => existsSync(join(folder, name)))) return false;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  return files.every((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\brequire\("(\.{1,2}\/[^"]+)"\)/g)].every(([, to]) =>
      existsSync(join(folder, dirname(name), to!)),
    ),
  );
}

function onParts(build: Bun.PluginBuilder, dist: string, groups: Groups): void {
  const readPart = (part: string, file: string): string =>
    withOwnUrl(withRequire(readFileSync(join(dist, part), 'utf8'), dirname(part), groups), part, file);
  build.onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) => (kind.startsWith('entry-point') ? undefined : { path, external: true }));
  build.onResolve({ filter: /\/group\d+\.js$/ }, ({ path, kind }) =>
    kind.startsWith('entry-point') ? { path } : { path, external: true },
  );
  build.onLoad({ filter: /\.js$/ }, ({ path }) => {
    const part = relative(dist, path);
    const members = [...groups.groupOf].filter(([, { file }]) => file === part);
    const texts = members.map(([each, { name, file }]) => asFunction(readPart(each, file), name));
    const contents = texts.length > 0 ? texts.join('\n') : readPart(part, part);
    return { contents, loader: 'js' };
  });
}

if (import.meta.main) {
  setPriority(10);
  await makeBytecode(process.argv[2]!, buildId!);
}
