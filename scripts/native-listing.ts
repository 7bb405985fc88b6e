/**
 * The machine code of a kernel: `bun scripts/native-listing.ts [--kernel=NAME] [--block=256] [--avx2] [--lanes] [--loops] FILE.ptx|FILE.wasm`. Prints the listing
 * that objdump makes of it, with `--lanes` without gathers; with `--loops` the innermost loops alone, and how many instructions of each kind they have.
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
  /** The function that a call calls. */
  readonly callee: number | undefined;
}

/** The instructions of code, as objdump reads them. */
function linesOf({ code }: NativeCode): Line[] {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-listing-'));
  const path = join(folder, 'code');
  writeFileSync(path, code);
  const { stdout } = Bun.spawnSync(['objdump', '-D', '-b', 'binary', '-mi386:x86-64', '-Mintel', '--no-show-raw-insn', path]);
  rmSync(folder, { recursive: true });
  return [...String(stdout).matchAll(/^ *([0-9a-f]+):\t(.*)$/gm)].map(([, at, text]) => {
    const [, kind, place] = /^(j|call)\w* +0x([0-9a-f]+)$/.exec(text!.trim()) ?? [];
    const number = place === undefined ? undefined : Number.parseInt(place, 16);
    const isCall = kind === 'call';
    return { at: Number.parseInt(at!, 16), text: text!.trim(), target: isCall ? undefined : number, callee: isCall ? number : undefined };
  });
}

/** A straight piece of code, and the pieces that may follow it. */
interface Piece {
  readonly lines: readonly Line[];
  readonly next: number[];
  readonly before: number[];
}

/** The pieces of code between jumps and their targets, and those of them that functions start with. */
function piecesOf(lines: readonly Line[], entries: readonly number[]): { pieces: Piece[]; roots: number[] } {
  const functions = new Set([...entries, ...lines.map(({ callee }) => callee)]);
  const targets = new Set([...functions, ...lines.map(({ target }) => target)]);
  const cut: Line[][] = [];
  lines.forEach((line, i) => {
    const last = lines[i - 1];
    if (i === 0 || targets.has(line.at) || last!.target !== undefined || /^ret/.test(last!.text)) cut.push([]);
    cut.at(-1)!.push(line);
  });
  const starts = new Map(cut.map(([first], i) => [first!.at, i]));
  const pieces = cut.map((piece): Piece => ({ lines: piece, next: [], before: [] }));
  const roots = [...functions].flatMap((at) => starts.get(at ?? -1) ?? []);
  const seen = new Set<number>();
  const pending = [...roots];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (seen.has(one)) continue;
    seen.add(one);
    const { text, target } = cut[one]!.at(-1)!;
    const next = [...(/^(jmp|ret)/.test(text) ? [] : [one + 1]), ...(target === undefined ? [] : [starts.get(target) ?? -1])];
    for (const to of next.filter((to) => pieces[to])) {
      pieces[one]!.next.push(to);
      pieces[to]!.before.push(one);
    }
    pending.push(...pieces[one]!.next);
  }
  return { pieces, roots };
}

/** Whether all ways from the pieces that nothing leads to, to a piece, pass another one. */
function isAbove(pieces: readonly Piece[], roots: readonly number[], above: number, piece: number): boolean {
  const seen = new Set([above]);
  const pending = roots.filter((root) => root !== above);
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (one === piece) return false;
    if (seen.has(one)) continue;
    seen.add(one);
    pending.push(...pieces[one]!.next);
  }
  return true;
}

/** The pieces of the loop from one to the one that jumps back to it. */
function loopOf(pieces: readonly Piece[], first: number, last: number): Set<number> {
  const loop = new Set([first]);
  const pending = [last];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (loop.has(one)) continue;
    loop.add(one);
    pending.push(...pieces[one]!.before);
  }
  return loop;
}

/** Loops without a loop inside, as their lines. */
function innermost(lines: readonly Line[], entries: readonly number[]): Line[][] {
  const { pieces, roots } = piecesOf(lines, entries);
  const loops = pieces.flatMap(({ next }, i) =>
    next.filter((to) => to <= i && isAbove(pieces, roots, to, i)).map((to) => ({ first: to, body: loopOf(pieces, to, i) })),
  );
  return loops
    .filter(({ first, body }) => !loops.some((other) => other.first !== first && body.has(other.first)))
    .map(({ body }) => [...body].sort((a, b) => a - b).flatMap((one) => pieces[one]!.lines));
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

const compiled = compileNative(moduleOf(words.find((word) => !word.startsWith('--'))!), { avx512, fastGathers: avx512 && !isSet('lanes') });
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
  for (const loop of innermost(lines, [...names.keys()])) {
    console.log(`loop of ${loop.length} instructions: ${histogram(loop)}`);
    print(loop);
  }
