/**
 * Builds the sysroot of host programs: libc, libc++ and libc++abi for 64-bit pointers (`wasm64-unknown-wasip1`), from sources of Debian by
 * clang as WebAssembly.
 *
 *     bun scripts/toolchain/sysroot.ts [FOLDER]
 *
 * The folder is that of the package `cumetal-cuda` by default; sources and objects stay in `.cache/toolchain`, and objects that are there are not compiled again. The same
 * sources and the same compiler give the same bytes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileIn, openToolchain, type Toolchain, type Tree, treeOf } from './clang.ts';
import { emulation, libcHeaders, libcTree, libcUnits, llvmTree, type Unit } from './libc.ts';
import { abiUnits, arithmeticUnits, cxxUnits } from './libcxx.ts';
import { sources, unpacked } from './sources.ts';

const root = join(import.meta.dirname, '../..');
const cache = join(root, '.cache/toolchain');
const target = 'wasm64-unknown-wasip1';
/** What objects are made by: these scripts and our own sources. Objects of others are not taken. */
const own = readdirSync(join(import.meta.dirname, 'runtime')).map((name) => `runtime/${name}`);
const recipe = ['libc.ts', 'libcxx.ts', 'sysroot.ts', ...own.sort()]
  .reduce((hash, file) => hash.update(readFileSync(join(import.meta.dirname, file))), createHash('sha256'))
  .digest('hex')
  .slice(0, 16);

const common = [
  ...[
    '-triple',
    target,
    '-emit-obj',
    '-mrelocation-model',
    'static',
    '-fgnuc-version=4.2.1',
    '-disable-free',
    '-w',
    '-DNDEBUG',
    '-D__wasip1__',
  ],
  ...['-fvisibility=hidden', '-ffunction-sections', '-fdata-sections', '-target-feature', '+bulk-memory', '-target-feature', '+sign-ext'],
  ...['-target-feature', '+nontrapping-fptoint', '-target-feature', '+mutable-globals', '-resource-dir', '/usr'],
];
/** C++ exceptions as WebAssembly's, in the form that every engine of today has. */
const throwing = ['-target-feature', '+exception-handling'];
const exceptions = ['-exception-model=wasm', '-mllvm', '-wasm-enable-eh', ...throwing];
const cFlags = ['-O2', '-std=gnu17', '-mthread-model', 'single', '-fno-builtin', '-x', 'c'];

/** Our own C++ sources. */
const cxxFlags = ['-O2', '-std=c++17', '-mthread-model', 'single', '-fcxx-exceptions', '-fexceptions', ...exceptions, '-x', 'c++'];

interface Library {
  readonly name: string;
  readonly units: readonly Unit[];
  readonly flags: readonly string[];
  readonly files: Tree;
}

/** Compiles what is not there yet. Returns the objects by name, or the units that failed. */
async function compileAll({ name, units, flags, files }: Library, toolchain: Toolchain): Promise<Tree> {
  const folder = join(cache, 'objects', recipe, name);
  mkdirSync(folder, { recursive: true });
  const objects: Tree = {};
  const failed: string[] = [];
  for (const [i, unit] of units.entries()) {
    const object = `${unit.path.replaceAll('/', '_').replace(/\.\w+$/, '')}.o`;
    const path = join(folder, object);
    if (!existsSync(path)) {
      const args = ['clang', '-cc1', ...common, ...flags, ...unit.flags, '-o', 'out.o', `/src/${unit.path}`];
      let said = '';
      const out = await toolchain.run(args, { ...files }, (text) => {
        said += text;
      });
      if (!out) {
        failed.push(unit.path);
        if (failed.length > 20) throw new Error(`${name}: more than 20 files were not compiled`);
        console.log(`${unit.path}:\n${said.split('\n').slice(0, 12).join('\n')}`);
        continue;
      }
      writeFileSync(path, fileIn(out, 'out.o'));
      if (i % 25 === 24) console.log(`${name}: ${i + 1} of ${units.length}`);
    }
    objects[object] = new Uint8Array(readFileSync(path));
  }
  if (failed.length > 0) throw new Error(`${failed.length} files of ${name} were not compiled`);
  console.log(`${name}: ${units.length} files`);
  return objects;
}

const without = (tree: Tree, name: string): Tree => Object.fromEntries(Object.entries(tree).filter(([each]) => each !== name));

