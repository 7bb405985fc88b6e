/** Whole programs of `examples/programs`, against what the same sources print on an H200, compiled by nvcc: `fixtures/programs`. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('examples/programs');

const run = (name: string, args: readonly string[] = []) =>
  spawnSync(
    join(root, 'bin/cumetal'),
    ['run', `examples/programs/${name}.cu`, '--device', 'cpu', ...(args.length > 0 ? ['--', ...args] : [])],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );

need(test, ['sysroot'], 'programs print what they print on an H200', () => {
  for (const [name, fixture, args] of [
    ['vector_add', 'vector_add', []],
    ['mandelbrot', 'mandelbrot', []],
    ['mandelbrot', 'mandelbrot-section', ['60', '20', '-0.75', '0.1', '0.02']],
  ] as const) {
    const { status, stdout, stderr } = run(name, args);
    assert.equal([status, stderr], [0, ''], fixture);
    assert.is(stdout, readFileSync(join(root, `fixtures/programs/${fixture}.txt`), 'utf8'), fixture);
  }
});

need(test, ['sysroot'], 'an error of CUDA is found by the program itself', () => {
  const { status, stdout, stderr } = run('vector_add', ['0']);
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, /vector_add\.cu:39: invalid (configuration )?argument\n$/);
});

test.run();
