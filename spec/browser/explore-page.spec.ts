/** The page of kernels in Chromium: what a user does there, and what is seen. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Built } from '../../scripts/browser/build.ts';
import { explorePage } from '../../scripts/browser/explore-page.ts';
import { programPage } from '../../scripts/browser/program-page.ts';
import { type Carried, linked, linkOf } from '../../src/explore/link.ts';
import { driven } from '../support/browser/driven.ts';
import { examplesFolder } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('browser/explore-page');

/** What the page shows after a step. */
interface Seen {
  readonly text: string;
  readonly view: string;
  readonly list: string;
  readonly status: string;
  /** Numbers of lines with an error, and with a count of a launch. */
  readonly errors: string;
  readonly hot: string;
  /** The lines of the view that belong to the chosen line. */
  readonly bands: number;
  readonly band: string;
  readonly hash: string;
  readonly chosen: string;
}

const driver = `
const frame = document.createElement('iframe');
frame.width = 1200; frame.height = 800; frame.src = 'index.html' + (await (await fetch('hash')).text());
document.body.append(frame);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const page = () => frame.contentDocument;
const byId = (id) => page().getElementById(id);
const all = (selector) => [...page().querySelectorAll(selector)];
async function until(test) { while (!test()) await pause(20); }
const ready = () => page()?.documentElement?.dataset.ready ?? '';
async function after(act) { const before = ready(); act(); await until(() => ready() !== before); }
const type = (text) => { byId('text').value = text; byId('text').dispatchEvent(new Event('input')); };
/** Points at the middle of a line of the text. */
function point(line) {
  const box = byId('text').getBoundingClientRect();
  byId('text').dispatchEvent(new (frame.contentWindow.MouseEvent)('mousemove', { clientX: box.left + 60, clientY: box.top + 10 + (line - 0.5) * 19 - byId('text').scrollTop }));
}
const seen = () => {
  const bands = all('#right-bands i');
  const first = bands[0] ? Math.round((parseFloat(bands[0].style.top) - 10 + byId('view').scrollTop) / 19) : -1;
  return { text: byId('text').value, view: byId('view').textContent, list: byId('list').textContent, status: byId('status').textContent,
    errors: all('#numbers .error').map((each) => each.textContent).join(' '), hot: all('#numbers .heat').map((each) => each.textContent).join(' '),
    bands: bands.length, band: first < 0 ? '' : byId('view').textContent.split('\\n')[first], hash: frame.contentWindow.location.hash,
    chosen: byId('text').value.slice(byId('text').selectionStart, byId('text').selectionEnd) };
};
const report = (value) => fetch('report', { method: 'POST', body: JSON.stringify(value) });
try {
  await until(ready);
  const results = [seen()];
  for (const step of await (await fetch('steps')).json()) {
    if (step.view) await after(() => all('#views button').find((each) => each.dataset.view === step.view).click());
    if (step.type !== undefined) await after(() => type(step.type));
    if (step.point) point(step.point);
    if (step.run) { delete page().documentElement.dataset.ran; byId(step.run).click(); await until(() => page().documentElement.dataset.ran); }
    if (step.follow) page().querySelector('#list [data-line]').click();
    if (step.share) { const before = frame.contentWindow.location.hash; byId('share').click(); await until(() => frame.contentWindow.location.hash !== before); }
    await pause(60);
    results.push(seen());
  }
  await report({ results });
} catch (error) { await report({ error: String(error && error.stack || error) }); }
`;

const carrying = (source: string, view: string, language: Carried['language'] = 'ptx'): Carried => ({ text: source, view, language });
const text = (name: string): string => readFileSync(join(examplesFolder, `${name}.ptx`), 'utf8');
const example = text('saxpy');
const lines = example.split('\n');
const lineOf = (part: string): number => lines.findIndex((each) => each.includes(part)) + 1;
const racing = `//! cumetal: --grid 1 --block 64 --arg f32:64
.version 8.0
.target sm_80
.address_size 64
.visible .entry racing(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  .shared .align 4 .b8 box[4];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  st.shared.u32 [box], %r1;
  ld.shared.u32 %r2, [box];
  st.global.u32 [%rd1], %r2;
  ret;
}
`;

async function drive(hash: string, steps: readonly object[], hasGpu = false, files?: readonly Built[]): Promise<Seen[]> {
  const { results, error } = await driven<{ readonly results: Seen[]; readonly error?: string }>({
    files: files ?? (await explorePage()),
    driver,
    given: { hash, steps: JSON.stringify(steps) },
    // A worker waits for the GPU on shared memory, which only isolated pages have.
    isIsolated: hasGpu,
    hasGpu,
    limitMs: 120_000,
  });
  assert.is(error, undefined);
  return results;
}

