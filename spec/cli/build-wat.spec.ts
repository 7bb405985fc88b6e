/** `cumetal build --emit wat` and `wat:simd`: the WebAssembly modules of the CPU device as text. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cli } from '../support/cli.ts';
import { exampleText } from '../support/examples.ts';

const test = suite('cli/build-wat');

async function watOf(ptx: string, ...argv: readonly string[]): Promise<{ code: number | null; err: string; text: string }> {
  const { code, err, out, files } = await cli(['build', 'k.ptx', '-o', '-', ...argv], { 'k.ptx': ptx });
  assert.equal(Object.keys(files), [], 'no file is written');
  return { code, err, text: out };
}

/** Without the launch lines. */
const withoutLines = (ptx: string): string => ptx.replace(/^\/\/! cumetal:.*\n/gm, '');

test('the scalar compiler’s module, which has no vectors', async () => {
  const { code, err, text } = await watOf(exampleText('vector_add'), '--emit', 'wat');
  assert.is(code, 0, err);
  assert.match(text, /^\(module \$vector_add\n/);
  assert.match(text, /\n {2}\(export "run" \(func \$run\)\)\n/);
  assert.match(text, /\n +f32\.add\n/);
  assert.not.match(text, /v128|x4/);
});

test('the SIMD compiler’s module, for the block of the launch lines, else for 256 threads', async () => {
  const ptx = withoutLines(exampleText('vector_add'));
  const others = await watOf(ptx, '--emit', 'wat:simd');
  assert.is(others.code, 0, others.err);
  assert.match(others.text, /\n +f32x4\.add\n/);
  assert.match(others.text, /i32\.const 256\n/);
  assert.not.match(others.text, /i32\.const 96\n/);
  assert.equal(await watOf(`//! cumetal: --block 256\n${ptx}`, '--emit', 'wat:simd'), others);
  const { text } = await watOf(`//! cumetal: --grid 4\n//! cumetal: --block 96\n${ptx}`, '--emit', 'wat:simd');
  assert.match(text, /i32\.const 96\n/);
  assert.not.match(text, /i32\.const 256\n/);
});

test('a kernel that the SIMD compiler declines is an error with the reason', async () => {
  const { code, err, text } = await watOf(exampleText('histogram'), '--emit', 'wat:simd');
  assert.is(code, 3);
  assert.match(
    err,
    /^error\[CM5091\]: the SIMD compiler does not vectorize `histogram` for blocks of \d+ x \d+ x \d+ threads: a spin loop/,
  );
  assert.is(text, '');
  assert.is((await watOf(exampleText('histogram'), '--emit', 'wat')).code, 0);
});

test('a module for each kernel, and `--entry` chooses', async () => {
  const ptx = withoutLines(exampleText('vector_add'));
  const second = ptx.slice(ptx.indexOf('.visible .entry')).replaceAll('vector_add', 'other');
  const modules = (text: string): string[] => [...text.matchAll(/^\(module (\S+)$/gm)].map((match) => match[1]!);
  assert.equal(modules((await watOf(ptx + second, '--emit', 'wat')).text), ['$vector_add', '$other']);
  assert.equal(modules((await watOf(ptx + second, '--emit', 'wat', '--entry', 'other')).text), ['$other']);
});

test('an error of the source is reported as for every other output', async () => {
  const { code, err, text } = await watOf(exampleText('vector_add').replace('add.f32', 'bad.f32'), '--emit', 'wat');
  assert.is(code, 3);
  assert.match(err, /^error\[CM\d+\]/);
  assert.is(text, '');
});

test.run();
