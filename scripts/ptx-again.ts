/**
 * Judges PTX that is printed again: PTX to IR to PTX, and PTX to a metallib to PTX.
 *
 *   bun scripts/ptx-again.ts examples            each example over the CPU device, by both ways
 *   bun scripts/ptx-again.ts sweep [STEP [N]]    forms N, N + STEP, … of the sweep: the bytes of the original
 *   bun scripts/ptx-again.ts files FILE…         whether files print again
 *   bun scripts/ptx-again.ts fuzz COUNT [FROM]   random programs, of single instructions and of warps
 *   bun scripts/ptx-again.ts ir COUNT [FROM]     random kernels of the IR against its interpreter
 *
 * `sm_XX` is the architecture, `sm_80` if none is named. `--ptxas` has the assembler take each text for sm_75, sm_80 and sm_90 as well, `--out FOLDER` keeps the texts. A line for each kernel that is not
 * the same; the last line counts.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { diskIo, exampleNames, exampleText, poisoned, recordedLaunch } from '../spec/support/examples.ts';
import { fuzzForms, fuzzResult } from '../spec/support/fuzz.ts';
import { type Again, differenceFrom, ptxAgain, ptxOfKernel, ptxOfMetallib, randomIr } from '../spec/support/ptx-again.ts';
import { ptxasFaults } from '../spec/support/ptxas.ts';
import { randomProgram } from '../spec/support/random-ptx.ts';
import { randomWarps, type WarpProgram } from '../spec/support/random-warps.ts';
import { sweepForms } from '../spec/support/sweep/forms.ts';
import { sweepResult } from '../spec/support/sweep/run.ts';
import { compileWarps, launchWarps } from '../spec/support/warps/recording.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { openCpuDevice } from '../src/device/index.ts';
import { checkOutput, launch } from '../src/runtime/index.ts';

const words = process.argv.slice(2);
const option = (name: string): boolean => words.includes(name);
const outAt = words.indexOf('--out');
const out = outAt < 0 ? undefined : words[outAt + 1];
const [list, ...rest] = words.filter((word, i) => !/^--|^sm_/.test(word) && (outAt < 0 || i !== outAt + 1));
const chosen = words.find((word) => word.startsWith('sm_')) ?? 'sm_80';
const architectures = option('--ptxas') ? ['sm_75', 'sm_80', 'sm_90'] : [chosen];

const said = ({ list: all }: Diagnostics): string => all.map(({ code, message }) => `${code} ${message}`).join('; ');

const counts = new Map<string, number>();
function report(name: string, verdict: string): void {
  const word = verdict.split(':')[0]!;
  counts.set(word, (counts.get(word) ?? 0) + 1);
  if (word !== 'same' && word !== 'printed' && word !== 'original refused') console.log(`${name}: ${verdict}`);
}

/** What the assembler says of a text. */
function assembled(ptx: string, architecture: string): string | undefined {
  if (!option('--ptxas')) return undefined;
  const [fault] = ptxasFaults(ptx, architecture);
  return fault && `ptxas: ${architecture} line ${fault[0]} ${ptx.split('\n')[fault[0] - 1]?.trim()}: ${fault[1]}`;
}

function keep(name: string, ptx: string): void {
  if (out === undefined) return;
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, `${name}.ptx`), ptx);
}

/** The verdict on a text for each architecture; `judge` runs that of the last one. */
function judged(name: string, print: (architecture: string) => Again, judge: (ptx: string) => string): string {
  let verdict = '';
  for (const architecture of architectures) {
    const again = print(architecture);
    if ('refused' in again) {
      verdict ||= `refused: ${architecture} ${again.refused.slice(0, 2).join('; ')}`;
      continue;
    }
    keep(`${name}.${architecture}`, again.ptx);
    const fault = assembled(again.ptx, architecture);
    if (fault) return fault;
    if (architecture === chosen) verdict = judge(again.ptx);
  }
  return verdict;
}

function runExample(name: string, ptx: string): string {
  const diagnostics = new Diagnostics(new SourceFile(`${name}.ptx`, ptx));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  const device = openCpuDevice();
  const module = compiled && device.load(compiled.metallib, diagnostics);
  const outcome =
    module && launch(device, module, poisoned(recordedLaunch(name), 93), { repeat: 1, timeoutMs: 100_000 }, { io: diskIo, diagnostics });
  device.close();
  if (!outcome) return `does not run: ${said(diagnostics)}`;
  const wrong = outcome.outputs.filter((output) => output.expect && !checkOutput(output, output.expect, diskIo, diagnostics)!.pass);
  return wrong.length === 0 ? 'same' : `differs: ${wrong.map((output) => output.name).join(', ')}`;
}

