/** Whole programs of `examples/programs`, against what the same sources print on an H200, compiled by nvcc: `fixtures/programs`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

// Expected: POSIX.1-2017, "Pathname Resolution" and `chdir`. Static constructors of C++ run before `main`.
need(test, ['sysroot'], 'relative paths begin at the current folder, absolute ones at the root', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
  try {
    mkdirSync(join(folder, 'tmp/below'), { recursive: true });
    writeFileSync(join(folder, 'tmp/near'), 'near');
    writeFileSync(join(folder, 'above'), 'above');
    writeFileSync(join(folder, 'paths.cpp'), paths);
    const { status, stdout, stderr } = spawnSync(join(root, 'bin/cumetal'), ['run', '../paths.cpp', '--', join(folder, 'above')], {
      cwd: join(folder, 'tmp'),
      encoding: 'utf8',
      env: { ...process.env, PWD: '/stale' },
    });
    assert.equal([status, stderr], [0, '']);
    assert.equal(stdout.split('\n'), [`${folder}/tmp`, 'near', 'above', 'above', 'none', 'near', 'above', `${folder}/tmp/below`, '']);
    assert.is(readFileSync(join(folder, 'tmp/below/written'), 'utf8'), 'new');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const paths = `
#include <cstdio>
#include <unistd.h>
struct Early { char text[64]; Early(const char *path) { read(path, text); }
  static void read(const char *path, char *to) {
    FILE *file = fopen(path, "r");
    snprintf(to, 64, "none");
    if (file) { to[fread(to, 1, 63, file)] = 0; fclose(file); }
  } };
static Early early("near");
static void show(const char *path) { char text[64]; Early::read(path, text); puts(text); }
int main(int argc, char **argv) {
  char folder[1024];
  puts(getcwd(folder, sizeof folder));
  puts(early.text);
  show("../above"); show(argv[1]); show("/near");
  show("./near");
  if (chdir("below")) return 1;
  show("../../above");
  puts(getcwd(folder, sizeof folder));
  FILE *file = fopen("written", "w");
  fputs("new", file);
  return fclose(file);
}
`;

test.run();
