/**
 * Makes the page that compiles and runs whole CUDA programs, as files that any server can give:
 * `bun scripts/browser/program-page.ts FOLDER [--clang URL]`. `--clang` names where the browser fetches the largest file of the compiler, such as
 * `https://cdn.jsdelivr.net/npm/@yowasp/clang@VERSION/gen/`; without it, the folder has that file, compressed.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Glob } from 'bun';
import { hexOf } from '../../src/base/bytes.ts';
import { sha256 } from '../../src/base/sha256.ts';
import type { LargeFile, Manifest } from '../../src/page/manifest.ts';
import { findPackage, findSysroot } from '../../src/toolchain/index.ts';
import { embeddedHeaders } from '../embedded-headers.ts';
import { embeddedWorker } from '../worker.ts';
import { type Built, withoutLibraries } from './build.ts';
import { type TarEntry, tarOf, untarred } from './tar.ts';

const root = join(import.meta.dirname, '../..');
const source = join(root, 'src/page');
/** What was compressed, by its hash: the compiler takes some seconds. */
const kept = join(root, 'node_modules/.cache/cumetal-page');

/** Headers of the compiler that no program here includes: for other processors and languages, and libraries of another memory. */
const unused =
  /^(?:lib|bin|share|wasi-sdk)\/|^include\/(?:wasm32-[^/]*|sanitizer|cuda_wrappers|fuzzer|profile|xray|openmp_wrappers|llvm_libc_wrappers|ppc_wrappers|hlsl|zos_wrappers|orc)\/|^include\/c\+\+\/v1\/__cxx03\/|^include\/(?:opencl|altivec|vecintrin|avx|hexagon|hvx|arm_|riscv|amx|s390|vaes|msa|lasx|lsx|larch|sifive|htm|ppc|x86|intrin0|[a-z]+mmintrin|.*intrin\.h)[^/]*/;

const utf8 = new TextEncoder();

/** Packages that the page is made of, or what is missing. */
function packages(): { readonly clang: string; readonly version: string; readonly sysroot: string } | string {
  const clang = findPackage([root], process.env.CUMETAL_CLANG);
  const sysroot = findSysroot([root], process.env.CUMETAL_SYSROOT);
  if (!clang) return 'the package `@yowasp/clang` is not installed';
  if (!sysroot) return 'the libraries of host code are not there: `npm run sysroot` builds them';
  return { clang: dirname(clang.entry), version: clang.version, sysroot: sysroot.folder };
}

const zipped = (bytes: Uint8Array, hash: string): Uint8Array => {
  const path = join(kept, `${hash}.gz`);
  if (existsSync(path)) return new Uint8Array(readFileSync(path));
  const made = Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>, { level: 9 });
  mkdirSync(kept, { recursive: true });
  writeFileSync(path, made);
  return made;
};

/** The files that are fetched on first use, in `clang/`, and what the manifest says of them. */
function largeFiles(
  parts: Exclude<ReturnType<typeof packages>, string>,
  clangUrl: string | undefined,
): { manifest: Manifest; files: Built[] } {
  const read = (name: string): Uint8Array => new Uint8Array(readFileSync(join(parts.clang, name)));
  const wasm = ['llvm.core.wasm', 'llvm.core2.wasm', 'llvm.core3.wasm', 'llvm.core4.wasm'];
  const contents: [string, Uint8Array][] = wasm.map((name) => [name, read(name)]);
  contents.push(['llvm-resources.tar', tarOf(untarred(read('llvm-resources.tar')).filter(({ path }) => !unused.test(path)))]);
  contents.push(['sysroot.tar', tarOf(filesBelow(parts.sysroot))]);
  const files: Built[] = [{ path: 'clang/bundle.js', bytes: read('bundle.js') }];
  const listed: Record<string, LargeFile> = {};
  for (const [name, bytes] of contents) {
    const hash = hexOf(sha256(bytes));
    const small = zipped(bytes, hash);
    const isElsewhere = clangUrl !== undefined && name === wasm[0];
    if (!isElsewhere) files.push({ path: `clang/${name}.gz`, bytes: small });
    const url = isElsewhere ? new URL(name, clangUrl).href : `clang/${name}.gz`;
    listed[name] = { url, isZipped: !isElsewhere, bytes: bytes.length, sent: small.length, sha256: hash };
  }
  return { manifest: { version: parts.version, entry: 'clang/bundle.js', files: listed }, files };
}

const filesBelow = (folder: string): TarEntry[] =>
  [...new Glob('**/*').scanSync({ cwd: folder })].sort().map((path) => ({ path, bytes: new Uint8Array(readFileSync(join(folder, path))) }));

/** The page and its workers. */
async function scripts(): Promise<Built[]> {
  const made = async (entries: readonly string[], plugins: Bun.BunPlugin[]): Promise<Built[]> => {
    const { outputs } = await Bun.build({
      entrypoints: entries.map((name) => join(source, name)),
      target: 'browser',
      format: 'esm',
      minify: true,
      plugins,
      naming: '[name].js',
    });
    return Promise.all(
      outputs.map(async (each) => ({ path: each.path.replace(/^\.\//, ''), bytes: new Uint8Array(await each.arrayBuffer()) })),
    );
  };
  const plugins = [withoutLibraries, embeddedHeaders, await embeddedWorker([withoutLibraries])];
  const [page] = await made(['index.ts'], []);
  return [{ ...page!, path: 'page.js' }, ...(await made(['compile-worker.ts', 'run-worker.ts'], plugins))];
}

/** Programs to choose from, with their files and arguments. */
function examples(): Built {
  const folder = join(root, 'examples/programs');
  const names = [...new Glob('*.cu').scanSync({ cwd: folder })].sort(
    (a, b) => Number(b === 'vector_add.cu') - Number(a === 'vector_add.cu') || (a < b ? -1 : 1),
  );
  const all = names.map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const [, args = ''] = new RegExp(`cumetal run examples/programs/${name} -- (.*)`).exec(text) ?? [];
    return { name, args, files: [{ name, text }] };
  });
  return { path: 'examples.json', bytes: utf8.encode(JSON.stringify(all)) };
}

/** Every file of the page; what is missing as a sentence. */
export async function programPage(clangUrl?: string): Promise<Built[] | string> {
  const parts = packages();
  if (typeof parts === 'string') return parts;
  const { manifest, files } = largeFiles(parts, clangUrl);
  const page = { path: 'index.html', bytes: new Uint8Array(readFileSync(join(source, 'index.html'))) };
  return [page, examples(), { path: 'manifest.json', bytes: utf8.encode(JSON.stringify(manifest)) }, ...(await scripts()), ...files];
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { clang: { type: 'string' } }, allowPositionals: true });
  const [folder] = positionals;
  if (folder === undefined) throw new Error('usage: bun scripts/browser/program-page.ts FOLDER [--clang URL]');
  const files = await programPage(values.clang);
  if (typeof files === 'string') {
    console.error(`error: ${files}`);
    process.exitCode = 1;
    return;
  }
  for (const { path, bytes } of files) {
    await Bun.write(join(folder, path), bytes);
    const sent = path.endsWith('.gz') ? bytes.length : Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>).length;
    console.log(`${path.padEnd(32)} ${(sent / 1024).toFixed(0).padStart(6)} KiB compressed`);
  }
}

if (import.meta.main) await main();
