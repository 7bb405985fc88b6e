/**
 * Barriers for some of the threads of a block, in PTX of nvcc, against what an H200 printed: `fixtures/linking/barriers.cu`. Blocks run one after the
 * other in the same memory, so that a barrier which is left half full would stop the next one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { DeviceBuffer } from '../../src/device/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { root } from '../support/examples.ts';

const test = suite('device/named-barriers');

const textOf = (name: string): string => readFileSync(join(root, 'fixtures/linking', name), 'utf8');

/** The lines of the program that begin with a word, as words of 32 bits. */
const recorded = (word: string): number[][] =>
  textOf('barriers.txt')
    .split('\n')
    .filter((line) => line.startsWith(`${word} `))
    .map((line) =>
      line
        .split(' ')
        .slice(1)
        .map((text) => Number(text) | 0),
    );

const diagnostics = new Diagnostics(new SourceFile('barriers.ptx', textOf('barriers.ptx')));
const device = openCpuDevice({ threads: 1 });

/** The kernels for a target. */
function loadedFor(target: 'cpu' | 'macos15') {
  const compiled = compile(diagnostics.file!, { target }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  return device.load(compiled.metallib, diagnostics)!;
}

type Launch = (name: string, blocks: number, threads: number, more?: readonly (DeviceBuffer | number)[]) => number[];

function launchOf(target: 'cpu' | 'macos15'): Launch {
  const module = loadedFor(target);
  return (name, blocks, threads, more = []) => {
    const out = device.allocate(4 * threads, diagnostics)!;
    const args = [out, ...more].map((arg) =>
      typeof arg === 'number'
        ? { kind: 'bytes' as const, bytes: new Uint8Array(Int32Array.of(arg).buffer) }
        : { kind: 'buffer' as const, buffer: arg },
    );
    const kernel = module.kernels.find((each) => each.name.includes(name))!.name;
    const shape = { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
    module.launch({ kernel, ...shape, args }, diagnostics);
    assert.equal(
      diagnostics.list.splice(0).map(({ message }) => message),
      [],
    );
    const words = [...new Int32Array(out.read().buffer)];
    out.free();
    return words;
  };
}

function testsOf(target: 'cpu' | 'macos15'): void {
  const launch = launchOf(target);
  test(`${target}: each half of a block has a barrier of its own`, () => assert.equal(launch('twoHalves', 5, 128), recorded('halves')[0]));

  test(`${target}: one warp arrives without waiting, the others wait`, () => {
    for (const blocks of [1, 7])
      for (const [i, threads] of [64, 96, 256].entries()) assert.equal(launch('producer', blocks, threads, [9]), recorded('producer')[i]);
  });

  test(`${target}: reductions over some of the threads`, () => {
    const given = device.allocate(512, diagnostics)!;
    let seed = 9;
    const random = Uint32Array.from({ length: 128 }, () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed >>> 24;
    });
    const inputs = [random, Uint32Array.from({ length: 128 }, (_, i) => (i < 64 ? 77 : 6)), new Uint32Array(128).fill(255)];
    for (const [i, input] of inputs.entries()) {
      given.write(new Uint8Array(input.buffer));
      assert.equal(launch('reductions', 2, 128, [given]), recorded('reductions')[i]);
    }
  });

  test(`${target}: all numbers, in registers`, () => assert.equal(launch('numbers', 3, 448), recorded('numbers')[0]));

  test(`${target}: a whole block at another barrier than 0`, () => assert.equal(launch('whole', 4, 96), recorded('whole')[0]));
}

testsOf('cpu');
// Words and loops with fences, in the metallib that a Mac loads.
testsOf('macos15');

const refusedBy = (body: string, target: 'cpu' | 'macos14'): string[] => {
  const source = new SourceFile(
    'k.ptx',
    `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .b32 a;\n.reg .pred p;\nmov.u32 a, %laneid;\n${body}\nret;\n}\n`,
  );
  const own = new Diagnostics(source);
  compile(source, { target }, own);
  return own.list.map(({ code, labels }) => `${code} ${source.position(labels[0]!.span.start).line}`);
};

test('CM2090: fences of barriers for some of the threads need macOS 15; CM2049: barrier 0 is that of the block', () => {
  for (const body of ['bar.sync 1, 32;', 'bar.arrive 1, 64;', 'barrier.sync 2;', 'barrier.red.popc.u32 a, 3, 32, p;', 'bar.sync a, 64;'])
    assert.equal([[...new Set(refusedBy(body, 'macos14'))], refusedBy(body, 'cpu')], [['CM2090 8'], []], body);
  assert.equal(refusedBy('bar.sync 0, 32;', 'cpu'), ['CM2049 8']);
});

test.run();
