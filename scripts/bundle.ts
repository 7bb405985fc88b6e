/**
 * Bundles the sources into the files that the package has, for Bun and Node: `bun scripts/bundle.ts [FOLDER]`, `dist` where none is named.
 * `npm install` runs this in a checkout, `npm run build` adds the types and the files for pages. Built files of these sources stay.
 * The library and the command line share their parts, so that each module exists once in a process: a class that existed twice would not
 * be an instance of itself. A command is a part of its own, loaded when it runs.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';
import { makeBytecode } from '../src/cli/startup/make-bytecode.ts';
import { directImports } from './direct-imports.ts';
import { embeddedHeaders } from './embedded-headers.ts';
import { packageEntries } from './entries.ts';
import { checkLazyFunctions, launchFunctions, lazyFunctions, lazyModules, neededByLaunches } from './lazy-modules.ts';
import { licensesOf } from './licenses.ts';
import { hashOf, sourcesOf } from './sources.ts';
import { embeddedWorker } from './worker.ts';

const root = join(import.meta.dirname, '..');
/** The folder of the built files. */
const folder = process.argv[2] ?? join(root, 'dist');
/** Where they are made, so that the folder is whole or absent. */
const made = `${folder}.new`;

/** The starts of the command line with bytecode, all of them with the command line, and the process that makes the bytecode. */
const bytecodeStarts = ['src/cli/start-fast.ts', 'src/cli/start-helped.ts'];
const programs = ['src/cli/start-built.ts', 'src/cli/program.ts', ...bytecodeStarts, 'src/cli/startup/make-bytecode.ts'];
const libraries = packageEntries().map(({ source }) => source);

/** Every source of the built files. */
const starts = [...programs, ...libraries, 'src/device/cpu/workers/worker.ts', 'src/device/webgpu/worker/worker.ts'];
/** Headers, whose text is in the built files. */
const headers = new Glob('cuda/include/**').scanSync({ cwd: root });
const sources = [...new Set(['package.json', ...headers, ...starts.flatMap((file) => [...sourcesOf(file)])])];
const hash = hashOf(sources);

/** A module that is not in a file, and of which nothing but the division into parts stays. */
const launchEntry = 'src/needed-by-launches.js';
const launchFile = 'needed-by-launches.js';

async function bundle(): Promise<void> {
  await checkLazyFunctions();
  const { success, logs, metafile } = await Bun.build({
    entrypoints: [...programs, ...libraries, ...lazyFunctions, launchEntry].map((file) => join(root, file)),
    files: { [join(root, launchEntry)]: neededByLaunches() },
    root: join(root, 'src'),
    outdir: made,
    naming: { entry: '[dir]/[name].js', chunk: 'parts/[hash].js' },
    target: 'node',
    format: 'esm',
    splitting: true,
    // Names stay, for stack traces and for people who read the files.
    minify: { whitespace: true, syntax: true },
    external: ['bun:*'],
    metafile: true,
    // Tells the compilations of this build from those of others (`src/cli/command/build-id.ts`).
    // A dependency looks at its own path, to see whether names have upper and lower case: any file of the machine that it runs on will do.
    define: { CUMETAL_BUILD: JSON.stringify(hash), __filename: 'process.execPath' },
    plugins: [lazyModules, embeddedHeaders, await embeddedWorker(), directImports(join(root, 'src'))],
  });
  if (!success) throw new Error(logs.map(String).join('\n'));
  const twice = inSeveralFiles(metafile!);
  if (twice.length > 0) throw new Error(`modules that are in more than one built file: ${twice.join(', ')}`);
  checkPlaces(metafile!);
  writeFileSync(join(made, 'groups.json'), `${JSON.stringify({ groups: partGroups(metafile!), lazy: lazyNames(metafile!) })}\n`);
  rmSync(join(made, launchFile));
  writeFileSync(join(made, 'licenses.txt'), licensesOf(Object.keys(metafile!.inputs)));
}

type Metafile = NonNullable<Bun.BuildOutput['metafile']>;

/** What a command loads that asks the helper. */
const clientStarts = ['src/cli/start-helped.ts', 'src/cli/helper/client.ts'];

/** What a launch loads that has its code stored. */
const storedLaunch = ['src/device/index.ts', 'src/device/cpu/index.ts'];

/**
 * The files that parts are in, by what loads them: a part is in the first that names an entry which needs it. `and` are entries one of which must need
 * it too. To find and open a file takes longer than to read parts that are not needed, and a build opens the first four.
 */
