/**
 * The WebGPU device in a page of Chromium against the CPU device in the same page, on one thread: four of the kernels of `bench/webgpu.ts`, the best of some
 * launches of each in alternation. Without a GPU, Chromium's WebGPU is SwiftShader, a driver on the processor.
 *
 *   bun scripts/chromium.ts [COUNT]      elements of the arrays, 65536 by default
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { visitChromium } from '../spec/support/browser/visit.ts';
import { compile, Diagnostics, SourceFile } from '../src/index.ts';
import type { Measured, Work } from './chromium/worker.ts';

const count = Number(process.argv[2] ?? 65_536);
const path = join(import.meta.dirname, '../bench/kernels/webgpu/six.ptx');
const diagnostics = new Diagnostics(new SourceFile(path, readFileSync(path, 'utf8')));
const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
if (!compiled) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
const work: Work = { library: [...compiled.metallib], count, rounds: 4 };

const page = `<!doctype html><meta charset="utf-8"><script type="module">
const tell = (what) => fetch('/told', { method: 'POST', body: JSON.stringify(what) });
const worker = new Worker('/worker.js', { type: 'module' });
worker.onmessage = ({ data }) => tell(data);
worker.onerror = ({ message }) => tell({ error: message });
worker.postMessage(await (await fetch('/work')).json());
</script>`;

const { error, names, rows } = await visitChromium<Measured>({
  ...{ page, work, limitMs: 400_000, state: 'has no result' },
  worker: join(import.meta.dirname, 'chromium/worker.ts'),
});
if (error !== undefined) throw new Error(error);
console.log(`${names!.join(' against ')}, arrays of ${count} elements, milliseconds:\n`);
console.log('| kernel | WebGPU in Chromium | CPU device in the page |\n| --- | ---: | ---: |');
for (const { name, webgpu, cpu } of rows!) console.log(`| ${name} | ${webgpu.toFixed(2)} | ${cpu.toFixed(2)} |`);
