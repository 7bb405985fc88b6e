/**
 * Whole programs: `cumetal cc` and `cumetal run program.cu`. The libraries of host code are not in the repository, so that programs here have a
 * C library of a few functions, which the spec compiles.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseLine } from '../../src/cli/cc/parse.ts';
import { hasMain } from '../../src/cli/cuda/main-function.ts';
import { moduleIn, programFile } from '../../src/cli/cuda/program-file.ts';
import { locatePackage } from '../../src/toolchain/index.ts';
import { commandLine } from '../support/command-line.ts';
import { root } from '../support/examples.ts';

const test = suite('cli/programs');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

// ── Words of nvcc ──

test('nvcc reads names with one dash or two, and values joined, behind an equals sign, or as the next word', () => {
  const line = parseLine(
    '-Ia -I b -I=c,d --include-path e -DX=1 --define-macro=Y -std=c++20 -O3 -arch=sm_90 -gencode arch=compute_80,code=sm_80 a.cu -o out'.split(
      ' ',
    ),
  );
  if (typeof line === 'string') throw new Error(line);
  assert.equal(line.values('include'), ['a', 'b', 'c', 'd', 'e']);
  assert.equal(line.values('define'), ['X=1', 'Y']);
  assert.equal([line.values('standard'), line.values('output')], [['c++20'], ['out']]);
  assert.equal(line.files, [{ path: 'a.cu' }]);
});

test('words for the host compiler are used where the front end has them', () => {
  const line = parseLine([
    'a.cpp',
    '-Xcompiler',
    '-Wall,-DZ=2',
    '-Xcompiler',
    '"-O3 -I inc -fopenmp"',
    '-x',
    'cu',
    'b.h',
    '-x',
    'none',
    'c.o',
  ]);
  if (typeof line === 'string') throw new Error(line);
  assert.equal([line.values('define'), line.values('include')], [['Z=2'], ['inc']]);
  assert.equal(line.files, [{ path: 'a.cpp' }, { path: 'b.h', language: 'cuda' }, { path: 'c.o' }]);
});

test('unknown and refused words are errors that say what to do', () => {
  assert.is(parseLine(['--expt-relaxed-constepxr']), 'unknown option `--expt-relaxed-constepxr`; did you mean `--expt-relaxed-constexpr`?');
  assert.match(String(parseLine(['-shared', 'a.cu'])), /^`-shared` is refused: shared libraries are not made/);
  assert.is(parseLine(['a.cu', '-o']), '`-o` requires a value: `-o FILE`');
  assert.is(parseLine(['-x', 'fortran', 'a.f']), 'unknown language `fortran`: expected cu, c or c++');
});

// ── What is a program ──

test('a source with a function main is a program, unless it is in a comment or a text', () => {
  for (const text of ['int main() {}', 'int\nmain (int argc, char **argv) {', 'auto main() -> int {', 'void main(){}', 'main() {}'])
    assert.ok(hasMain(text), text);
  for (const text of [
    '// int main() {}',
    '/* int main() */',
    'const char *s = "int main()";',
    'R"x(int main() {})x"',
    'int domain(int);',
    'int main_loop();',
    'remain();',
    "char c = '\"'; // int main()",
  ])
    assert.not(hasMain(text), text);
});

test('a program file is a module, which a shell starts with the program that made it', () => {
  const module = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 10, 10, 0);
  const path = join(folder, 'started');
  const command = file("it's a launcher", '#!/bin/sh\necho "$@"\n');
  chmodSync(command, 0o755);
  writeFileSync(path, programFile(module, command));
  chmodSync(path, 0o755);
  assert.equal(moduleIn(new Uint8Array(readFileSync(path))), module);
  assert.is(spawnSync(path, ['a b', '--help'], { encoding: 'utf8' }).stdout, `run ${path} -- a b --help\n`);
  assert.is(moduleIn(new TextEncoder().encode('#!/bin/sh\n# cumetal program\nexit 1\n')), undefined);
});

