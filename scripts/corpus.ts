/**
 * What becomes of a folder of PTX: `bun scripts/corpus.ts FOLDER [--print] [--forms] [--errors]`.
 *
 * Every `.ptx` file below FOLDER is parsed and checked, functions included, and each of its entries is compiled alone and
 * loaded by the CPU device. A suite is a folder directly below FOLDER. The table has a row for each: files, megabytes,
 * kernels, kernels compiled for macOS 14, for macOS 15 or before, for any target, kernels refused, files with an error of syntax
 * (CM10) and of names or types (CM11), crashes. Then come the first reasons of refusals for macOS 14 with their counts. An error is a fault of ours where `ptxas` takes the file.
 *
 * `--errors` lists the files with errors, one line each: the path and the first three; `--forms` counts the instructions
 * that no row takes (CM1102 to CM1104); `--print` also prints every tree, reads it back and compares.
 * Exits 1 where a file crashes us, does not return from printing, or makes a metallib that does not load.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type Diagnostic, Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { openCpuDevice } from '../src/device/index.ts';
import { check, type Module, parse, print, printAst } from '../src/ptx/index.ts';

/** What is counted for each suite. */
const columns = [
  'files',
  'megabytes',
  'kernels',
  'macos14',
  'macos15',
  'cpu',
  'refused',
  'syntax',
  'types',
  'crashes',
  'unprinted',
] as const;
type Row = Record<(typeof columns)[number], number>;

const words = process.argv.slice(2);
const folder = words.find((word) => !word.startsWith('--')) ?? '.';
const has = (word: string): boolean => words.includes(`--${word}`);

const device = openCpuDevice();
const suites = new Map<string, Row>();
const reasons = new Map<string, number>();
const forms = new Map<string, number>();
const faults: string[] = [];
const broken: string[] = [];

const count = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);

function suiteOf(path: string): Row {
  const parts = relative(folder, path).split(sep);
  const name = parts.length > 1 ? parts[0]! : '.';
  const found = suites.get(name) ?? (Object.fromEntries(columns.map((column) => [column, 0])) as Row);
  suites.set(name, found);
  return found;
}

function filesBelow(path: string): string[] {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ptx'))
    .map((name) => join(path, name))
    .filter((each) => statSync(each).isFile())
    .sort();
}

/** Runs one step; a crash or a step of over ten seconds is told, and gives nothing. */
function guarded<T>(what: string, row: Row, step: () => T): T | undefined {
  const start = performance.now();
  try {
    const result = step();
    const seconds = (performance.now() - start) / 1000;
    if (seconds > 10) broken.push(`${what}: took ${seconds.toFixed(1)} s`);
    return result;
  } catch (error) {
    row.crashes++;
    broken.push(`${what}: ${error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' | ') : String(error)}`);
    return undefined;
  }
}

function readOne(path: string): void {
  const row = suiteOf(path);
  const text = readFileSync(path, 'latin1');
  const file = new SourceFile(path, text);
  const diagnostics = new Diagnostics(file);
  row.files++;
  row.megabytes += text.length / 1e6;
  const module = guarded(path, row, () => parse(file, diagnostics));
  if (!module) return;
  guarded(path, row, () => check(module, { functions: true }, diagnostics));
  tellErrors(path, row, diagnostics);
  if (has('print') && !guarded(`${path}: printing`, row, () => returns(module))) row.unprinted++;
  for (const item of module.items) if (item.kind === 'function' && item.isEntry && item.body) readEntry(file, item.name, row);
}

function tellErrors(path: string, row: Row, diagnostics: Diagnostics): void {
  const errors = diagnostics.sorted().filter((d) => /^CM1[01]/.test(d.code));
  if (errors.some((d) => d.code.startsWith('CM10'))) row.syntax++;
  if (errors.some((d) => d.code.startsWith('CM11'))) row.types++;
  if (errors.length > 0) faults.push(`${path}\n${errors.slice(0, 3).map(sentence).join('\n')}`);
  for (const d of errors) if (/^CM110[234]$/.test(d.code)) count(forms, `${d.code} ${formAt(d)}`);
}

