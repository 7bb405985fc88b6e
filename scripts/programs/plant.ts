/**
 * Plants faults into programs that pass, for a comparison of sanitizers: each copy has one fault, and is run by `cumetal run --sanitize` here
 * and by compute-sanitizer on a machine with an NVIDIA GPU.
 *
 *     bun scripts/programs/plant.ts FOLDER RESULTS.json OUT [--count=20] [--seconds=60]
 *     OUT/theirs.sh                                      # on the other machine: writes OUT/NAME/theirs.txt
 *     bun scripts/programs/plant.ts --compare OUT
 *
 * FOLDER and RESULTS.json are those of `judge.ts`. Nothing of FOLDER is changed, and OUT is no part of this repository. A job of its own.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildProgram } from './build.ts';
import { recipeOf } from './make.ts';
import { command, runWords } from './run.ts';
import type { Result } from './table.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    compare: { type: 'boolean', default: false },
  },
});

/** A fault of one kind: the tool of compute-sanitizer that finds it, and a change of one line. */
interface Fault {
  readonly kind: string;
  readonly tool: 'memcheck' | 'racecheck' | 'synccheck' | 'initcheck';
  /** The line with the fault; undefined if it cannot be in this line. */
  change(line: string, isInKernel: boolean): string | undefined;
}

const replaced = (line: string, from: RegExp, to: string): string | undefined => (from.test(line) ? line.replace(from, to) : undefined);

const faults: readonly Fault[] = [
  {
    kind: 'small allocation',
    tool: 'memcheck',
    change: (line) => replaced(line, /(cudaMalloc\s*\(\s*(?:\(\s*void\s*\*\*\s*\)\s*)?&[\w.>-]+\s*,)(.*)\)\s*;\s*$/, '$1($2)/2);'),
  },
  {
    kind: 'no barrier',
    tool: 'racecheck',
    change: (line, isInKernel) => (isInKernel ? replaced(line, /__syncthreads\(\)\s*;/, ';') : undefined),
  },
  {
    kind: 'guard too wide',
    tool: 'memcheck',
    change: (line, isInKernel) => (isInKernel ? replaced(line, /if\s*\(\s*(\w+)\s*<\s*(\w+)\s*\)/, 'if ($1 <= $2)') : undefined),
  },
  {
    kind: 'barrier in a branch',
    tool: 'synccheck',
    change: (line, isInKernel) =>
      isInKernel ? replaced(line, /__syncthreads\(\)\s*;/, 'if (threadIdx.x != 5) __syncthreads();') : undefined,
  },
  {
    kind: 'no copy',
    tool: 'initcheck',
    change: (line) => (/^\s*cudaMemcpy\s*\(.*cudaMemcpyHostToDevice\s*\)\s*;\s*$/.test(line) ? ';' : undefined),
  },
];

/** Lines that are inside functions of the device, by their braces. */
function kernelLines(lines: readonly string[]): Set<number> {
  const inside = new Set<number>();
  let depth = 0;
  let start: number | undefined;
  for (const [i, line] of lines.entries()) {
    if (depth === 0 && /__(global|device)__/.test(line)) start = i;
    if (start !== undefined && depth > 0) inside.add(i);
    depth += line.split('{').length - line.split('}').length;
    if (depth === 0 && line.includes('}')) start = undefined;
  }
  return inside;
}

interface Plant {
  readonly name: string;
  readonly kind: string;
  readonly tool: string;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly args: readonly string[];
  /** Words of nvcc, and sources in the folder of the copy. */
  readonly flags: readonly string[];
  readonly files: readonly string[];
}

function planted(folder: string, sources: readonly string[], fault: Fault): Pick<Plant, 'file' | 'line'> | undefined {
  for (const path of sources.filter((each) => each.endsWith('.cu'))) {
    const lines = readFileSync(path, 'utf8').split('\n');
    const inside = kernelLines(lines);
    const at = lines.findIndex((line, i) => fault.change(line, inside.has(i)) !== undefined);
    if (at < 0) continue;
    lines[at] = fault.change(lines[at]!, inside.has(at))!;
    writeFileSync(path, lines.join('\n'));
    return { file: relative(folder, path), line: at + 1 };
  }
  return undefined;
}

