/** `cumetal build --print-after`: the IR after passes, on standard error. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { parseModule } from '../../src/ir/index.ts';
import { cli } from '../support/cli.ts';
import { exampleText } from '../support/examples.ts';

const test = suite('cli/print-after');

async function buildWith(argv: readonly string[]): Promise<{ code: number | null; err: string; bytes: Uint8Array }> {
  const { code, err, outBytes, files } = await cli(['build', 'k.ptx', '-o', '-', ...argv], { 'k.ptx': exampleText('vector_add') });
  assert.equal(Object.keys(files), [], 'no file is written');
  return { code, err, bytes: outBytes };
}

const passesIn = (err: string): string[] => [...err.matchAll(/^; after (.*)$/gm)].map((match) => match[1]!);

test('the IR after a pass of lowering, in the text form, and the same bytes as without', async () => {
  const { code, err, bytes } = await buildWith(['--print-after', 'recover-pointers']);
  assert.is(code, 0);
  assert.equal(passesIn(err), ['recover-pointers']);
  const diagnostics = new Diagnostics();
  const { kernels } = parseModule(new SourceFile('a.ir', err), diagnostics);
  assert.equal(diagnostics.list, []);
  assert.equal(
    kernels.map(({ name }) => name),
    ['vector_add'],
  );
  assert.equal(bytes, (await buildWith([])).bytes);
});

test('several passes, each as often as it runs, in the order in which they run', async () => {
  const { err } = await buildWith(['--print-after', 'dce', '--print-after', 'pack-values', '--print-after', 'expand-atomics']);
  const passes = passesIn(err);
  assert.is(passes[0], 'pack-values');
  assert.is(passes.at(-1), 'expand-atomics');
  assert.equal([...new Set(passes.slice(1, -1))], ['dce']);
});

test('`all` prints after every pass', async () => {
  const passes = passesIn((await buildWith(['--print-after', 'all'])).err);
  assert.is(passes[0], 'lower');
  for (const name of ['disjoint-sums', 'cleanup-cfg', 'flatten', 'grid-positions', 'soft-f64']) assert.ok(passes.includes(name), name);
});

test('an unknown pass is a usage error that lists the passes and suggests the nearest', async () => {
  const { code, err, bytes } = await buildWith(['--print-after', 'simplfy']);
  assert.is(code, 2);
  assert.is(bytes.length, 0);
  assert.match(
    err,
    /^error: invalid value `simplfy` for `--print-after`: expected one of lower, .*, expand-atomics, .*, all; did you mean `simplify`\?\n/,
  );
});

test.run();
