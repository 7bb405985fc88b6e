/**
 * The size of what the compiler makes of kernels, which is exact: instructions of AIR, and bytes of the metallib. `code-size.json` has what was
 * recorded; `spec/compile/code-size.spec.ts` compares, and `npm run bench -- code-size --write` records anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { emit } from '../src/compile/index.ts';

const root = join(import.meta.dirname, '..');
const recordedFile = join(import.meta.dirname, 'code-size.json');

/** By how much a size may grow before it counts as worse. */
export const allowed = 1.05;

/**
 * The kernels that are measured: the examples, those of the benchmarks, and those of other compilers. nvcc leaves nothing that is computed twice: only
 * kernels of others grow where a pass is lost.
 */
export const sizedKernels: readonly string[] = [
  ...['examples/*.ptx', 'bench/kernels/*.ptx', 'bench/kernels/cpu/*.ptx'],
  ...['fixtures/triton/*.ptx', 'fixtures/matrix/tiles.ptx', 'fixtures/producers/manners/{gcc,ilgpu,julia,rust,tinygrad}.ptx'],
]
  .flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root })])
  .sort();

export interface Size {
  readonly instructions: number;
  readonly bytes: number;
}

export type Sizes = Readonly<Record<string, Size>>;

/** Instructions in the text of AIR modules: the indented lines of functions that are no comments. */
export function instructionsIn(text: string): number {
  let count = 0;
  let isInFunction = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('define ')) isInFunction = true;
    else if (line.startsWith('}')) isInFunction = false;
    else if (isInFunction && /^ {2}[^ ;\]]/.test(line)) count++;
  }
  return count;
}

/** The size of a kernel file for macOS 15. Throws for one that does not compile. */
export function sizeOf(file: string): Size {
  const source = new SourceFile(file, readFileSync(join(root, file), 'utf8'));
  const diagnostics = new Diagnostics(source);
  const text = emit(source, 'air-ll', { target: 'macos15' }, diagnostics);
  const metallib = emit(source, 'metallib', { target: 'macos15' }, diagnostics);
  if (typeof text !== 'string' || metallib === undefined) throw new Error(`${file}: ${diagnostics.list[0]?.message}`);
  return { instructions: instructionsIn(text), bytes: metallib.length };
}

/** What was recorded. */
export const recordedSizes = (): Sizes => JSON.parse(readFileSync(recordedFile, 'utf8'));

/** How a kernel became worse than it was, or undefined. */
export function worsening(file: string, now: Size, before: Size): string | undefined {
  const parts = (['instructions', 'bytes'] as const)
    .filter((what) => now[what] > before[what] * allowed)
    .map((what) => `${now[what]} ${what} in place of ${before[what]}`);
  return parts.length > 0 ? `${file}: ${parts.join(', ')}` : undefined;
}

/** Prints the sizes beside those recorded, and records them with `--write`. Returns whether none is worse. */
export function codeSize(words: readonly string[]): boolean {
  const before: Partial<Sizes> = recordedSizes();
  const now: Sizes = Object.fromEntries(sizedKernels.map((file) => [file, sizeOf(file)]));
  const width = Math.max(...sizedKernels.map((file) => file.length));
  for (const [file, { instructions, bytes }] of Object.entries(now)) {
    const old = before[file];
    const was = old ? `, recorded ${old.instructions} and ${old.bytes}` : ', not recorded';
    console.log(`${file.padEnd(width)}  ${instructions} instructions, ${bytes} bytes${was}`);
  }
  if (words.includes('--write')) {
    const lines = Object.entries(now).map(([file, size]) => `  ${JSON.stringify(file)}: ${JSON.stringify(size)}`);
    writeFileSync(recordedFile, `{\n${lines.join(',\n')}\n}\n`);
    return true;
  }
  const worse = Object.entries(now).flatMap(([file, size]) => (before[file] ? (worsening(file, size, before[file]) ?? []) : []));
  for (const line of worse) console.error(`worse: ${line}`);
  return worse.length === 0;
}
