/**
 * The machine code of a kernel: `bun scripts/native-listing.ts [--kernel=NAME] [--block=256] [--avx2] [--loops] FILE.ptx|FILE.wasm`. Prints the listing
 * that objdump makes of it; with `--loops` the innermost loops alone, and how many instructions of each kind they have.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { prepareKernel, raiseFunction, simdModule } from '../src/device/cpu/launch/make-kernel.ts';
import type { NativeTarget } from '../src/engine/codegen/target.ts';
import { standardPasses } from '../src/ir/index.ts';
import { readMetallib } from '../src/metallib/index.ts';
import { compileNative, type NativeCode } from '../src/native/index.ts';

const words = process.argv.slice(2);
const option = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const isSet = (name: string) => words.includes(`--${name}`);
const avx512 = !isSet('avx2');

/** The module that the CPU device makes of a kernel for native code. */
function moduleOf(path: string): Uint8Array {
  if (path.endsWith('.wasm')) return readFileSync(path);
  const diagnostics = new Diagnostics();
  const { metallib } = compile(new SourceFile(path, readFileSync(path, 'utf8')), { target: 'cpu' }, diagnostics) ?? {};
  const library = metallib && readMetallib(metallib, diagnostics);
  const name = option('kernel');
  const fn = library?.functions.find((one) => name === undefined || one.name === name);
  const raised = fn && raiseFunction(fn, diagnostics);
  if (!raised) throw new Error(`${path} has no kernel ${name ?? ''}`);
  const [x = 256, y = 1, z = 1] = (option('block') ?? '256').split(',').map(Number);
  prepareKernel(raised.kernel, standardPasses);
  const target: NativeTarget = avx512 ? { vectorBytes: 64, vectorRegisters: 32 } : { vectorBytes: 32, vectorRegisters: 16 };
  const made = simdModule(raised.kernel, [x, y, z], {}, undefined, target);
  if ('why' in made) throw new Error(made.why);
  return made.bytes;
}

interface Line {
  readonly at: number;
  readonly text: string;
  /** Where a jump leads. */
  readonly target: number | undefined;
}

/** The instructions of code, as objdump reads them. */
function linesOf({ code }: NativeCode): Line[] {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-listing-'));
  const path = join(folder, 'code');
  writeFileSync(path, code);
  const { stdout } = Bun.spawnSync(['objdump', '-D', '-b', 'binary', '-mi386:x86-64', '-Mintel', '--no-show-raw-insn', path]);
  rmSync(folder, { recursive: true });
  return [...String(stdout).matchAll(/^ *([0-9a-f]+):\t(.*)$/gm)].map(([, at, text]) => {
    const target = /^j\w+ +0x([0-9a-f]+)$/.exec(text!.trim())?.[1];
    return { at: Number.parseInt(at!, 16), text: text!.trim(), target: target === undefined ? undefined : Number.parseInt(target, 16) };
  });
}

/** Loops without a loop inside, as the first and the last index of their lines. */
function innermost(lines: readonly Line[]): (readonly [number, number])[] {
  const indexes = new Map(lines.map(({ at }, i) => [at, i]));
  const loops = lines.flatMap(({ at, target }, i): (readonly [number, number])[] =>
    target !== undefined && target <= at && indexes.has(target) ? [[indexes.get(target)!, i]] : [],
  );
  return loops.filter(([from, to]) => !loops.some(([first, last]) => first >= from && last <= to && (first !== from || last !== to)));
}

/** How often each mnemonic is in some lines, the most frequent first. */
function histogram(lines: readonly Line[]): string {
  const counts = new Map<string, number>();
  for (const { text } of lines) {
    const isSpill = /\[rsp/.test(text) ? '[rsp]' : '';
    const name = text.split(' ')[0]! + isSpill;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

const compiled = compileNative(moduleOf(words.find((word) => !word.startsWith('--'))!), { avx512 });
if ('why' in compiled) throw new Error(compiled.why);
const lines = linesOf(compiled);
const targets = new Set(lines.map(({ target }) => target));
const names = new Map(Object.entries(compiled.entries).map(([name, { offset }]) => [offset, name]));
const print = (some: readonly Line[]) => {
  for (const { at, text } of some) {
    const name = names.get(at) ?? (targets.has(at) ? at.toString(16) : undefined);
    if (name !== undefined) console.log(`${name}:`);
    console.log(`  ${at.toString(16).padStart(5)}  ${text}`);
  }
};
if (!isSet('loops')) print(lines);
else
  for (const [from, to] of innermost(lines)) {
    const loop = lines.slice(from, to + 1);
    console.log(`loop of ${loop.length} instructions: ${histogram(loop)}`);
    print(loop);
  }