test('without the libraries of host code, a program is refused with the package to install', async () => {
  const program = file('alone.cu', 'int main() { return 0; }\n');
  const { code, out, err } = await commandLine(['run', program], {}, { CUMETAL_SYSROOT: join(folder, 'nowhere') });
  assert.equal([code, out], [2, '']);
  assert.match(
    err,
    /^error: .*alone\.cu is a whole CUDA program, and the package `cumetal-cuda`, which compiles host code, is not installed\n/,
  );
});

test('options of one launch, and compilers of kernels, are not for programs', async () => {
  const program = file('options.cpp', 'int main() { return 0; }\n');
  for (const [words, message] of [
    [['--print', '0'], '`--print` is for one launch of a kernel, and this is a whole program'],
    [['--compiler', 'nvcc'], '`--compiler nvcc` compiles kernels, and a whole program is compiled by `clang` or `wasm`'],
  ] as const) {
    const { code, err } = await commandLine(['run', program, ...words]);
    assert.is(code, 2);
    assert.ok(err.startsWith(`error: ${message}\n`), err);
  }
  const { code, err } = await commandLine(['run', join(root, 'examples/vector_add.ptx'), '--', 'x']);
  assert.is(code, 2);
  const absent = await commandLine(['run', join(root, 'examples/absent.cu'), '--', 'x']);
  assert.is(absent.code, 2);
  assert.match(absent.err, /^error: cannot read `.*absent\.cu`: no such file\n/);
  const library = await commandLine(['run', join(root, 'examples/vector_add.ptx'), '-lm']);
  assert.is(library.code, 2);
  assert.match(library.err, /`--library` is for a whole program, and `.*vector_add\.ptx` is a module of kernels/);
  assert.match(err, /words after `--` are arguments of a whole program, and `.*vector_add\.ptx` is a module of kernels/);
});

test('options of compilers, as they spell them', async () => {
  const program = file('words.cu', 'int main() { return 0; }\n');
  const words = ['-std=c++20', '-O3', '-I', folder, '-DN=1', '-L.', '-lcudart'];
  const { code, err } = await commandLine(['run', program, ...words], {}, { CUMETAL_SYSROOT: join(folder, 'nowhere') });
  // Nothing is wrong with the words.
  assert.is(code, 2);
  assert.match(err, /^error: .*words\.cu is a whole CUDA program, and the package/);
  assert.match((await commandLine(['run', program, '-stdin=x'])).err, /^error: unexpected option `-s`/);
});

test('how kernels are compiled for a target is for programs too', async () => {
  const program = file('modes.cu', 'int main() { return 0; }\n');
  for (const words of [['--fp64', 'emulate'], ['--mma', 'fast'], ['--allow-fallback', 'clock'], ['--ptx-strict']]) {
    const { err } = await commandLine(['run', program, ...words], {}, { CUMETAL_SYSROOT: join(folder, 'nowhere') });
    assert.match(err, /^error: .*modes\.cu is a whole CUDA program, and the package/, words.join(' '));
  }
});

// ── A program with a library of the spec ──

/** A C library: start, memory that is never freed, and output, in the forms of `scripts/toolchain/runtime/start.c`. Source: WASI preview 1. */
const library = `
typedef unsigned long size_t;
__attribute__((import_module("wasi_snapshot_preview1"), import_name("fd_write"))) int fd_write(long, const void *, size_t, size_t *);
__attribute__((import_module("wasi_snapshot_preview1"), import_name("proc_exit"))) _Noreturn void proc_exit(long);
__attribute__((import_module("wasi_snapshot_preview1"), import_name("args_sizes_get"))) int args_sizes_get(size_t *, size_t *);
__attribute__((import_module("wasi_snapshot_preview1"), import_name("args_get"))) int args_get(char **, char *);
__attribute__((import_module("cumetal"), import_name("outside"))) int outside(long address);
__attribute__((export_name("__cumetal_keep"))) int keep(long address) { return outside(address); }
extern void __wasm_call_ctors(void);
int main(int, char **) __asm__("__main_argc_argv");
static char heap[1 << 20] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t n) { void *p = heap + used; used += (n + 15) & ~15ul; return p; }
void free(void *p) {}
void *memset(void *to, int c, size_t n) { for (size_t i = 0; i < n; i++) ((char *)to)[i] = c; return to; }
int atexit(void (*f)(void)) { return 0; }
int write_text(const char *s) { size_t n = 0, done; while (((volatile const char *)s)[n]) n++; struct { const char *at; size_t n; } v = {s, n}; return fd_write(1, &v, 1, &done); }
static char *args[16];
static char texts[1024];
__attribute__((export_name("_start"))) void _start(void) {
  size_t count, bytes;
  __wasm_call_ctors();
  args_sizes_get(&count, &bytes);
  args_get(args, texts);
  proc_exit(main(count, args));
}
`;