/** Whether a program of warps gives the same words as the original, if that has one result. */
function sameWarps(program: WarpProgram, ptx: string): string {
  const [wanted, found] = [program, { ...program, ptx }].map((each) => {
    const compiled = compileWarps(each);
    return compiled instanceof Diagnostics ? compiled : launchWarps(compiled, each);
  });
  if (wanted instanceof Diagnostics) return 'original refused';
  if (found instanceof Diagnostics) return `does not run: ${said(found)}`;
  return Buffer.compare(Buffer.from(wanted!.buffer), Buffer.from(found!.buffer)) === 0 ? 'same' : 'differs';
}

/** The verdict on a random kernel of the IR. */
function judgedKernel(number: number): string {
  const random = randomIr(number);
  return judged(
    `kernel${number}`,
    (architecture) => ptxOfKernel(random.kernel, architecture),
    (ptx) => differenceFrom(random, ptx) ?? 'same',
  );
}

if (list === 'examples')
  for (const name of exampleNames) {
    const text = exampleText(name);
    report(
      name,
      judged(
        name,
        (architecture) => ptxAgain(name, text, architecture),
        (ptx) => runExample(name, ptx),
      ),
    );
    for (const target of ['cpu', 'macos15'] as const)
      report(
        `${name} (${target})`,
        judged(
          `${name}.${target}`,
          (architecture) => ptxOfMetallib(name, text, target, architecture),
          (ptx) => runExample(name, ptx),
        ),
      );
  }
else if (list === 'sweep') {
  const [step = '40', first = '0'] = rest;
  const forms = sweepForms();
  for (let i = Number(first); i < forms.length; i += Number(step)) {
    const form = forms[i]!;
    const wanted = sweepResult(form, 'cpu');
    if (typeof wanted === 'string') {
      report(form.name, 'original refused');
      continue;
    }
    const judge = (ptx: string): string => {
      const found = sweepResult({ ...form, ptx }, 'cpu');
      if (typeof found === 'string') return `does not run: ${found}`;
      return Buffer.compare(wanted, found) === 0 ? 'same' : 'differs';
    };
    report(
      form.name,
      judged(`form${i}`, (architecture) => ptxAgain(form.name, form.ptx, architecture), judge),
    );
    if (option('--metallib'))
      report(
        `${form.name} (metallib)`,
        judged(`form${i}.cpu`, (architecture) => ptxOfMetallib(form.name, form.ptx, 'cpu', architecture), judge),
      );
  }
} else if (list === 'fuzz') {
  const [count = '100', first = '0'] = rest;
  const forms = fuzzForms();
  for (let i = Number(first); i < Number(first) + Number(count); i++) {
    const program = randomProgram(i, forms);
    const wanted = fuzzResult(program, 1);
    const judge = (ptx: string): string => {
      const found = fuzzResult(ptx, 1);
      if (typeof wanted === 'string' || typeof found === 'string') return `does not run: ${wanted.slice(0, 100)} ${found.slice(0, 200)}`;
      return Buffer.compare(wanted, found) === 0 ? 'same' : 'differs';
    };
    report(
      `program ${i}`,
      judged(`program${i}`, (architecture) => ptxAgain('fuzz', program, architecture), judge),
    );
    report(
      `program ${i} (metallib)`,
      judged(`program${i}.cpu`, (architecture) => ptxOfMetallib('fuzz', program, 'cpu', architecture), judge),
    );
    const warps = randomWarps(i);
    report(
      `warps ${i}`,
      judged(
        `warps${i}`,
        (architecture) => ptxAgain('warps', warps.ptx, architecture),
        (ptx) => sameWarps(warps, ptx),
      ),
    );
  }
} else if (list === 'ir') {
  const [count = '100', first = '0'] = rest;
  for (let i = Number(first); i < Number(first) + Number(count); i++) report(`kernel ${i}`, judgedKernel(i));
} else
  for (const path of rest) {
    const text = readFileSync(path, 'utf8');
    const own = Number(/\.target\s+sm_(\d+)/.exec(text)?.[1] ?? 75);
    const wanted = architectures.filter((architecture) => Number(architecture.slice(3)) >= own || architecture === architectures.at(-1));
    let verdict = 'printed';
    for (const architecture of wanted) {
      const again = ptxAgain(basename(path), text, architecture);
      if ('refused' in again) verdict = `refused: ${again.refused.slice(0, 2).join('; ').slice(0, 300)}`;
      else {
        keep(`${basename(path, '.ptx')}.${architecture}`, again.ptx);
        const fault = assembled(again.ptx, architecture);
        if (fault) verdict = fault;
      }
      if (verdict !== 'printed') break;
    }
    report(path, verdict);
  }
console.log([...counts].map(([word, count]) => `${count} ${word}`).join(', '));
process.exit([...counts.keys()].some((word) => !['same', 'printed', 'original refused'].includes(word)) ? 1 : 0);