/** An archive of objects, without times and owners. */
async function archive(name: string, objects: Tree, toolchain: Toolchain): Promise<Uint8Array> {
  const out = await toolchain.run(['ar', 'crsD', name, ...Object.keys(objects).sort()], { ...objects });
  if (!out) throw new Error(`${name} was not written`);
  return fileIn(out, name);
}

function writeTree(tree: Tree, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, entry] of Object.entries(tree)) {
    if (typeof entry === 'string' || entry instanceof Uint8Array) writeFileSync(join(folder, name), entry);
    else writeTree(entry, join(folder, name));
  }
}

/** Text of every licence that the files of the sysroot are under. */
function licences(folders: Readonly<Record<keyof typeof sources, string>>): string {
  const parts = Object.entries(sources).flatMap(([which, { name, licences: list }]) =>
    Object.entries(list).map(([title, file]) => {
      const text = readFileSync(join(folders[which as keyof typeof sources], file), 'utf8');
      return `${'='.repeat(100)}\n${title}, from the Debian source package ${name}\n${'='.repeat(100)}\n\n${text.trimEnd()}\n`;
    }),
  );
  return parts.join('\n');
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? sizeOf(path) : statSync(path).size);
  }, 0);
}

async function main(to: string): Promise<void> {
  const folders = { 'wasi-libc': await unpacked('wasi-libc', cache), llvm: await unpacked('llvm', cache) };
  const toolchain = await openToolchain();
  const libc = libcTree(folders['wasi-libc']);
  const headers = libcHeaders(libc);
  const ours = treeOf(join(import.meta.dirname, 'runtime'));
  const system: Tree = { ...headers };
  const includes = ['-internal-isystem', '/usr/include', '-internal-isystem', '/sysroot/include'];
  const cxxIncludes = ['-nostdinc++', '-internal-isystem', '/usr/include/c++/v1', ...includes];
  const sysroot: Tree = { include: system };
  const libraries: Record<string, Library> = {
    libc: { name: 'libc', units: libcUnits(folders['wasi-libc']), flags: [...cFlags, ...includes], files: { src: libc, sysroot } },
    runtime: {
      name: 'runtime',
      units: Object.keys(ours).map((path) => ({
        path,
        flags: path.endsWith('.c') ? [...cFlags, ...throwing, ...includes] : [...cxxFlags, ...cxxIncludes],
      })),
      flags: emulation,
      files: { src: ours, sysroot },
    },
  };
  const llvm = llvmTree(folders.llvm);
  const files = { src: llvm, sysroot };
  libraries.arithmetic = { name: 'arithmetic', units: arithmeticUnits, flags: ['-O2', ...includes], files };
  libraries['libc++abi'] = { name: 'libc++abi', units: abiUnits, flags: ['-O2', ...exceptions, ...cxxIncludes], files };
  libraries['libc++'] = { name: 'libc++', units: cxxUnits, flags: ['-O2', ...exceptions, ...cxxIncludes], files };
  const objects: Record<string, Tree> = {};
  for (const [name, library] of Object.entries(libraries)) objects[name] = await compileAll(library, toolchain);
  rmSync(to, { recursive: true, force: true });
  writeTree(headers, join(to, 'include'));
  const lib: Tree = { 'crt1-command.o': objects.runtime!['start.o']! };
  const parts = { 'libc.a': { ...objects.libc, ...without(objects.runtime!, 'start.o'), ...objects.arithmetic } };
  for (const [name, list] of Object.entries({ ...parts, 'libc++.a': objects['libc++']!, 'libc++abi.a': objects['libc++abi']! }))
    lib[name] = await archive(name, list as Tree, toolchain);
  // Names that build scripts give to the linker, and that are part of libc here.
  for (const name of ['m', 'rt', 'pthread', 'dl', 'util', 'crypt']) lib[`lib${name}.a`] = new TextEncoder().encode('!<arch>\n');
  writeTree(lib, join(to, 'lib'));
  writeFileSync(join(to, 'LICENSES.txt'), licences(folders));
  for (const name of Object.keys(lib).sort()) console.log(`${String((lib[name] as Uint8Array).length).padStart(10)} lib/${name}`);
  console.log(`${String(sizeOf(join(to, 'include'))).padStart(10)} include\n${String(sizeOf(to)).padStart(10)} ${to}`);
}

await main(process.argv[2] ?? join(root, 'packages/cumetal-cuda/sysroot'));