const program = `
extern "C" int write_text(const char *);
__constant__ float factor[1];
__device__ int calls;
template <class T> __global__ void scale(T *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * factor[0] + 1;
  if (i == 0) calls++;
}
__global__ void far(float *p) {
  p[1 << 20] = 1;
}
__global__ void wide(float *p) {
  extern __shared__ float shared[];
  shared[24999] = p[0];
  p[0] = shared[24999] + 1;
}
static void show(unsigned n) {
  char text[12], *at = text + 11;
  *at = 0; *--at = '\\n';
  do *--at = '0' + n % 10; while (n /= 10);
  write_text(at);
}
int main(int argc, char **argv) {
  float host[100], f = 2.5f, *p;
  for (int i = 0; i < 100; i++) host[i] = i;
  cudaMemcpyToSymbol(factor, &f, sizeof f);
  cudaMalloc(&p, sizeof host);
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  scale<<<4, 32>>>(p, 100);
  scale<<<dim3(4), dim3(32), 0, 0>>>(p, 10);
  if (argc > 1) {
    far<<<1, 1>>>(p);
    return cudaDeviceSynchronize();
  }
  if (cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000)) return 1;
  wide<<<1, 1, 100000>>>(p);
  int times;
  cudaMemcpyFromSymbol(&times, calls, sizeof times);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  show(times); show(host[0] * 100); show(host[9] * 100); show(host[99] * 100);
  return 7;
}
`;

const clang = locatePackage([root]);
const env = { CUMETAL_SYSROOT: join(folder, 'sysroot') };
async function cc(...words: string[]) {
  const ran = await commandLine(['cc', ...words], {}, env);
  for (const [path, bytes] of Object.entries(ran.written)) writeFileSync(path, bytes);
  return ran;
}
const started = (...words: string[]) =>
  spawnSync(join(root, 'bin/cumetal'), ['run', ...words], { encoding: 'utf8', cwd: folder, env: { ...process.env, ...env } });

test('both halves of a source, its launches and its symbols', async () => {
  assert.ok(clang, '@yowasp/clang is a dependency of the package in packages/');
  const lib = join(env.CUMETAL_SYSROOT, 'lib');
  mkdirSync(lib, { recursive: true });
  // The headers of the compiler's own libraries, and empty archives.
  const resources = join(dirname(clang!.entry), 'llvm-resources.tar');
  spawnSync('tar', ['-xf', resources, '-C', folder, 'include/wasm32-wasip1']);
  spawnSync('mv', [join(folder, 'include/wasm32-wasip1'), join(env.CUMETAL_SYSROOT, 'include')]);
  for (const name of ['libc', 'libc++', 'libc++abi']) writeFileSync(join(lib, `${name}.a`), '!<arch>\n');
  const made = await cc('-c', '-x', 'c', file('library.c', library), '-o', join(lib, 'crt1-command.o'));
  assert.equal([made.code, made.out, made.err], [0, '', '']);

  const source = file('scale.cu', program);
  const object = join(folder, 'scale.o');
  const compiled = await cc('-c', source, '-o', object, '-MD', '-arch=sm_90', '-O3');
  assert.equal([compiled.code, compiled.out, compiled.err], [0, '', '']);
  assert.is(readFileSync(join(folder, 'scale.d'), 'utf8'), `scale.o: ${source}\n`);
  const linked = await cc(object, '-o', join(folder, 'scale'), '-lcudart', '-lm');
  assert.equal([linked.code, linked.err], [3, 'error: there is no library `m`\n']);
  const whole = await cc(object, '-o', join(folder, 'scale'), '-lcudart');
  assert.equal([whole.code, whole.out, whole.err], [0, '', '']);
  // 0 * 2.5 + 1 = 1, again 3.5, and 1 by the kernel with more shared memory than a GPU of Apple has; 9: 23.5, 59.75; 99: 248.5, once.
  const ran = started('scale');
  assert.equal([ran.status, ran.stdout, ran.stderr], [7, '2\n450\n5975\n24850\n', '']);
  chmodSync(join(folder, 'scale'), 0o755);
  const itself = spawnSync(join(folder, 'scale'), { encoding: 'utf8' });
  assert.equal([itself.status, itself.stdout], [7, ran.stdout]);
});

