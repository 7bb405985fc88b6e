/**
 * The file tests of `fixtures/ir`, a folder for each pass: the passes of the IR, those of lowering, legalization and the device that need nothing
 * but a kernel, and the vectorizer's transforms. `bun spec/ir/file-tests.spec.ts --bless` writes what the passes give into tests that fail.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { useGridPositions } from '../../src/air/emit/grid-positions.ts';
import { legalPasses, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { expandMatmul } from '../../src/engine/scalar/matmul.ts';
import { simdTransforms } from '../../src/engine/simd/transform/transforms.ts';
import {
  carryShuffles,
  costPasses,
  type Kernel,
  mergeCollectives,
  type Pass,
  parseModule,
  printKernel,
  recoverPointers,
  rendezvousLoop,
  replaceMasks,
  standardPasses,
  verify,
} from '../../src/ir/index.ts';
import { endStuckAt, promoteLocals } from '../../src/lower/index.ts';
import { sumDisjointParts } from '../../src/lower/passes/disjoint-sums.ts';
import { blessed, mismatch, readFileTest } from '../support/file-test.ts';

const test = suite('ir/file tests');

const isBlessing = process.argv.includes('--bless') || process.env.BLESS !== undefined;
const folder = join(import.meta.dirname, '../../fixtures/ir');

const irPasses: readonly Pass[] = [
  ...standardPasses,
  ...costPasses,
  { name: 'carry-shuffles', run: carryShuffles },
  { name: 'replace-masks', run: (kernel) => replaceMasks(kernel, { areRowsAligned: true }) },
  { name: 'merge-collectives', run: (kernel) => mergeCollectives(kernel, { areRowsAligned: true }) },
  { name: 'rendezvous-loop', run: (kernel) => rendezvousLoop(kernel, { areRowsAligned: true, endStuck: endStuckAt(undefined) }) },
  { name: 'recover-pointers', run: recoverPointers },
];

/** Says of a pass that gives nothing that it may have changed the kernel. */
const silent = (name: string, run: (kernel: Kernel) => void): Pass => ({
  name,
  run(kernel) {
    run(kernel);
    return true;
  },
});

const otherPasses: readonly Pass[] = [
  silent('disjoint-sums', sumDisjointParts),
  { name: 'promote-locals', run: promoteLocals },
  { name: 'grid-positions', run: useGridPositions },
  { name: 'expand-matmul', run: expandMatmul },
  ...legalPasses.map(({ name, run }): Pass => ({ name, run: (kernel) => run(kernel, targets.macos14, new Diagnostics()) })),
];

const passes = new Map([...irPasses, ...simdTransforms, ...otherPasses].map((pass) => [pass.name, pass]));

function assertSound(kernel: Kernel): void {
  const diagnostics = new Diagnostics();
  verify(kernel, diagnostics);
  assert.equal(
    diagnostics.list.map(({ message }) => message),
    [],
  );
}

/** Runs the passes, each of which keeps the kernel sound, and changes nothing where it says so. */
function outputOf(input: string, names: readonly string[]): string {
  const file = new SourceFile('test.ir', input);
  const diagnostics = new Diagnostics(file);
  const { kernels } = parseModule(file, diagnostics);
  assert.equal(
    diagnostics.list.map(({ message }) => message),
    [],
  );
  for (const kernel of kernels) {
    assertSound(kernel);
    for (const name of names) {
      const pass = passes.get(name);
      if (!pass) throw new Error(`there is no pass ${name}`);
      const before = printKernel(kernel);
      if (!pass.run(kernel)) assert.is(printKernel(kernel), before, `${name} says that it changed nothing`);
      assertSound(kernel);
    }
  }
  return kernels.map(printKernel).join('\n');
}

const folders = readdirSync(folder).filter((name) => name !== 'verify');
for (const name of folders)
  for (const file of readdirSync(join(folder, name)))
    test(`${name}/${file}`, () => {
      const path = join(folder, name, file);
      const read = readFileTest(readFileSync(path, 'utf8'));
      if (typeof read === 'string') throw new Error(read);
      assert.ok(read.passes.includes(name), `the folder is one of the passes: ${read.passes.join(', ')}`);
      const output = outputOf(read.input, read.passes);
      const wrong = read.directives.length === 0 ? 'there is no directive' : mismatch(read.directives, output);
      if (wrong !== undefined && isBlessing) writeFileSync(path, blessed(read, output));
      else assert.is(wrong, undefined, `${wrong ?? ''}\n${output}`);
    });

test('every pass has a folder of tests', () => {
  assert.equal(
    [...passes.keys()].filter((name) => !folders.includes(name) && name !== 'emulate-f64'),
    [],
  );
});

test('directives: in order, on the next line, and not between', () => {
  const output = 'a 1\nb 2\nc 3\nd 4\n';
  const of = (...lines: string[]): string | undefined => {
    const read = readFileTest(['; pass: dce', '; About directives.', ...lines].join('\n'));
    if (typeof read === 'string') throw new Error(read);
    return mismatch(read.directives, output);
  };
  assert.is(of('; check: a', '; check: c'), undefined);
  assert.match(of('; check: c', '; check: a')!, /`check: a` does not match behind `c 3`/);
  assert.is(of('; check: a', '; nextln: b'), undefined);
  assert.match(of('; check: a', '; nextln: c')!, /`nextln: c` does not match/);
  assert.is(of('; check: a', '; not: d', '; check: c'), undefined);
  assert.match(of('; check: a', '; not: b', '; check: c')!, /`not: b` matches before `c 3`/);
  assert.match(of('; check: b', '; not: d')!, /`not: d` matches behind `b 2`/);
  assert.is(of('; not: e'), undefined);
  assert.is(of(String.raw`; check: /^c \d$/`), undefined);
  assert.match(of(String.raw`; check: /^\d/`)!, /does not match behind `the start`/);
});

test('a test states its passes and its subject, and blessing keeps its input', () => {
  assert.match(readFileTest('kernel') as string, /first line/);
  assert.match(readFileTest('; pass: dce\nkernel') as string, /second line/);
  const read = readFileTest('; pass: dce\n; About blessing.\nkernel "k" {\nb0:\n  ret\n}\n; check: other\n');
  if (typeof read === 'string') throw new Error(read);
  assert.is(
    blessed(read, 'kernel "k" {\nb0:\n  ret\n}\n'),
    '; pass: dce\n; About blessing.\nkernel "k" {\nb0:\n  ret\n}\n; check: b0:\n; nextln: ret\n; nextln: }\n',
  );
});

test.run();
