/**
 * The tests of the package in a page, for a browser: what kernels leave there is what they leave in this process, bit for bit, on the
 * thread of the page and on that of a worker, with and without memory that is shared.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type Test } from 'uvu';
import * as assert from 'uvu/assert';
import * as devices from '../../../src/device/index.ts';
import * as cumetal from '../../../src/index.ts';
import { root } from '../examples.ts';
import { readRecording } from '../fuzz.ts';
import { has, need } from '../need.ts';
import { type Answer, answersTo } from './answers.ts';
import { exampleCases, ownCases, randomCases } from './cases.ts';
import type { Done, Job, Report } from './page.ts';
import { type Visit, visit } from './run.ts';

const { from, digests } = readRecording(join(root, 'fixtures/h200/fuzz.json'));
const programNumbers = Array.from({ length: 16 }, (_, i) => 613 * i);
const [own, examples, random] = [ownCases(), exampleCases(), randomCases(from, programNumbers)];
const cases = [...own, ...examples, ...random];
const namesOf = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);

const job = (label: string, isInWorker: boolean, isStarted: boolean, names: readonly string[]): Job => ({
  label,
  isInWorker,
  how: { threads: 2, isStarted },
  cases: names,
});
const jobs: readonly Job[] = [
  job('launched by the page', false, false, namesOf([...own, ...examples])),
  job('started by the page', false, true, namesOf(cases)),
  job('launched by a worker', true, false, namesOf(own)),
  job('started by a worker', true, true, namesOf(own)),
];

// ── programs ──

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = ['docs/api.md', 'docs/build.md'].map(read).join('\n');

/** The examples of the pages that need no files, which have to print in a browser what they say. */
const apiPrograms = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code!).filter((code) => !code.includes('node:'));
const said = (code: string): string[] => [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text!);

const refusals = `import { Device } from 'cumetal';
for (const kind of ['metal', 'cuda', 'abacus'])
  try { Device.open(kind); } catch (error) { console.log(error.name, ...error.message.split('\\n')); }
const device = Device.open();
console.log(device.info.kind, device.info.properties.multiProcessorCount > 1);
try { device.allocate('u32', 4, 'unified'); console.log('seen'); } catch (error) { console.log(error.code); }`;

/** Shows another page in this one, and prints what a function of its document gives that is not empty. */
const showing = (name: string, look: string): string => `const frame = document.createElement('iframe');
frame.width = 900; frame.height = 1100; frame.src = '${name}';
document.body.append(frame);
const look = ${look};
for (let i = 0; i < 1000; i++) {
  const said = frame.contentDocument && look(frame.contentDocument);
  if (said) { console.log(said); break; }
  await new Promise((resolve) => setTimeout(resolve, 20));
}`;

/** What the example page says, and how many colours its picture has. */
const picture = `(document) => {
  const text = document.querySelector('output')?.textContent;
  const canvas = document.querySelector('canvas');
  if (!text) return '';
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return text.replaceAll('\\n', '; ') + '; ' + new Set(new Uint32Array(data.buffer)).size + ' colours';
}`;

const documented = [...page.matchAll(/^```html\n([\s\S]*?)^```$/gm)].map(([, html]) => html!);
/** With what it prints put where who shows it can see it. */
const told = (html: string): string =>
  html
    .replace(/(?=<script)/, '<script>console.log = (...all) => { document.documentElement.dataset.said = all.join(" "); }</script>')
    .replaceAll('./node_modules/cumetal/', './');

const files = {
  'examples/browser/index.html': read('examples/browser/index.html'),
  'examples/browser/page.js': read('examples/browser/page.js'),
  'examples/mandelbrot.ptx': read('examples/mandelbrot.ptx'),
  ...Object.fromEntries(documented.map((html, i) => [`documented${i}.html`, told(html)])),
};
const shown = [
  showing('examples/browser/index.html', picture),
  ...documented.map((_, i) => showing(`documented${i}.html`, '(document) => document.documentElement?.dataset.said')),
];
const programs = [refusals, ...shown, ...apiPrograms];
/** The last page may start no workers from an address that it made. */
const visits: readonly Visit[] = [
  { isIsolated: true, orders: { cases, jobs }, programs, files },
  { isIsolated: false, orders: { cases, jobs }, programs, files },
  { isIsolated: true, policy: `script-src 'self' 'wasm-unsafe-eval'`, orders: { cases: own, jobs: [jobs[1]!] }, programs: [], files: {} },
];

// ── what is wanted ──

const machine = { cumetal, devices };
/** Of this process, with and without shared memory. */
const wanted = new Map<boolean, Promise<Answer[]>>();
function answersHere(isIsolated: boolean): Promise<Answer[]> {
  const known = wanted.get(isIsolated) ?? answersTo(machine, cases, { threads: isIsolated ? 2 : 1, isStarted: isIsolated });
  wanted.set(isIsolated, known);
  return known;
}

