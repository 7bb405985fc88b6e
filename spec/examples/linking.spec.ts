/** Barriers of the grid and files that are linked, against what nvcc made of them and what they print on an H200: `fixtures/linking`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { withHeap } from '../../src/compile/heap.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { root } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('examples/linking');

const folder = join(root, 'fixtures/linking');
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const cumetal = (...words: readonly string[]) => spawnSync(join(root, 'bin/cumetal'), words, { cwd: folder, encoding: 'utf8' });

/** The numbers of the program, in their order. */
function* numbers(): Generator<number> {
  for (let seed = 12345; ; ) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    yield seed;
  }
}

/** FNV-1a of 64 bits. */
function digest(bytes: Uint8Array): string {
  let h = 1469598103934665603n;
  for (const byte of bytes) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 1099511628211n);
  return h.toString(16).padStart(16, '0');
}

test('barriers of the grid in PTX of nvcc', () => {
  const diagnostics = new Diagnostics(new SourceFile('grid.ptx', textOf('grid.ptx')));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  for (const threads of [1, 2]) {
    const device = openCpuDevice({ threads });
    const module = device.load(compiled.metallib, diagnostics)!;
    const random = numbers();
    const words = (count: number) => device.allocate(4 * count, diagnostics)!;
    const filled = (count: number) => {
      const buffer = words(count);
      buffer.write(new Uint8Array(Uint32Array.from({ length: count }, () => random.next().value!).buffer));
      return buffer;
    };
    const launch = (name: string, blocks: number, block: number, args: readonly (ReturnType<typeof words> | number)[]): void => {
      const given = args.map((arg) =>
        typeof arg === 'number'
          ? { kind: 'bytes' as const, bytes: new Uint8Array(Int32Array.of(arg).buffer) }
          : { kind: 'buffer' as const, buffer: arg },
      );
      const shape = { grid: [blocks, 1, 1], block: [block, 1, 1], dynamicSharedBytes: 0 } as const;
      const kernel = module.kernels.find((each) => each.name.includes(name))!.name;
      module.launch({ kernel, ...shape, args: given, timeoutMs: 60_000, cooperative: true }, diagnostics);
      assert.equal(
        diagnostics.list.map(({ message }) => message),
        [],
      );
    };
    const lines: string[] = [];
    for (const blocks of [1, 2, 3, 8])
      for (const block of [1, 32, 50, 128]) {
        const n = Math.max(1, blocks * block - (blocks > 1 ? 1 : 0));
        const [a, b] = [filled(n), words(n)];
        launch('rounds', blocks, block, [a, b, n, 9]);
        lines.push(`rounds ${blocks} ${block} b ${digest(b.read())}`);
      }
    for (const blocks of [1, 4, 7])
      for (const block of [32, 96, 128]) {
        const [a, b, sums] = [filled(blocks * block), words(blocks * block), words(16)];
        launch('keeps', blocks, block, [a, b, sums, 5]);
        lines.push(`keeps ${blocks} ${block} out ${digest(b.read())}`, `sums ${digest(sums.read())}`);
      }
    device.close();
    const recorded = textOf('grid.txt').split('\n').slice(0, lines.length);
    assert.equal(
      lines,
      recorded.map((line) => line.split(' ').slice(0, -2).join(' ')),
    );
  }
});

test('PTX, objects and fatbinaries of nvcc are linked', () => {
  for (const files of [
    ['rdc_a.ptx', 'rdc_b.ptx', 'rdc_c.ptx'],
    ['rdc_c.fatbin', 'rdc_b.o', 'rdc_a.ptx'],
  ]) {
    const { stdout, status } = cumetal('link', ...files, '-o', '-');
    assert.is(status, 0);
    const diagnostics = new Diagnostics(new SourceFile('linked.ptx', stdout));
    const compiled = compile(diagnostics.file!, { target: 'cpu', entries: ['_Z5otherPi'] }, diagnostics);
    assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
    const device = openCpuDevice({ threads: 1 });
    const buffer = device.allocate(128, diagnostics)!;
    const shape = { grid: [1, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
    device
      .load(compiled.metallib, diagnostics)!
      .launch({ kernel: '_Z5otherPi', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
    // `twice` of one file with its own `hidden`, `shared_template`, and the initial value of `counter`.
    const expected = Array.from({ length: 32 }, (_, i) => 2 * i + 1000 + 3 * i + 5);
    assert.equal([...new Int32Array(buffer.read().buffer)], expected);
    device.close();
  }
});

need(test, ['sysroot'], 'programs with barriers of the grid print what they print on an H200', () => {
  const { status, stdout, stderr } = cumetal('run', 'grid.cu');
  assert.equal([status, stderr], [0, '']);
  assert.is(stdout, textOf('grid.txt'));
});

need(test, ['sysroot'], 'programs with a heap print what they print on an H200', () => {
  const { status, stdout, stderr } = cumetal('run', 'heap.cu');
  assert.equal([status, stderr], [0, '']);
  assert.is(stdout, textOf('heap.txt'));
});

need(test, ['sysroot'], 'the heap is that of its source', () => {
  const { stdout } = cumetal('cc', '-rdc=true', '-ptx', join(root, 'cuda/device/heap.cu'), '-o', '-');
  assert.match(stdout, /^\.version /);
  const own = '.extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n';
  const lines = new Set(withHeap(new SourceFile('k.ptx', own)).text.split('\n'));
  const made = stdout
    .slice(stdout.indexOf('.global'))
    .replaceAll('cumetal_', '')
    .replaceAll('_$_str', 'cumetal_heap_text')
    .replaceAll('atom.relaxed.gpu.', 'atom.');
  const missing = made
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\.(loc|file) /.test(line) && !lines.has(line));
  assert.equal(missing, []);
});

need(test, ['sysroot'], 'files that are linked print what they print on an H200', () => {
  const made = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  try {
    const objects = ['rdc_a', 'rdc_b', 'rdc_c'].map((name) => {
      const to = join(made, `${name}.o`);
      assert.is(cumetal('cc', '-dc', `${name}.cu`, '-o', to).status, 0);
      return to;
    });
    const [program, extra] = [join(made, 'program'), join(made, 'extra.o')];
    assert.is(cumetal('cc', '-dlink', ...objects, '-o', extra).status, 0);
    assert.is(cumetal('cc', ...objects, extra, '-o', program).stderr, '');
    assert.is(spawnSync(program, { encoding: 'utf8' }).stdout, textOf('rdc.txt'));
    const ran = cumetal('run', '--rdc', 'rdc_a.cu', 'rdc_b.cu', 'rdc_c.cu');
    assert.equal([ran.status, ran.stderr], [0, '']);
    assert.is(ran.stdout, textOf('rdc.txt'));
  } finally {
    rmSync(made, { recursive: true });
  }
});

test.run();
