/**
 * The WebGPU device in a page of Chromium against the CPU device in the same page, on one thread: four of the kernels of `bench/webgpu.ts`, the best of some
 * launches of each in alternation. Without a GPU, Chromium's WebGPU is SwiftShader, a driver on the processor.
 *
 *   bun scripts/chromium.ts [COUNT]      elements of the arrays, 65536 by default
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { whileOpen } from '../spec/support/browser/process.ts';
import { compile, Diagnostics, SourceFile } from '../src/index.ts';
import { withoutLibraries } from './browser/build.ts';
import { isolation } from './browser/serve.ts';
import type { Measured, Work } from './chromium/worker.ts';
import { embeddedWorker } from './worker.ts';

const count = Number(process.argv[2] ?? 65_536);
const path = join(import.meta.dirname, '../bench/kernels/webgpu/six.ptx');
const diagnostics = new Diagnostics(new SourceFile(path, readFileSync(path, 'utf8')));
const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
if (!compiled) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
const work: Work = { library: [...compiled.metallib], count, rounds: 4 };

const { outputs } = await Bun.build({
  entrypoints: [join(import.meta.dirname, 'chromium/worker.ts')],
  target: 'browser',
  format: 'esm',
  plugins: [withoutLibraries, await embeddedWorker()],
});
const worker = await outputs[0]!.text();
const page = `<!doctype html><meta charset="utf-8"><script type="module">
const tell = (what) => fetch('/told', { method: 'POST', body: JSON.stringify(what) });
const worker = new Worker('/worker.js', { type: 'module' });
worker.onmessage = ({ data }) => tell(data);
worker.onerror = ({ message }) => tell({ error: message });
worker.postMessage(await (await fetch('/work')).json());
</script>`;

let told: (what: Measured) => void = () => undefined;
const finished = new Promise<Measured>((resolve) => {
  told = resolve;
});
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/work') return Response.json(work);
    if (pathname === '/told') told((await request.json()) as Measured);
    const [body, type] = pathname === '/worker.js' ? [worker, 'text/javascript'] : [page, 'text/html'];
    return new Response(body, { headers: { ...isolation, 'content-type': type } });
  },
});
try {
  const state = (): string => 'has no result';
  const { error, names, rows } = await whileOpen('chromium', `http://localhost:${server.port}/`, finished, {
    limitMs: 400_000,
    state,
    hasGpu: true,
  });
  if (error !== undefined) throw new Error(error);
  console.log(`${names!.join(' against ')}, arrays of ${count} elements, milliseconds:\n`);
  console.log('| kernel | WebGPU in Chromium | CPU device in the page |\n| --- | ---: | ---: |');
  for (const { name, webgpu, cpu } of rows!) console.log(`| ${name} | ${webgpu.toFixed(2)} | ${cpu.toFixed(2)} |`);
} finally {
  await server.stop(true);
}
