/**
 * What LLVM 14 would still take of our code: the instructions of each kernel before and after LLVM's scalar passes, which need no target.
 *
 *   bun scripts/llvm-rest.ts FILE.ptx…  [--target NAME] [--keep FOLDER] [--json FILE] [--top N]
 *
 * `--keep` writes each kernel's text and what LLVM makes of it, which is where the causes are read. `--json` writes the counts by kernel, for a
 * comparison with a later run; `--against FILE` prints it. The last line is the geometric mean over the kernels. Needs `opt-14`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TargetName } from '../src/air/index.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { emit } from '../src/compile/index.ts';

const passes = 'early-cse,instcombine,simplifycfg,gvn,adce';
/** Kernels with more take LLVM minutes. */
const maxInstructions = 60_000;

const words = process.argv.slice(2);
const valued = ['--target', '--keep', '--json', '--against', '--top'];
const optionOf = (name: string): string | undefined => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const files = words.filter((word, i) => !word.startsWith('--') && !valued.includes(words[i - 1] ?? ''));
const target = (optionOf('--target') ?? 'macos15') as TargetName;
const keep = optionOf('--keep');
const top = Number(optionOf('--top') ?? '20');
if (keep !== undefined) mkdirSync(keep, { recursive: true });

interface Row {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

/** Instructions of the first function with a body: LLVM prints one a line, with two spaces before it. */
function instructionsOf(text: string): number {
  let count = 0;
  let inside = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('define')) inside = true;
    else if (line === '}') inside = false;
    // The cases of a switch are indented further; a list of them ends with a bracket.
    else if (inside && line.startsWith('  ') && line[2] !== ' ' && line[2] !== ']') count++;
  }
  return count;
}

/** The kernels of a text of several modules. */
function modulesOf(text: string): string[] {
  return text.split(/^(?=source_filename|; ModuleID)/m).filter((each) => each.includes('\ndefine '));
}

/** Nothing where LLVM 14 breaks a module itself, as it does some of `bfloat`. */
function optimized(text: string): string | undefined {
  // LLVM does not know the processor `air64`.
  const known = text.replace(/^target triple = .*$/m, '');
  const { status, stdout } = spawnSync('opt-14', [`-passes=${passes}`, '-S', '-'], { input: known, maxBuffer: 2 ** 28 });
  return status === 0 ? stdout.toString() : undefined;
}

const rows: Row[] = [];
let refused = 0;
for (const file of files) {
  const diagnostics = new Diagnostics();
  const text = emit(new SourceFile(file, readFileSync(file, 'utf8')), 'air-ll', { target }, diagnostics);
  if (typeof text !== 'string') {
    refused++;
    continue;
  }
  for (const module of modulesOf(text)) {
    const before = instructionsOf(module);
    if (before > maxInstructions) continue;
    const kernel = /^define [^@]*@"?([^"(]+)/m.exec(module)?.[1] ?? '?';
    const name = `${basename(file, '.ptx')}:${kernel}`;
    const result = optimized(module);
    if (result === undefined) continue;
    rows.push({ name, before, after: instructionsOf(result) });
    if (keep === undefined) continue;
    const stem = join(keep, name.replace(/\W+/g, '_').slice(0, 100));
    writeFileSync(`${stem}.ours.ll`, module);
    writeFileSync(`${stem}.llvm.ll`, result);
  }
}

const meanOf = (ratios: readonly number[]): number => Math.exp(ratios.reduce((sum, x) => sum + Math.log(x), 0) / ratios.length);
const percent = (ratio: number): string => `${((1 - ratio) * 100).toFixed(1)} %`;
const byGain = [...rows].sort((a, b) => b.before - b.after - (a.before - a.after));
for (const { name, before, after } of byGain.slice(0, top))
  console.log(`${String(before).padStart(7)} ${String(after).padStart(7)} ${percent(after / before).padStart(7)}  ${name.slice(0, 90)}`);

const path = optionOf('--json');
if (path !== undefined) writeFileSync(path, `${JSON.stringify(Object.fromEntries(rows.map(({ name, before }) => [name, before])))}\n`);
const earlier = optionOf('--against');
if (earlier !== undefined) {
  const counts = JSON.parse(readFileSync(earlier, 'utf8')) as Readonly<Record<string, number>>;
  const both = rows.filter(({ name }) => counts[name] !== undefined);
  const more = both.filter(({ name, before }) => before > counts[name]!);
  for (const { name, before } of more.slice(0, top)) console.log(`more: ${counts[name]} to ${before} ${name.slice(0, 90)}`);
  const mean = meanOf(both.map(({ name, before }) => before / counts[name]!));
  console.log(`${both.length} kernels before and now: ${percent(mean)} fewer instructions by the geometric mean, ${more.length} have more`);
}
const sum = (of: (row: Row) => number): number => rows.reduce((all, row) => all + of(row), 0);
const whole = `${sum((row) => row.before)} instructions, ${percent(sum((row) => row.after) / sum((row) => row.before))} of them in all`;
console.log(
  `${rows.length} kernels, ${refused} files refused: ${whole}; LLVM takes ${percent(meanOf(rows.map((row) => row.after / row.before)))} by the geometric mean`,
);
