/** The worker of a page that compiles: it fetches the compiler once, and keeps it. Its address has that of the manifest behind `#`. */
import { renderAll } from '../cli/terminal/render.ts';
import { cudaFunctions } from '../program/cudart/index.ts';
import { type Clang, type ClangModule, clangOf } from '../toolchain/clang-module.ts';
import { buildFiles, deviceCode, type PageToolchain } from './build.ts';
import { bytesOverWire, contentsOf, forgetOthers, type Manifest } from './manifest.ts';
import type { BuildOrder, BuildReport } from './messages.ts';
import { untar } from './untar.ts';

const start = performance.now();
const report = (message: BuildReport): void => postMessage(message);
const base = new URL(globalThis.location.hash.slice(1), globalThis.location.href).href;

async function load(): Promise<PageToolchain> {
  const manifest = (await (await fetch(base)).json()) as Manifest;
  const all = bytesOverWire(manifest);
  let done = 0;
  const progress = (bytes: number): void => {
    done += bytes;
    report({ kind: 'loading', done: Math.min(done, all), all });
  };
  const files = new Map(
    await Promise.all(Object.entries(manifest.files).map(async ([name, file]) => [name, await contentsOf(file, base, progress)] as const)),
  );
  await forgetOthers(manifest, base);
  const sysroot = untar(files.get('sysroot.tar')!);
  const clang = await clangWith(new URL(manifest.entry, base).href, files);
  // Loads its modules.
  await clang(['clang', '--version'], {});
  return {
    clang,
    sysroot: { folder: '', version: manifest.version, tree: () => sysroot },
    imports: Object.keys(cudaFunctions),
    render: ({ list }) => renderAll(list),
    step: (what) => report({ kind: 'step', what }),
  };
}

/** The compiler, whose module fetches its files by their names beside it, and is given those that were checked. */
async function clangWith(entry: string, files: Map<string, Uint8Array<ArrayBuffer>>): Promise<Clang> {
  const own = globalThis.fetch;
  const given = async (input: string | URL | Request): Promise<Response> => {
    const name = new URL(input instanceof Request ? input.url : input).pathname.replace(/^.*\//, '');
    const bytes = files.get(name);
    if (!bytes) return own(input);
    // It is asked for once.
    files.delete(name);
    return new Response(bytes, { headers: { 'content-type': name.endsWith('.wasm') ? 'application/wasm' : 'application/x-tar' } });
  };
  globalThis.fetch = Object.assign(given, { preconnect: () => undefined });
  return clangOf((await import(entry)) as ClangModule);
}

const loaded = load();
loaded.then(
  () => report({ kind: 'ready', milliseconds: performance.now() - start }),
  (error: Error) => report({ kind: 'failed', why: error.message }),
);

globalThis.onmessage = async ({ data }: MessageEvent<BuildOrder>): Promise<void> => {
  const toolchain = await loaded.catch(() => undefined);
  if (!toolchain) return;
  const began = performance.now();
  try {
    if (data.isDevice) return report({ kind: 'device', ...(await deviceCode(toolchain, data.files)) });
    const { module, messages } = await buildFiles(toolchain, data.files);
    report({ kind: 'built', module, messages, milliseconds: performance.now() - began });
  } catch (error) {
    report({ kind: 'failed', why: `the compiler has ended: ${(error as Error).message}` });
  }
};