need(test, ['chromium'], 'a text is shown as what it becomes, with the lines that belong together, and launched', async () => {
  const fma = lineOf('fma.rn.f32');
  const link = await linkOf(carrying(example, 'msl'));
  const steps = [
    { point: lineOf('st.global.f32') },
    { view: 'ptx', point: fma },
    { type: example.replace('fma.rn.f32', 'fma.rn.f99') },
    { follow: true },
    { type: example, run: 'run' },
    { share: true },
    { type: racing, run: 'run' },
  ];
  const [first, pointed, asPtx, wrong, followed, ran, shared, raced] = (await drive(link, steps)) as Required<Seen[]>;
  assert.is(first!.text, example, 'the link carries the text');
  assert.match(first!.view, /^\/\/ Metal Shading Language[\s\S]*kernel void saxpy/);
  assert.not.match(first!.view, /@:|7777/);
  assert.is(first!.bands, 0);
  assert.ok(pointed!.bands > 0);
  assert.match(pointed!.band, /fma\(/);
  assert.match(asPtx!.band, /fma\.rn\.f32/);
  assert.match(wrong!.list, new RegExp(`^${fma}:\\d+ error\\[CM\\d+\\]`));
  assert.is(wrong!.errors, String(fma));
  assert.match(followed!.chosen, /fma\.rn\.f99/);
  assert.match(ran!.list, /saxpy on CPU[\s\S]*grid 16 x 1 x 1/);
  assert.ok(ran!.hot.split(' ').includes(String(fma)));
  assert.equal(await linked(shared!.hash), carrying(example, 'ptx'));
  assert.match(raced!.list, /12:\d+ error\[CM61\d\d\]/);
  assert.ok(raced!.errors.split(' ').includes('12'));
});

need(test, ['chromium'], 'a launch on the GPU of the page is compared with the CPU device; without one the page says why', async () => {
  const compare = [{ run: 'compare' }];
  const [, compared] = (await drive(await linkOf(carrying(text('reduce'), 'wgsl')), compare, true)) as Required<Seen[]>;
  assert.match(compared!.list, /\d ms {2}CPU \(WebAssembly\)\n +[\d.]+ ms {2}.*\(WebGPU\)/);
  assert.match(compared!.list, /1 reduce_param_1: f32, the same on both/);
  const [, without] = (await drive(await linkOf(carrying(text('reduce'), 'wgsl')), compare)) as Required<Seen[]>;
  assert.match(without!.list, /^This page has no GPU: \w/);
});

need(test, ['chromium', 'sysroot'], 'CUDA C++ is compiled in the page, and its lines belong to those of what it becomes', async () => {
  const programs = await programPage();
  assert.is.not(typeof programs, 'string', String(programs));
  const below = (programs as Built[]).map((file) => ({ ...file, path: `program/${file.path}` }));
  const source = readFileSync(join(import.meta.dirname, '../../src/explore/kernels/saxpy.cu'), 'utf8');
  const line = source.split('\n').findIndex((each) => each.includes('y[i] =')) + 1;
  const steps = [
    { point: line },
    { view: 'given', point: line },
    { run: 'run' },
    { share: true },
    { type: source.replace('a * x[i]', 'a * z[i]') },
  ];
  const files = [...(await explorePage('program/')), ...below];
  const link = await linkOf(carrying(source, 'msl', 'cuda'));
  const [first, pointed, asPtx, ran, shared, wrong] = (await drive(link, steps, false, files)) as Required<Seen[]>;
  assert.match(first!.view, /kernel void saxpy/);
  assert.match(pointed!.band, /fma|param_/);
  assert.match(asPtx!.view, /^\/\/! cumetal: [\s\S]*\.entry saxpy/);
  assert.match(asPtx!.band, /^\s+\w+\.[\w.]+\s+[%[]/);
  assert.match(ran!.list, /saxpy on CPU[\s\S]* 1 +3\.5 +6 +8\.5/);
  assert.ok(ran!.hot.split(' ').includes(String(line)), ran!.hot);
  assert.equal(await linked(shared!.hash), carrying(source, 'given', 'cuda'));
  assert.match(wrong!.list, new RegExp(`^${line}:\\d+ error\\[clang\\] use of undeclared identifier 'z'`));
  assert.is(wrong!.errors, String(line));
});

test('a link that is damaged, or becomes too long a text, carries none', async () => {
  const link = await linkOf(carrying(example, 'ir'));
  assert.equal(await linked(link), carrying(example, 'ir'));
  assert.is(await linked(link.slice(0, -20)), undefined);
  assert.is(await linked('#view=ir&ptx=%00%01'), undefined);
  assert.is(await linked(''), undefined);
  assert.is(await linked(await linkOf(carrying(' '.repeat(5_000_000), 'ir'))), undefined);
});

test('the files of the page are small', async () => {
  const files = await explorePage();
  const sent = files.reduce((sum, { bytes }) => sum + Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>).length, 0);
  assert.ok(sent < 800_000, `${sent} bytes`);
});

test.run();