/** A copy of a program with a fault, and what our sanitizer says of it; undefined if it cannot be planted or built. */
async function plantOne(source: string, folder: string, args: readonly string[], fault: Fault): Promise<Plant | undefined> {
  const recipe = recipeOf(source);
  if (typeof recipe === 'string' || recipe.units.some(({ path }) => !path.endsWith('.cu'))) return undefined;
  mkdirSync(folder, { recursive: true });
  cpSync(source, folder, { recursive: true });
  const units = recipe.units.map(({ path, flags }) => ({
    path: path.replace(source, folder),
    flags: flags.map((flag) => (flag === `-I${source}` ? `-I${folder}` : flag)),
  }));
  const paths = units.map(({ path }) => path);
  const place = planted(folder, paths, fault);
  const program = join(folder, 'ours');
  if (!place || (await buildProgram({ ...recipe, units }, program))) {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  const words = [command, 'run', program, '--sanitize', '--threads', '1', '--', ...args];
  const ran = await runWords(words, { cwd: folder, seconds: Number(values.seconds) });
  writeFileSync(join(folder, 'ours.txt'), `${ran.errors}\nended: ${ran.ending}\n`);
  const flags = [...new Set(units.flatMap((unit) => unit.flags))].map((flag) => flag.replace(folder, '.'));
  const files = paths.map((path) => relative(folder, path));
  return { name: basename(folder), kind: fault.kind, tool: fault.tool, ...place, args, flags, files };
}

/** What runs on the other machine: it builds and runs eight copies at a time. */
function scriptOf(plants: readonly Plant[]): string {
  const lines = plants.flatMap(({ name, tool, args, flags, files }, i) => [
    `(cd ${name} && nvcc -w -lineinfo -arch=sm_90 -I. ${flags.join(' ')} ${files.join(' ')} -o theirs > build.txt 2>&1 &&`,
    ` timeout 40 compute-sanitizer --tool ${tool} --print-limit 20 ./theirs ${args.join(' ')} > theirs.txt 2>&1) &`,
    ...(i % 8 === 7 ? ['wait'] : []),
  ]);
  return ['#!/bin/bash', 'cd "$(dirname "$0")"', ...lines, 'wait', ''].join('\n');
}

/** Plants as many faults as are asked for, those that are there among them. */
async function plantAll([root = '.', resultsPath = '', out = '']: readonly string[]): Promise<void> {
  const results = JSON.parse(readFileSync(resultsPath, 'utf8')) as Result[];
  const fast = results.filter(({ stage, needs, runSeconds = 99 }) => stage === 'pass' && needs.length === 0 && runSeconds < 4);
  const list = join(out, 'plants.json');
  const plants: Plant[] = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Plant[]) : [];
  const isPlanted = (name: string): boolean => plants.some((plant) => plant.name === name || plant.name.startsWith(`${name}-`));
  for (const { name, args = [] } of fast) {
    if (plants.length >= Number(values.count)) break;
    if (isPlanted(name)) continue;
    const fault = faults[plants.length % faults.length]!;
    const plant = await plantOne(join(root, `${name}-cuda`), join(out, `${name}-${fault.tool}`), args, fault);
    if (!plant) continue;
    plants.push(plant);
    console.log(plant);
    writeFileSync(list, JSON.stringify(plants, undefined, 1));
  }
  writeFileSync(join(out, 'theirs.sh'), scriptOf(plants), { mode: 0o755 });
}

/** Lines of sources that a report names, by file and number. */
const placesOf = (text: string, pattern: RegExp): Set<string> =>
  new Set([...text.matchAll(pattern)].map(([, path, line]) => `${basename(path!)}:${line}`));

/** Which lines both name, as a table. */
function compare(out: string): void {
  const plants = JSON.parse(readFileSync(join(out, 'plants.json'), 'utf8')) as Plant[];
  const read = (plant: Plant, name: string): string => {
    const path = join(out, plant.name, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  console.log('| program | fault | ours | theirs | both | only ours | only theirs |\n| --- | --- | ---: | ---: | ---: | --- | --- |');
  for (const plant of plants) {
    const ours = placesOf(read(plant, 'ours.txt'), /(?:-->|source:|:::)\s*(\S+?):(\d+)/g);
    const theirs = placesOf(read(plant, 'theirs.txt'), / in ([^\s:]+\.\w+):(\d+)/g);
    const only = (a: Set<string>, b: Set<string>): string =>
      [...a]
        .filter((each) => !b.has(each))
        .slice(0, 4)
        .join(' ');
    const both = [...ours].filter((each) => theirs.has(each)).length;
    const cells = [plant.name, plant.kind, ours.size, theirs.size, both, only(ours, theirs), only(theirs, ours)];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

if (values.compare) compare(positionals[0]!);
else await plantAll(positionals.map((path) => resolve(path)));
process.exit(0);
