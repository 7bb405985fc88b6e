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

/** Compiles and runs sources; returns what the program prints. */
function printed(sources: Readonly<Record<string, string>>, words: readonly string[] = []): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
  try {
    for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text);
    mkdirSync(join(folder, 'below'));
    const { status, stdout, stderr } = spawnSync(join(root, 'bin/cumetal'), ['run', ...Object.keys(sources), ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal([status, stderr], [0, '']);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Expected: C17, 7.13; a jump unwinds nothing, and a `volatile` variable keeps its value.
need(test, ['sysroot'], 'longjmp returns to setjmp, in C and in C++', () => {
  const jumps = `
#include <setjmp.h>
#include <stdio.h>
static jmp_buf outer, inner;
static void leave(int depth, int value) { if (depth > 0) leave(depth - 1, value); else longjmp(value < 0 ? outer : inner, value < 0 ? -value : value); }
void NAME(void) {
  volatile int turns = 0;
  int from = setjmp(outer);
  if (from != 0) { printf("outer %d after %d\\n", from, turns); return; }
  int got = setjmp(inner);
  printf("inner %d\\n", got);
  turns = turns + 1;
  if (turns == 1) leave(3, 0);
  if (turns == 2) leave(5, 7);
  leave(2, -9);
}
`;
  const main = `
#include <cstdio>
extern "C" void in_c(void);
void in_cpp(void);
struct Guard { ~Guard() { puts("guard"); } };
int main() {
  in_c();
  in_cpp();
  try { Guard guard; throw 3; } catch (int n) { std::printf("caught %d\\n", n); }
}
`;
  const once = ['inner 0', 'inner 1', 'inner 7', 'outer 9 after 3'];
  const sources = { 'main.cpp': main, 'a.c': jumps.replace('NAME', 'in_c'), 'b.cpp': jumps.replace('NAME', 'in_cpp') };
  assert.equal(printed(sources).split('\n'), [...once, ...once, 'guard', 'caught 3', '']);
});

// Expected: the macros that GCC has on Linux, in standards of GNU and of ISO; POSIX.1-2017, `fchdir` and `localtime`; what GCC's library has
// of C++14 in later standards.
need(test, ['sysroot'], 'programs for Linux find its names, its time and its folders', () => {
  const program = `
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cstdio>
#include <ctime>
#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <functional>
#include <locale>
#include <memory>
#include <string>
#include <unistd.h>
#if defined(__linux__) && defined(__linux) && defined(__gnu_linux__) && defined(__unix__) && defined(__unix) && linux && unix
int main() {
  time_t day = 86400 * 365;
  char text[64];
  strftime(text, sizeof text, "%Y-%m-%d", localtime(&day));
  puts(text);
  std::atomic<int> flag{1};
  flag.wait(0);
  puts(std::use_facet<std::numpunct<char>>(std::locale::classic()).truename().c_str());
  struct Less : std::binary_function<int, int, bool> { bool operator()(int a, int b) const { return a < b; } };
  struct Double : std::unary_function<int, int> { int operator()(int a) const { return 2 * a; } };
  int v[] = {3, 1, 2};
  std::random_shuffle(v, v + 3);
  std::sort(v, v + 3, Less());
  std::auto_ptr<int> owner(new int(Double()(v[0])));
  printf("%d%d%d %d %d\\n", v[0], v[1], v[2], *owner, (int)std::count_if(v, v + 3, std::bind2nd(Less(), 3)));
  int start = open(".", O_RDONLY);
  printf("%d %d ", chdir("below"), access("main.cpp", R_OK));
  printf("%d %d\\n", fchdir(start), access("main.cpp", R_OK));
}
#endif
`;
  assert.equal(printed({ 'main.cpp': program }, ['-std=gnu++20']).split('\n'), ['1971-01-01', 'true', '123 2 2', '0 -1 0 0', '']);
});

test.run();