test('a fault on the device is an error of CUDA for the program, and a diagnostic at the line of the source', () => {
  const { status, stdout, stderr } = started('scale', '--', 'far');
  // cudaErrorIllegalAddress is 700.
  assert.equal([status, stdout], [700 % 256, '']);
  assert.match(
    stderr,
    /^error\[CM6011\]: kernel `far\(float\*\)` accessed an address outside of device memory.*\n +--> scale\.cu:11:\d+\n/,
  );
  const checked = started('scale', '--sanitize=memory', '--', 'far');
  assert.match(checked.stderr, /^error\[CM61\d\d\]: .*\n +--> scale\.cu:11:\d+\n/);
  assert.is.not(checked.status, 0);
});

test('a profile is summed by kernel, and by line of the source', () => {
  const file = join(folder, 'profile.json');
  const { status, stdout } = started('scale', `--profile=${file}`);
  assert.equal([status, stdout], [7, '2\n450\n5975\n24850\n'], 'standard output and the exit code are the program’s own');
  const { kernels } = JSON.parse(readFileSync(file, 'utf8'));
  const [scale, wide] = kernels;
  assert.equal(
    kernels.map(({ name, launches, warps }: typeof scale) => [name, launches, warps]),
    [
      ['scale<float>(float*, int)', 2, 8],
      ['wide(float*)', 1, 1],
    ],
  );
  const line = scale.sources.find(({ source }: { source?: string }) => source?.endsWith('/scale.cu:7'));
  // 100 threads of the first launch and 10 of the second.
  assert.is(line.global.store.lanes, 110);
  const sum = (lines: readonly { executed: { warps: number } }[]): number => lines.reduce((all, { executed }) => all + executed.warps, 0);
  assert.equal([sum(scale.lines), sum(scale.sources)], [scale.total.executed.warps, scale.total.executed.warps]);
  assert.is(wide.block[0], 1);
  const table = started('scale', '--profile').stderr;
  assert.match(
    table,
    /^profile of scale<float>\(float\*, int\)\n {2}2 launches, the first with grid 4 x 1 x 1, block 32 x 1 x 1, 8 warps\n/,
  );
  assert.match(table, /\n +7 +\d+ .* if \(i < n\) p\[i\] = p\[i\] \* factor\[0\] \+ 1;\n/);
  assert.match(started('scale', '--profile=p.html').stderr, /`--profile=p\.html` is for one kernel/);
});

test('the trace of a thread of a launch that is named', () => {
  const trace = (...words: string[]): string => started('scale', '--trace-thread', '0,9', ...words).stderr;
  // 9 * 2.5 + 1 = 23.5, and by the second launch 59.75.
  const first = trace();
  assert.match(first, /^trace of thread \(9, 0, 0\) of block \(0, 0, 0\) of `scale<float>\(float\*, int\)`: \d+ instructions\n/);
  assert.match(first, / -> 23\.5\n/);
  const second = trace('--trace-launch', 'scale<float>:2');
  assert.ok(second.includes(' -> 59.75\n'), second);
  const none = started('scale', '--trace-thread', '0,9', '--trace-launch', 'scale<float>:3');
  assert.is(none.status, 7, 'the exit code is the program’s own');
  assert.match(
    none.stderr,
    /^error\[CM5083\]: .*launch 3 of `scale<float>`\n {2}= note: launches of the program: scale<float>\(float\*, int\) \(2\), wide/,
  );
  assert.match(started('scale', '--trace-launch', 'x').stderr, /^error: `--trace-launch` requires `--trace-thread`\n/);
});