/** The instruction a diagnostic is about, whole. */
function formAt(d: Diagnostic): string {
  const { text } = d.file!;
  const { start, end } = d.labels[0]!.span;
  const before = /[\w.:]*$/.exec(text.slice(Math.max(0, start - 80), start))![0];
  return before + /^[\w.:]*/.exec(text.slice(start, end + 80))![0];
}

function sentence(d: Diagnostic): string {
  const at = d.labels[0] && d.file?.position(d.labels[0].span.start);
  return `  ${d.code}${at ? ` ${at.line}:${at.column}` : ''} ${d.message}`;
}

/** Whether the printed text reads as an equal tree, and prints the same. */
function returns(module: Module): boolean {
  const text = print(module);
  const file = new SourceFile('printed', text);
  const diagnostics = new Diagnostics(file);
  const again = parse(file, diagnostics);
  if (printAst(again) === printAst(module) && print(again) === text) return true;
  broken.push(`${module.file.path}: does not return from printing ${diagnostics.sorted().slice(0, 1).map(sentence).join('')}`);
  return false;
}

function readEntry(file: SourceFile, name: string, row: Row): void {
  row.kernels++;
  let first: Diagnostics | undefined;
  for (const [at, target] of tried.entries()) {
    const diagnostics = new Diagnostics(file);
    const compiled = guarded(`${file.path} ${name}`, row, () => compile(file, { entries: [name], target }, diagnostics));
    if (compiled) {
      for (const reached of tried.slice(at)) row[reached]++;
      load(compiled.metallib, `${file.path} ${name}`, row);
      break;
    }
    first ??= diagnostics;
    // What another target cannot change is not tried again.
    if (at + 1 === tried.length || !diagnostics.list.every((d) => d.severity !== 'error' || /^CM209/.test(d.code))) {
      row.refused++;
      break;
    }
  }
  if (first) count(reasons, reasonOf(first));
}

/** From the default on, each with all that the one before has. */
const tried = ['macos14', 'macos15', 'cpu'] as const;

function load(metallib: Uint8Array, name: string, row: Row): void {
  const loading = new Diagnostics();
  const loaded = guarded(`${name}: loading`, row, () => device.load(metallib, loading) !== undefined);
  if (loaded !== true) broken.push(`${name}: does not load: ${loading.list.map(sentence).join(' ')}`);
}

/** The code and words of the first error, names of the file left out; for an instruction without a form, its opcode. */
function reasonOf(diagnostics: Diagnostics): string {
  const first = diagnostics.sorted().find((d) => d.severity === 'error');
  if (!first) return 'crash';
  if (first.code === 'CM2001') return `${first.code} ${formAt(first).split('.').slice(0, 2).join('.')}`;
  return `${first.code} ${first.message
    .replace(/`[^`]*`/g, '`…`')
    .replace(/\d+/g, 'N')
    .slice(0, 110)}`;
}

function table(): string {
  const total = Object.fromEntries(columns.map((column) => [column, [...suites.values()].reduce((n, row) => n + row[column], 0)])) as Row;
  const lines = [...suites, ['all', total] as const].map(([name, row]) => {
    const cells = columns.map((column) => (column === 'megabytes' ? row[column].toFixed(1) : String(row[column])).padStart(9));
    return `${name.padEnd(14)} ${cells.join(' ')}`;
  });
  return [`${'suite'.padEnd(14)} ${columns.map((column) => column.padStart(9)).join(' ')}`, ...lines].join('\n');
}

const counted = (map: Map<string, number>): string =>
  [...map]
    .sort(([, a], [, b]) => b - a)
    .map(([key, n]) => `${String(n).padStart(7)}  ${key}`)
    .join('\n');

for (const path of filesBelow(folder)) readOne(path);
console.log(table());
console.log(`\nfirst reasons of refusals\n${counted(reasons)}`);
if (has('forms')) console.log(`\ninstructions without a row\n${counted(forms)}`);
if (has('errors')) console.log(`\nfiles with errors\n${faults.join('\n')}`);
if (broken.length > 0) console.log(`\nfaults of ours\n${broken.join('\n')}`);
process.exitCode = broken.length > 0 ? 1 : 0;
