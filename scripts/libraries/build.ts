/**
 * Builds CUDA's libraries: cuBLAS, cuRAND, cuFFT, cuSPARSE and cuSOLVER from the sources of `cuda/lib`, each as an archive of objects with host
 * code and device code.
 *
 *     bun scripts/libraries/build.ts [FOLDER] [--only=NAME,…]
 *
 * The folder is that of the package `cumetal-cuda` by default, beside the sysroot, which they are compiled with. Objects stay in
 * `.cache/libraries`, and are compiled again when a source, a header or the compiler has changed. The same sources and the same compiler give
 * the same bytes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { imageOf, withDeviceCode } from '../../src/program/index.ts';
import {
  archive,
  type Clang,
  compileDevice,
  compileHost,
  deviceKey,
  findPackage,
  findSysroot,
  hostKey,
  includedFiles,
  loadClang,
  type SourceOptions,
  type Sysroot,
} from '../../src/toolchain/index.ts';
import { type LibraryUnit, libraryUnits } from './units.ts';

const root = join(import.meta.dirname, '../..');
const cache = join(root, '.cache/libraries');
const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } });

const digest = (parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 32);
};

const objectName = ({ source, variant }: LibraryUnit): string =>
  `${basename(source).replace(/\.cu$/, '')}${variant === undefined ? '' : `-${variant}`}.o`;

interface Builder {
  readonly clang: Clang;
  readonly compiler: string;
  readonly sysroot: Sysroot;
}

/** Paths in objects are those below the root of the repository, wherever that is. */
function optionsOf({ source, defines = [] }: LibraryUnit, sysroot: Sysroot): SourceOptions {
  const path = join(root, 'cuda/lib', source);
  const files = new Map([...includedFiles(path, [])].map(([name, bytes]) => [name.slice(root.length), bytes]));
  return { path: path.slice(root.length), files, folders: [], defines, sysroot };
}

/** The object of a unit: of the cache, or compiled. Throws with the messages of the compiler. */
async function objectOf({ clang, compiler, sysroot }: Builder, unit: LibraryUnit): Promise<Uint8Array> {
  const options = optionsOf(unit, sysroot);
  const sources = [...options.files].sort(([a], [b]) => (a < b ? -1 : 1)).flat();
  const place = join(cache, digest([compiler, deviceKey(options), hostKey('cuda', options), ...sources]));
  if (existsSync(place)) return new Uint8Array(readFileSync(place));
  const diagnostics = new Diagnostics();
  const device = await compileDevice(clang, options, diagnostics);
  const reports = diagnostics.list.map(({ code, message }) => `${code}: ${message}`);
  if (device.ptx === undefined) throw new Error([device.messages, ...reports].join('\n'));
  const key = digest([device.ptx]);
  const host = await compileHost(clang, 'cuda', options, imageOf(key));
  if (!host.bytes) throw new Error(host.messages);
  if (host.messages !== '') console.log(host.messages);
  const object = withDeviceCode(host.bytes, key, device.ptx);
  writeFileSync(place, object);
  return object;
}

async function libraryOf(builder: Builder, name: string, units: readonly LibraryUnit[]): Promise<Uint8Array> {
  const objects: { name: string; bytes: Uint8Array }[] = [];
  for (const unit of units) {
    const label = `${unit.source}${unit.variant === undefined ? '' : ` ${unit.variant}`}`;
    try {
      objects.push({ name: objectName(unit), bytes: await objectOf(builder, unit) });
    } catch (error) {
      throw new Error(`${label}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const { bytes, messages } = await archive(builder.clang, objects);
  if (!bytes) throw new Error(`${name}: ${messages}`);
  return bytes;
}

async function main(): Promise<void> {
  const found = findPackage([root], process.env.CUMETAL_CLANG);
  const sysroot = findSysroot([root], process.env.CUMETAL_SYSROOT);
  if (!found || !sysroot) throw new Error('the libraries are compiled with the sysroot: `npm ci` and `npm run sysroot` come first');
  const to = positionals[0] ?? join(dirname(sysroot.folder), 'libraries');
  mkdirSync(cache, { recursive: true });
  mkdirSync(to, { recursive: true });
  const builder = { clang: await loadClang(found), compiler: found.version, sysroot };
  const only = values.only?.split(',');
  for (const [name, units] of Object.entries(libraryUnits)) {
    if (only && !only.includes(name)) continue;
    const bytes = await libraryOf(builder, name, units);
    writeFileSync(join(to, `lib${name}.a`), bytes);
    console.log(`${String(bytes.length).padStart(10)} lib${name}.a, ${units.length} objects`);
  }
}

await main();