/** What is compared has to be what goes well, and what fails as it is to. */
async function judgeAnswersHere(): Promise<void> {
  for (const isIsolated of [true, false]) {
    const answers = await answersHere(isIsolated);
    const codes = Object.fromEntries(answers.filter((each) => each.said.length > 0).map((each) => [each.name, each.said[0]!.slice(0, 6)]));
    assert.equal(codes, {
      'a store far outside': 'CM6011',
      'a load far outside': 'CM6011',
      'an atomic that is misaligned': 'CM6019',
      'a trap': 'CM6014',
      'a loop without end': 'CM6010',
      'a loop without end that waits for nothing': 'CM6010',
      'a store outside that is looked for': 'CM6101',
    });
    const known = new Map(answers.map((each) => [each.name, each]));
    for (const i of programNumbers) assert.is(known.get(`program ${i}`)!.buffers[1]!.slice(0, 8), digests[i], `program ${i} of the H200`);
    assert.match(known.get('printf')!.printed, /^thread 0: 5, {2}0\.00 and words\nthread 1: 9e3779be, {2}0\.30 and words\n/);
  }
}

/** Runs the tests in a browser, by the name of its program; one skip where it is not installed. */
export function testPages(browser: string): void {
  const test = suite(`browser/${browser}`);
  if (has(browser)) addTests(test, browser);
  else need(test, [browser], 'kernels in a page leave what they leave here', () => {});
  test.run();
}

function addTests(test: Test, browser: string): void {
  let visited: Promise<Report[]> | undefined;
  const reportAt = async (index: number): Promise<Report> => {
    visited ??= visit(browser, visits);
    const report = (await visited)[index]!;
    assert.is(report.error, undefined);
    assert.is(report.isIsolated, visits[index]!.isIsolated);
    return report;
  };
  const reportOf = (isIsolated: boolean): Promise<Report> => reportAt(isIsolated ? 0 : 1);
  test('what is compared here goes well, or fails as it is to', judgeAnswersHere);

  for (const isIsolated of [true, false]) {
    const where = isIsolated ? 'a page with shared memory' : 'a page without';
    jobs.forEach((each, index) => {
      test(`${where}, ${each.label}: the same as here`, async () => {
        const { answers, workers, turns } = (await reportOf(isIsolated)).done[index]!;
        const here = (await answersHere(isIsolated)).filter(({ name }) => each.cases.includes(name));
        assert.is(answers.length, here.length);
        answers.forEach((answer, i) => {
          assert.equal(answer, here[i]);
        });
        // The thread of a page may not wait for workers, so that what it launches it runs itself.
        const hasWorkers = isIsolated && (each.isInWorker || each.how.isStarted);
        assert.is(workers > 0, hasWorkers, `${workers} workers`);
        if (isIsolated && each.how.isStarted) assert.ok(turns > 10, `only ${turns} turns for other things while kernels ran`);
      });
    });

    test(`${where}: what it cannot do is refused`, async () => {
      const why = 'note: a page has no access to Metal and CUDA: use the CPU device';
      const help = 'help: `cumetal devices` lists the available devices';
      const no = (name: string): string => `DeviceNotFoundError device \`${name}\` is not available on this machine [CM6001]`;
      const [first] = (await reportOf(isIsolated)).printed;
      assert.equal(first!.slice(0, 3), [`${no('metal')} ${why} ${help}`, `${no('cuda')} ${why} ${help}`, `${no('abacus')} ${help}`]);
      assert.is(first![3], `cpu ${isIsolated && navigator.hardwareConcurrency > 1}`);
      // Memory that stays where it is when it grows is that which is shared, and where the engine has it any other.
      assert.ok(isIsolated ? first![4] === 'seen' : ['seen', 'CM5065'].includes(first![4]!), first![4]);
    });

    test(`${where}: the example page draws`, async () => {
      const [, [text]] = (await reportOf(isIsolated)).printed as [string[], string[]];
      assert.match(text!, /^768 × 768 points, at most 2000 steps each; [\d.]+ ms on \d+ threads?/);
      assert.is(/the page is not isolated/.test(text!), !isIsolated);
      const [, colours] = /(\d+) colours$/.exec(text!)!;
      assert.ok(Number(colours) > 60, `${colours} colours`);
    });

    test(`${where}: the pages and the examples of docs/api.md and docs/build.md print what they say`, async () => {
      const printed = (await reportOf(isIsolated)).printed.slice(2);
      const programs = [...documented, ...apiPrograms];
      assert.ok(documented.length > 0 && apiPrograms.length > 3);
      programs.forEach((code, i) => {
        const isSeen = isIsolated || !code.includes("'unified'");
        if (isSeen) assert.equal(printed[i], said(code));
        else assert.ok(printed[i]!.some((line) => /CM5065/.test(line)) || printed[i]!.join() === said(code).join());
      });
    });
  }

  test('a page that may start no workers runs what it started itself', async () => {
    const [{ answers, workers }] = (await reportAt(2)).done as [Done];
    assert.equal(answers, (await answersHere(true)).slice(0, own.length));
    assert.ok(workers > 0 && workers <= 6, `${workers} were tried`);
  });

  test.after(async () => {
    for (const { isIsolated, done } of (await visited) ?? [])
      console.log(
        `${isIsolated ? 'with' : 'without'} shared memory: ${done.map((each) => `${each.label} ${each.milliseconds} ms`).join(', ')}`,
      );
  });
}
