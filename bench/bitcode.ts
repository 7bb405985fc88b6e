/** Writing and reading bitcode, in a process that runs, beside LLVM 14's tools on the same module and beside 20 MB/s. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { disassemble, type Module, readModule, writeModule } from '../src/bitcode/index.ts';
import { compile } from '../src/compile/index.ts';
import { readMetallib } from '../src/metallib/index.ts';
import { root } from './cold.ts';
import { type Bench, median, type Row } from './report.ts';

const kernels = ['bench/kernels/nbody.ptx', 'bench/kernels/matmul_regs.ptx', 'bench/kernels/blur17.ptx'];
/** Of bitcode, for each kernel. */
const wantedBytes = 2_000_000;
/** Bytes in a millisecond. */
const wantedSpeed = 20_000;

/** Nothing where LLVM's tools are not installed. */
export function bitcode(): Bench | undefined {
  if (!Bun.which('llvm-as-14') || !Bun.which('llvm-dis-14')) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  try {
    const rows = kernels.flatMap((kernel) => rowsOf(kernel, folder));
    return { bench: 'bitcode', about: 'bitcode written and read against llvm-as and llvm-dis, whole process, and against 20 MB/s', rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(kernel: string, folder: string): Row[] {
  const module = largeModule(kernel);
  const bytes = writeModule(module);
  const [bc, ll] = [join(folder, 'module.bc'), join(folder, 'module.ll')];
  writeFileSync(bc, bytes);
  writeFileSync(ll, disassemble(module));
  const name = `${kernel.replace(/^.*\//, '').replace('.ptx', '')}, ${(bytes.length / 1e6).toFixed(1)} MB`;
  const write = timed(() => writeModule(module));
  const read = timed(() => readModule(bytes, new Diagnostics()));
  // LLVM abbreviates records, as Apple's compilers do.
  const theirs = assembled(ll, join(folder, 'theirs.bc'));
  const readTheirs = timed(() => readModule(theirs, new Diagnostics()));
  const floor = bytes.length / wantedSpeed;
  const row = (what: string, ours: number, other: number): Row => ({
    name: `${name}: ${what}`,
    ours,
    other,
    unit: 'ms',
    ratio: other / ours,
  });
  return [
    row('write, llvm-as', write, tool('llvm-as-14', ll)),
    row('read, llvm-dis', read, tool('llvm-dis-14', bc)),
    row('write, 20 MB/s', write, floor),
    row('read, 20 MB/s', read, floor),
    row('read as llvm-as wrote it, 20 MB/s', readTheirs, theirs.length / wantedSpeed),
  ];
}

/** A kernel's module with its functions again and again, under other names. */
function largeModule(kernel: string): Module {
  const source = new SourceFile(kernel, readFileSync(join(root, kernel), 'utf8'));
  const library = compile(source, { target: 'macos14' }, new Diagnostics(source));
  const fn = library && readMetallib(library.metallib, new Diagnostics())?.functions[0];
  const module = fn && readModule(fn.bitcode, new Diagnostics());
  if (!fn || !module) throw new Error(`${kernel} is not compiled`);
  const copies = Math.ceil(wantedBytes / fn.bitcode.length);
  const bodies = module.functions.filter(({ blocks }) => blocks.length > 0);
  for (let i = 0; i < copies; i++) module.functions.push(...bodies.map((body) => ({ ...body, name: `${body.name}_${i}` })));
  return module;
}

/** The middle of some times, after some that warm up: the engine takes about twenty runs until it has compiled all that is hot. */
function timed(run: () => unknown, { warm, counted } = { warm: 20, counted: 25 }): number {
  const times = Array.from({ length: warm + counted }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return median(times.slice(warm));
}

function ran(name: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(name, args);
  if (status !== 0) throw new Error(String(stderr));
}

const tool = (name: string, path: string): number => timed(() => ran(name, [path, '-o', '/dev/null']), { warm: 1, counted: 3 });

function assembled(text: string, path: string): Uint8Array {
  ran('llvm-as-14', [text, '-o', path]);
  return readFileSync(path);
}