test('what is undefined is an error of the link, and a function of CUDA that is missing one of the run', async () => {
  const source = file(
    'missing.cpp',
    'void gone(); extern "C" int cudaGone(); int main(int, char **) { if (cudaGone()) gone(); return 0; }\n',
  );
  const { code, err } = await cc(source, '-o', join(folder, 'missing'));
  assert.is(code, 3);
  assert.match(err, /wasm-ld: error: missing\.o: undefined symbol: gone\(\)\n/);
  assert.not(existsSync(join(folder, 'missing')));
  // Integers wrap, as in host code that nvcc has compiled without optimization: 3 is 2 and a comparison that holds.
  const main = 'int main(int argc, char **) { int n = 2147483646 + argc; return argc > 1 ? cudaGone() : 2 + (n + 1 < n); }\n';
  const later = file('later.cpp', `extern "C" int cudaGone();\n${main}`);
  assert.is((await cc(later, '-o', join(folder, 'later'))).code, 0);
  const first = started('later');
  assert.equal([first.status, first.stderr], [3, '']);
  const gone = started('later', '--', 'x');
  assert.is(gone.status, 134);
  assert.match(gone.stderr, /^error\[CM5080\]: .*cudaGone/);
});

test('files that cannot be read are named before anything is compiled', async () => {
  for (const [path, why] of [
    [join(folder, 'nowhere.cu'), 'no such file or folder'],
    [folder, 'it is a folder'],
  ] as const)
    assert.equal({ ...(await cc(path)), written: 0 }, { code: 2, out: '', err: `error: cannot read \`${path}\`: ${why}\n`, written: 0 });
});

// ── Programs that end badly ──

const writer = `
extern "C" int write_text(const char *);
int main(int argc, char **argv) {
  if (argc == 1) return write_text("one\\n");
  for (int n = 0;; n++) {
    if (argv[1][0] == 'w' || n == 0) write_text("more\\n");
    *(volatile int *)&n = n;
  }
}
`;
/** Runs shell words in the folder; `cumetal` is that of the checkout. */
const shell = (words: string) =>
  spawnSync('sh', ['-c', words.replaceAll('cumetal', `'${join(root, 'bin/cumetal')}'`)], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, ...env },
  });

test('a program whose output nobody reads ends as one that SIGPIPE ended', async () => {
  assert.equal((await cc(file('writer.cpp', writer), '-o', join(folder, 'writer'))).err, '');
  const { stdout, stderr } = shell('{ cumetal run writer -- write; echo "code $?" >&2; } | head -n 2');
  assert.equal([stdout, stderr], ['more\nmore\n', 'code 141\n']);
});

test('output that cannot be written is an error of the call, and no error of ours', () => {
  if (!existsSync('/dev/full')) return;
  // ENOSPC of WASI is 51.
  const { status, stderr } = shell('cumetal run writer >/dev/full');
  assert.equal([status, stderr], [51, '']);
});

test('SIGINT ends a program that loops, and a compilation, and no file is left', async () => {
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const interrupted = async (words: readonly string[], when: (child: ChildProcess) => Promise<unknown>): Promise<unknown[]> => {
    const child = spawn(join(root, 'bin/cumetal'), words, {
      cwd: folder,
      env: { ...process.env, ...env, TMPDIR: temporary, CUMETAL_CACHE_DISABLE: '1' },
      detached: true,
    });
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    const ended = new Promise<unknown>((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
    await when(child);
    // A terminal sends it to all processes of its group.
    process.kill(-child.pid!, 'SIGINT');
    return [await ended, said, readdirSync(temporary)];
  };
  const printed = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.stdout!.once('data', resolve));
  assert.equal(await interrupted(['run', 'writer', '--', 'loop'], printed), ['SIGINT', '', []]);
  const later = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal(await interrupted(['run', 'scale.cu'], later), ['SIGINT', '', []]);
});

test('errors of the compiler are shown as they are', async () => {
  const { code, out, err } = await cc(file('wrong.cu', 'int main() { return missing; }\n'));
  assert.equal([code, out], [3, '']);
  assert.match(err, /wrong\.cu:1:21: error: use of undeclared identifier 'missing'\n/);
});

test.run();
