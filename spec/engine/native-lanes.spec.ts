/** The lanes of modules for native code: as many as fill its registers. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Dim3 } from '../../src/base/dim3.ts';
import type { NativeTarget } from '../../src/engine/codegen/target.ts';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/native-lanes');

const wide: NativeTarget = { vectorBytes: 64, vectorRegisters: 32 };
const narrow: NativeTarget = { vectorBytes: 32, vectorRegisters: 16 };
const out = pointerParam('out', 0, 'i32', 'read_write');

/** Adds numbers of words, which are all live at once. */
const sums = (count: number): Kernel =>
  writeKernel('k', [out], [], (w) => {
    const thread = w.sreg('tid.x');
    const words = Array.from({ length: count }, (_, i) => w.get(w.param(0), w.b.add(thread, w.i32(64 * i))));
    for (const [i, word] of words.entries()) w.put(w.param(0), w.b.add(thread, w.i32(64 * i)), w.b.mul(word, words[count - 1 - i]!));
  });

/** A loop whose turns differ from lane to lane, with an access of memory in it or not. */
const turns = (accesses: boolean): Kernel =>
  writeKernel('k', [out], [], (w: Writer) => {
    const thread = w.sreg('tid.x');
    const [n] = w.repeat(
      [thread],
      (i) => w.is(i!, 'ult', w.i32(1000)),
      (i) => [w.b.add(w.b.mul(i!, accesses ? w.get(w.param(0), thread) : w.i32(3)), w.i32(1))],
    );
    w.put(w.param(0), thread, n!);
  });

function lanesOf(kernel: Kernel, target: NativeTarget | undefined, block: Dim3 = [64, 1, 1]): number {
  const made = compileSimd(kernel, block, { fma: 'relaxed', target });
  if ('why' in made) throw new Error(made.why);
  return made.plan.lanes;
}

test('a group fills one register, or two where twice the live vectors fit', () => {
  assert.equal(
    [4, 12, 20, 40].map((count) => lanesOf(sums(count), wide)),
    [32, 32, 16, 16],
  );
  assert.equal(
    [2, 20].map((count) => lanesOf(sums(count), narrow)),
    [16, 8],
  );
});

test('a group is in one row of the block, unless loops access no memory', () => {
  assert.is(lanesOf(sums(4), wide, [16, 4, 1]), 16);
  assert.is(lanesOf(sums(4), wide, [8, 8, 1]), 8);
  assert.is(lanesOf(turns(true), wide, [16, 4, 1]), 16);
  assert.is(lanesOf(turns(false), wide, [16, 4, 1]), 32);
});

test('modules for native code have no constant pool', () => {
  const pools = [undefined, wide].map((target) => {
    const made = compileSimd(turns(false), [64, 1, 1], { fma: 'relaxed', target });
    return 'why' in made ? made.why : made.pool.length > 0;
  });
  assert.equal(pools, [true, false]);
});

test.run();
