/**
 * Collectives by member masks in divergent code, compiled for Apple GPUs: the collectives of two arms are merged, or threads meet in a loop. What
 * a metallib gives on the CPU device, in every engine and order of threads, is what the model of a warp gives.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { directed, expectedOf } from '../support/warps/directed.ts';
import { compileWarps, type HowToRun, launchWarps } from '../support/warps/recording.ts';

const test = suite('device/masks for Apple GPUs');

const ways: readonly HowToRun[] = [
  {},
  { engine: 'lane' },
  { engine: 'simd' },
  { schedule: { kind: 'reverse' } },
  { schedule: { kind: 'rand', seed: 5 } },
];

for (const [name, program] of Object.entries(directed))
  test(name, () => {
    const expected = expectedOf(program);
    for (const target of ['macos15', 'cpu'] as const) {
      const metallib = compileWarps(program, target);
      assert.not.instance(metallib, Diagnostics);
      for (const way of target === 'cpu' ? ways.slice(0, 1) : ways) {
        const found = launchWarps(metallib as Uint8Array, program, way);
        assert.equal(found, expected, `${target}, ${JSON.stringify(way)}`);
      }
    }
  });

for (const [name, { ptx, settled }] of Object.entries(directed))
  test(`${name}: ${settled === 'loop' ? 'threads meet in a loop' : 'threads are together'}, without a warning`, () => {
    const source = new SourceFile('k.ptx', ptx);
    const diagnostics = new Diagnostics(source);
    const compiled = compile(source, { target: 'macos15', verifiesPasses: true }, diagnostics)!;
    assert.is(compiled.reflection.kernels[0]!.checkedMasks ?? 'none', settled);
    assert.equal(diagnostics.list, []);
  });

test.run();
