/** The page of the profiler in Chromium: nothing is cut or scrolls sideways, columns sort, and both color schemes are there. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';
import { examplesFolder } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('browser/profile-page');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-page-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** What a page says of itself, in the words of `measure`. */
interface Measured {
  readonly width: number;
  readonly scrollWidth: number;
  readonly cut: readonly string[];
  readonly covered: readonly string[];
  readonly rows: number;
  readonly heatmap: number;
  readonly sorted: readonly (readonly number[])[];
  readonly aria: readonly (string | null)[];
  readonly background: readonly string[];
  readonly contrast: readonly number[];
}

/** Runs in the page, and leaves its result in an attribute. */
const measure = `
const box=(e)=>e.getBoundingClientRect(),svg=document.querySelector('svg'),frame=box(svg),texts=[...svg.querySelectorAll('text')];
const cut=texts.filter((t)=>{const b=box(t);return b.left<frame.left-1||b.right>frame.right+1||b.top<frame.top-1||b.bottom>frame.bottom+1}).map((t)=>t.textContent);
const overlaps=(a,b)=>a.left<b.right-1&&b.left<a.right-1&&a.top<b.bottom-1&&b.top<a.bottom-1;
const covered=texts.flatMap((a,i)=>texts.slice(i+1).filter((b)=>overlaps(box(a),box(b))).map((b)=>a.textContent+' | '+b.textContent));
const heads=[...document.querySelectorAll('#lines th')],column=(at)=>[...document.querySelectorAll('#lines tbody tr')].map((r)=>r.cells[at].dataset.v).filter((v)=>v!==undefined&&v!=='').map(Number);
const sorted=[],aria=[];for(const at of [1,1,0]){heads[at].querySelector('button').click();sorted.push(column(at));aria.push(heads[at].getAttribute('aria-sort'))}
const rgb=(c)=>c.match(/[\\d.]+/g).slice(0,3).map(Number),light=(c)=>{const [r,g,b]=rgb(c).map((v)=>{v/=255;return v<=.03928?v/12.92:((v+.055)/1.055)**2.4});return .2126*r+.7152*g+.0722*b};
const look=()=>{const s=getComputedStyle(document.body),[a,b]=[light(s.color),light(s.backgroundColor)].sort((x,y)=>y-x);return [s.backgroundColor,(a+.05)/(b+.05)]};
const first=look();document.querySelector('#theme').click();const second=look();
document.documentElement.dataset.measured=JSON.stringify({width:innerWidth,scrollWidth:document.documentElement.scrollWidth,cut,covered,rows:document.querySelectorAll('#lines tbody tr').length,
heatmap:document.querySelectorAll('.heatmap a').length,sorted,aria,background:[first[0],second[0]],contrast:[first[1],second[1]]});`;

const flags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--hide-scrollbars',
  '--window-size=1280,1400',
];

function chromium(...words: string[]): string {
  const { stdout, status } = spawnSync('chromium', [...flags, `--user-data-dir=${join(folder, 'profile')}`, ...words], {
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 1 << 28,
  });
  assert.is(status, 0);
  return stdout;
}

async function pageOf(words: readonly string[]): Promise<string> {
  const { code, written } = await commandLine(['run', ...words, '--profile=page.html']);
  assert.is(code, 0);
  return new TextDecoder().decode(written['page.html']);
}

for (const [name, roofline] of [
  ['matmul_tiled', 'm2'],
  ['block_sum', 'm1'],
  ['saxpy', 'h200'],
] as const)
  need(test, ['chromium'], `the page of ${name} at 1280 pixels`, async () => {
    const path = join(folder, `${name}.html`);
    writeFileSync(
      path,
      (await pageOf([join(examplesFolder, `${name}.ptx`), '--roofline', roofline])).replace(
        '</body>',
        `<script>{${measure}}</script></body>`,
      ),
    );
    const [, json] = /data-measured="([^"]*)"/.exec(chromium('--dump-dom', `file://${path}`)) ?? [];
    const measured: Measured = JSON.parse(json!.replaceAll('&quot;', '"'));
    assert.is(measured.width, 1280);
    assert.ok(measured.scrollWidth <= 1280, `no sideways scrolling: ${measured.scrollWidth}`);
    assert.equal(measured.cut, [], 'no label of the plot is cut');
    assert.equal(measured.covered, [], 'no label of the plot covers another');
    assert.is(measured.heatmap, measured.rows, 'the heat map has a cell for each line');
    const [down, up, byLine] = measured.sorted as [number[], number[], number[]];
    const ascending = (list: readonly number[]): number[] => [...list].sort((a, b) => a - b);
    assert.equal(down, ascending(down).reverse());
    assert.equal(up, ascending(up));
    assert.equal(byLine, ascending(byLine));
    assert.equal(measured.aria, ['descending', 'ascending', 'ascending']);
    assert.is.not(measured.background[0], measured.background[1], 'two color schemes');
    for (const contrast of measured.contrast) assert.ok(contrast >= 7, `${contrast}`);
  });

need(test, ['chromium'], 'a screenshot', async () => {
  const path = join(folder, 'shot.html');
  writeFileSync(path, await pageOf([join(examplesFolder, 'matmul_tiled.ptx')]));
  const shot = join(folder, 'shot.png');
  chromium(`--screenshot=${shot}`, `file://${path}`);
  const bytes = readFileSync(shot);
  assert.is(bytes.subarray(1, 4).toString(), 'PNG');
  assert.equal([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1280, 1400]);
  assert.ok(bytes.length > 40_000, 'more than an empty page');
});

test.run();
