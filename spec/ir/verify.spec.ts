import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { addBlock, type Kernel, parseModule, verify, verifyModule } from '../../src/ir/index.ts';
import { vectorAdd } from '../support/kernels.ts';

const test = suite('ir/verify');
const folder = join(import.meta.dirname, '../../fixtures/ir/verify');

const rulesOf = (diagnostics: Diagnostics): string[] => diagnostics.list.map((d) => /rule (\w+)/.exec(d.message)![1]!);

function broken(kernel: Kernel): string[] {
  const diagnostics = new Diagnostics();
  verify(kernel, diagnostics);
  return rulesOf(diagnostics);
}

// The name of a fixture starts with the one promise it breaks.
const names = readdirSync(folder).filter((name) => name.endsWith('.ir'));
for (const name of names)
  test(`${name} breaks its promise and no other`, () => {
    const file = new SourceFile(name, readFileSync(join(folder, name), 'utf8'));
    const reading = new Diagnostics(file);
    const module = parseModule(file, reading);
    assert.equal(reading.list, []);
    const diagnostics = new Diagnostics();
    assert.is(verifyModule(module, diagnostics), false);
    const also = name.startsWith('V3') ? ['T3'] : [];
    assert.equal(
      [...new Set(rulesOf(diagnostics))].filter((rule) => !also.includes(rule)),
      [name.slice(0, 2)],
    );
  });

test('each promise of the header has a fixture or a test here', () => {
  const header = readFileSync(join(import.meta.dirname, '../../src/ir/verify/index.ts'), 'utf8');
  const promises = [...header.matchAll(/^ \* {2}([BVTM]\d) /gm)].map((m) => m[1]!);
  const shown = new Set([...names.map((name) => name.slice(0, 2)), 'B2', 'B3', 'V4']);
  assert.ok(promises.length >= 19);
  assert.equal(
    promises.filter((promise) => !shown.has(promise)),
    [],
  );
});

test('a sound kernel breaks none', () => assert.equal(broken(vectorAdd()), []));

test('B2: an id that is not the position', () => {
  const kernel = vectorAdd();
  kernel.blocks[1]!.id = 7;
  assert.equal(broken(kernel), ['B2']);
});

test('B3: an edge to a block of another kernel', () => {
  const kernel = vectorAdd();
  kernel.blocks[1]!.end = { op: 'br', to: { block: addBlock(vectorAdd()), args: [] } };
  assert.equal(broken(kernel), ['B3']);
});

test('V1: a value that stands twice, one that is not there', () => {
  const twice = vectorAdd();
  twice.blocks[0]!.body.push(twice.blocks[0]!.body[0]!);
  assert.equal(broken(twice), ['V1']);
  const missing = vectorAdd();
  missing.insts.length -= 1;
  missing.locs.length -= 1;
  assert.ok(broken(missing).includes('V1'));
});

test('V4: a location for each instruction', () => {
  const kernel = vectorAdd();
  kernel.locs.pop();
  assert.equal(broken(kernel), ['V4']);
});

test('all violations are reported', () => {
  const kernel = vectorAdd();
  kernel.locs.pop();
  kernel.variables.push({ name: 'v', space: 'shared', size: 4, align: 3, isDynamic: false, init: undefined, element: undefined });
  assert.equal(broken(kernel), ['V4', 'M5']);
});

test.run();