const layers: readonly { readonly of: readonly string[]; readonly and?: readonly string[] }[] = [
  { of: [...bytecodeStarts, ...clientStarts] },
  { of: ['src/cli/build.ts'] },
  { of: ['src/compile/index.ts'], and: [...storedLaunch, ...launchFunctions] },
  { of: ['src/compile/index.ts'] },
  { of: ['src/cli/check/index.ts', 'src/cli/run/index.ts'] },
  { of: storedLaunch },
  ...lazyFunctions.map((file) => ({ of: [file] })),
];

/** Of parts with modules that are loaded when a function of theirs is called: the names of these functions there. */
function lazyNames({ outputs }: Metafile): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (!lazyFunctions.some((file) => file === entryPoint)) continue;
    // The bundler puts a module that others import into a part, which the file of the module exports again. It names parts that this one needs as well.
    const text = readFileSync(join(made, path), 'utf8');
    const [, names, from] = /^import\{([^{}]*)\}from"([^"]+)";(?:import"[^"]+";)*export\{[^{}]*\};\s*$/.exec(text) ?? [];
    if (names === undefined || from === undefined) throw new Error(`${path} does not only name functions of one part`);
    const part = join(dirname(path), from);
    found[part] = [...(found[part] ?? []), ...names.split(',').map((name) => name.split(' as ')[0]!)];
  }
  return found;
}

/** Parts that the program loads together, as paths in the folder of the built files. */
function partGroups({ outputs }: Metafile): string[][] {
  const byEntry = new Map(Object.entries(outputs).map(([path, { entryPoint }]) => [entryPoint, path]));
  const later = new Set(Object.keys(lazyNames({ inputs: {}, outputs })));
  const loadedBy = (entries: readonly string[]): Set<string> =>
    new Set(entries.flatMap((entry) => [...closureOf(byEntry.get(entry)!, outputs, later)]));
  const loads = layers.map(({ of, and }) => {
    const both = and && loadedBy(and);
    return new Set([...loadedBy(of)].filter((path) => !both || both.has(path)));
  });
  const groups = layers.map((): string[] => []);
  for (const [path, { entryPoint = '' }] of Object.entries(outputs).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const layer = loads.findIndex((each) => each.has(path));
    if (layer >= 0 && normalize(path) !== launchFile && !bytecodeStarts.includes(entryPoint)) groups[layer]!.push(normalize(path));
  }
  return groups.filter((each) => each.length > 0);
}

/** An output and those that it imports, and those that they import, without what is loaded later. */
function closureOf(path: string, outputs: Metafile['outputs'], later: ReadonlySet<string>): Set<string> {
  // A file that names the functions of a part needs it.
  const isNaming = (from: string): boolean => from === path && lazyFunctions.some((file) => file === outputs[from]?.entryPoint);
  const found = new Set([path]);
  // The set grows while it is walked.
  for (const each of found)
    for (const { path: to, kind } of outputs[each]?.imports ?? [])
      if (kind === 'import-statement' && outputs[to] && (isNaming(each) || !later.has(normalize(to)))) found.add(to);
  return found;
}

/** Throws if a built file names the place where it was made, or asks for its own in a way that bytecode has not (`make-bytecode.ts`). */
function checkPlaces({ outputs }: Metafile): void {
  for (const path of Object.keys(outputs)) {
    const text = readFileSync(join(made, path), 'utf8');
    const [found] = text.includes(root) ? [root] : (/\bimport\.meta\b(?!\.url\b)[.\w]*/.exec(text) ?? []);
    if (found !== undefined) throw new Error(`${path} has \`${found}\``);
  }
}

/** Modules whose text is in more than one output. */
function inSeveralFiles({ outputs }: Metafile): string[] {
  const count = new Map<string, number>();
  for (const { inputs } of Object.values(outputs))
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) if (bytesInOutput > 0) count.set(input, (count.get(input) ?? 0) + 1);
  return [...count].filter(([, times]) => times > 1).map(([input]) => input);
}

/** In the folder of the built files, for `bin/cumetal` of a checkout: whether any source is newer. */
const newer = 'newer.sh';

/** In shell; a list takes half of the time that looking for the sources takes. */
function writeNewer(): void {
  const tests = sources.map((file) => `[ "$root/${file}" -nt "$built" ] && return 0\n`);
  writeFileSync(join(made, newer), `# ${hash}\n${tests.join('')}return 1\n`);
}

/** Whether the folder has the built files of these sources. */
const isFresh = (): boolean => existsSync(join(folder, newer)) && readFileSync(join(folder, newer), 'utf8').startsWith(`# ${hash}\n`);

/** Makes the built files anew; the folder appears whole or not at all. */
async function remake(): Promise<void> {
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  await bundle();
  writeNewer();
  await makeBytecode(made, hash);
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
}

if (isFresh()) {
  // A source may have the same text and a newer time.
  utimesSync(join(folder, 'cli/start-built.js'), new Date(), new Date());
} else await remake();
