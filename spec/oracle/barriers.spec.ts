/**
 * Barriers in memory and barriers for some of the threads in metallibs for Apple GPUs, in the independent oracle, whose threads
 * give way to others at atomics: also while they hold the lock of a barrier. The fault word is bound as a buffer of zeros.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, emit } from '../../src/compile/index.ts';
import { ptx } from '../support/async.ts';
import { handed, handedExpected, ring, ringExpected } from '../support/barrier-kernels.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('oracle/barriers');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

interface Case {
  readonly body: string;
  readonly blocks: number;
  readonly threads: number;
  readonly expected: readonly number[];
}

const cases: Readonly<Record<string, Case>> = {
  'a ring of barriers in memory': { body: ring, blocks: 1, threads: 96, expected: ringExpected },
  'barriers for some of the threads': { body: handed, blocks: 1, threads: 128, expected: handedExpected },
};

for (const [name, { body, blocks, threads, expected }] of Object.entries(cases))
  need(test, oracleTools, name, () => {
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx(body, { shared: 512 })));
    const compiled = compile(diagnostics.file!, { target: 'macos15' }, diagnostics);
    assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
    for (const order of ['fwd', 'rand:7']) {
      const run = launchOracle(folder, compiled.metallib, {
        kernel: 'k',
        grid: [blocks],
        block: [threads],
        args: [new Uint8Array(4 * expected.length), new Uint8Array(4)],
        sharedBytes: undefined,
        order,
      });
      assert.is(run.complaints, '', order);
      assert.equal([...new Int32Array(run.after[0]!.slice().buffer)], [...expected], order);
    }
  });

need(test, ['opt-14'], 'the optimizer of LLVM keeps the update of a barrier in the loop of its lock', () => {
  const body = 'mbarrier.init.shared.b64 [bar], 2;\nbar.sync 0;\nmbarrier.arrive.shared.b64 state, [bar];';
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx(body)));
  const air = emit(diagnostics.file!, 'air-ll', { target: 'macos15' }, diagnostics) as string;
  writeFileSync(join(folder, 'k.ll'), air.replace(/target triple = .*/, ''));
  const run = (...words: string[]): string => {
    const { stdout, stderr, status } = spawnSync('opt-14', words, { encoding: 'utf8', cwd: folder });
    assert.is(status, 0, stderr);
    return stdout + stderr;
  };
  run('-O3', '-S', 'k.ll', '-o', 'o.ll');
  const loops = run('-passes=print<loops>', '-disable-output', 'o.ll')
    .split('\n')
    .filter((each) => each.includes('Loop at'));
  // The block that frees the lock leads to the loop's latch, from which alone the loop is left.
  const [freeing, ...others] = readFileSync(join(folder, 'o.ll'), 'utf8')
    .split(/\n\n/)
    .filter((each) => /^\d+:/.test(each) && each.includes('xchg.i32('));
  assert.equal(others, []);
  const label = /^(\d+):/.exec(freeing!)![1]!;
  const innermost = loops.filter((each) => new RegExp(`%${label}\\b`).test(each)).at(-1) ?? '';
  assert.match(innermost, new RegExp(`%${label}(,|$)`));
  assert.is(innermost.split('<exiting>').length, 2, innermost);
  assert.match(innermost, /<latch><exiting>/);
});

test.run();
