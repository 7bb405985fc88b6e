/**
 * Operations that the vector compiler of the CPU device executes per lane: `bun scripts/lanes.ts PATH... [--kernels]`, for every `.ptx` file
 * below each PATH. Each kernel is compiled for blocks of 256 threads. Prints why kernels are not vectorized, and by op and type the
 * instructions that are executed per lane: the number of kernels and of instructions. `--kernels` names the kernels.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { raiseModule } from '../src/air/index.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { readModule } from '../src/bitcode/index.ts';
import { compile } from '../src/compile/index.ts';
import { expandMatmul } from '../src/engine/scalar/matmul.ts';
import type { SimdPlan } from '../src/engine/simd/analysis/plan.ts';
import { compileSimd } from '../src/engine/simd/emit/module.ts';
import { strideOf } from '../src/engine/simd/emit/strided-access.ts';
import type { LaneGroup } from '../src/engine/simd/lanes/lane-group.ts';
import { partWriter } from '../src/engine/simd/rules/index.ts';
import { operandsOf, runPasses, standardPasses, type Value } from '../src/ir/index.ts';
import { readMetallib } from '../src/metallib/index.ts';

const args = process.argv.slice(2);
const isNaming = args.includes('--kernels');
const shapes = ['uniform', 'affine', 'varying'];

interface Count {
  kernels: string[];
  times: number;
}
const notVectorized = new Map<string, Count>();
const lanes = new Map<string, Count>();
const totals = { kernels: 0, refused: 0, vectorized: 0, faults: 0 };

function record(map: Map<string, Count>, what: string, kernel: string, times = 1): void {
  const found = map.get(what) ?? { kernels: [], times: 0 };
  map.set(what, found);
  if (found.kernels.at(-1) !== kernel) found.kernels.push(kernel);
  found.times += times;
}

function filesBelow(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ptx'))
    .map((name) => join(path, name))
    .sort();
}

function readFile(path: string): void {
  const file = new SourceFile(path, readFileSync(path, 'latin1'));
  const entries = [...file.text.matchAll(/\.entry\s+([\w$]+)/g)].map((match) => match[1]!);
  for (const entry of new Set(entries)) readEntry(file, entry);
}

function readEntry(file: SourceFile, entry: string): void {
  totals.kernels++;
  const name = `${file.path} ${entry}`;
  try {
    const compiled = compile(file, { entries: [entry], target: 'cpu' }, new Diagnostics(file));
    if (!compiled) {
      totals.refused++;
      return;
    }
    const library = readMetallib(compiled.metallib, new Diagnostics());
    for (const fn of library?.functions ?? []) {
      const own = new Diagnostics();
      const module = readModule(fn.bitcode, own);
      const raised = module && raiseModule(module, own).find((each) => each.reflection.name === fn.name);
      if (!raised) continue;
      runPasses(raised.kernel, standardPasses);
      expandMatmul(raised.kernel);
      const made = compileSimd(raised.kernel, [256, 1, 1], { fma: 'exact' });
      if ('why' in made) record(notVectorized, made.why, name);
      else {
        totals.vectorized++;
        readPlan(made.plan, name);
      }
    }
  } catch (error) {
    totals.faults++;
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}

function readPlan(plan: SimdPlan, name: string): void {
  const { kernel, shapes: known } = plan;
  const s = { plan, kernel, fma: 'exact', temp: () => 0 } as unknown as LaneGroup;
  for (const id of known.cfg.order)
    for (const value of kernel.blocks[id]!.body) {
      const what = perLaneName(s, value);
      if (what !== undefined) record(lanes, what, name);
    }
}

/** The name of an instruction that is executed per lane; undefined for others. */
function perLaneName(s: LaneGroup, value: Value): string | undefined {
  const inst = s.kernel.insts[value]!;
  const shape = (of: Value): number => s.plan.shapes.shape[of]!;
  if (inst.op === 'atomic' || inst.op === 'cas') return `${inst.op} ${inst.type}`;
  if (inst.op === 'load' || inst.op === 'store') {
    const type = s.kernel.insts[inst.op === 'load' ? value : inst.value]!.type;
    if (inst.op === 'load' && shape(value) < 2) return undefined;
    if (shape(inst.addr) === 0) return undefined;
    return strideOf(s, inst.addr) === undefined ? `${inst.op} ${type}, anywhere` : undefined;
  }
  if (shape(value) < 2) return undefined;
  if (inst.op === 'shuffle') return s.plan.staticShuffles.has(value) ? undefined : `shuffle ${inst.type} through memory`;
  if (inst.op === 'fma' && inst.type === 'f32') return undefined;
  if (['ballot', 'reduce', 'fence', 'barrier', 'syncwarp', 'const', 'param', 'variable', 'sreg'].includes(inst.op)) return undefined;
  if (partWriter(s, value) !== undefined) return undefined;
  const types = operandsOf(inst).map((operand) => `${s.kernel.insts[operand]!.type} ${shapes[shape(operand)]}`);
  return `${inst.op} ${inst.type} of ${types.join(', ')}`;
}

function table(map: Map<string, Count>): string {
  const rows = [...map].sort(([, a], [, b]) => b.kernels.length - a.kernels.length);
  return rows
    .flatMap(([what, { kernels, times }]) => [
      `${String(kernels.length).padStart(6)} ${String(times).padStart(7)}  ${what}`,
      ...(isNaming ? kernels.map((kernel) => `                ${kernel}`) : []),
    ])
    .join('\n');
}

const files = args.filter((arg) => !arg.startsWith('--')).flatMap(filesBelow);
for (const file of files) readFile(file);
console.log(`${totals.kernels} kernels, ${totals.vectorized} vectorized, ${totals.refused} refused, ${totals.faults} faults`);
console.log(`\nnot vectorized: kernels, count\n${table(notVectorized)}`);
console.log(`\nper lane: kernels, count\n${table(lanes)}`);
