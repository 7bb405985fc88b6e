/**
 * `bun scripts/fuzz-formats.ts COUNT [SEED]`: damages metal libraries and modules, ours and those in the folder that
 * CUMETAL_REAL_METALLIBS names, and has all that reads formats make something of them. Prints each exception, each case that
 * takes long, each that takes much memory, with what makes it again; ends with 1 where there is one.
 */
import { gcAndSweep, heapSize } from 'bun:jsc';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { random } from '../spec/support/mutate.ts';
import { mutatedLibrary, mutatedModule } from '../spec/support/mutate-bytes.ts';
import { realFiles } from '../spec/support/real.ts';
import { surviveLibrary, surviveModule } from '../spec/support/survive.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { readMetallib } from '../src/metallib/index.ts';

const [count = 1000, seed = 1] = process.argv.slice(2).map(Number);
/** Of processor time, milliseconds: a hundred times what the largest file takes. */
const longest = 2000;
/** What reading may take of memory: so many times the file, and what any small file takes. */
const [timesFile, anyFile] = [16, 2 ** 22];

function ownLibraries(): Uint8Array[] {
  const folder = join(import.meta.dirname, '../examples');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ptx'))
    .sort()
    .flatMap((name) => {
      const source = new SourceFile(name, readFileSync(join(folder, name), 'utf8'));
      return compile(source, { target: 'macos15' }, new Diagnostics(source))?.metallib ?? [];
    });
}

const bySize = (list: readonly Uint8Array[]): Uint8Array[] => [...list].sort((a, b) => a.length - b.length);
const libraries = bySize([...ownLibraries(), ...realFiles().map(({ bytes }) => bytes)]);
const modules = bySize(libraries.flatMap((bytes) => readMetallib(bytes, new Diagnostics())?.functions.map((fn) => fn.bitcode) ?? []));
console.log(`${libraries.length} libraries, ${modules.length} modules, ${count} of each kind, seed ${seed}`);

let faults = 0;
const outcomes = new Map<string, number>();
let mostMemory = 0;
let mostTime = 0;

/** Bytes that the heap has grown by. What is in excess is measured again, as others' memory may be collected in between. */
function grownBy(before: number, bytes: Uint8Array, run: (bytes: Uint8Array) => string): number {
  const grown = heapSize() - before;
  if (grown <= timesFile * bytes.length + anyFile) return grown;
  gcAndSweep();
  const start = heapSize();
  try {
    run(bytes);
  } catch {
    // The fault is known.
  }
  return heapSize() - start;
}

function attempt(kind: string, number: number, bytes: Uint8Array, run: (bytes: Uint8Array) => string): void {
  const [before, start] = [heapSize(), process.cpuUsage()];
  let fault = '';
  try {
    const outcome = `${kind} ${run(bytes)}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  } catch (error) {
    fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const { user, system } = process.cpuUsage(start);
  const took = (user + system) / 1000;
  const grown = grownBy(before, bytes, run);
  mostTime = Math.max(mostTime, took);
  mostMemory = Math.max(mostMemory, grown);
  if (took > longest) fault ||= `${took} ms of processor time`;
  if (grown > timesFile * bytes.length + anyFile) fault ||= `${grown} bytes of memory for ${bytes.length}`;
  if (!fault) return;
  faults++;
  const path = join(tmpdir(), `fuzz-${kind}-${seed}-${number}.bin`);
  writeFileSync(path, bytes);
  console.log(`${kind} ${number}: ${path}\n${fault}`);
}

for (let number = 0; number < count && faults < 20; number++) {
  const next = random(seed * 1_000_003 + number);
  // Small ones more often: as much is in them, and they take less time.
  const pick = (list: readonly Uint8Array[]): Uint8Array => list[Math.floor(next() ** 2 * list.length)]!;
  attempt('library', number, mutatedLibrary(pick(libraries), next), surviveLibrary);
  attempt('module', number, mutatedModule(pick(modules), next), surviveModule);
}
const told = [...outcomes].sort().map(([what, times]) => `${what} ${times}`);
console.log(`${told.join(', ')}; at most ${Math.round(mostTime)} ms and ${Math.round(mostMemory / 2 ** 20)} MiB; ${faults} faults`);
process.exit(faults > 0 ? 1 : 0);
