/** Strips of lanes against the one-lane path, on kernels made at random; and that strips are what is taken where they should be. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileStrips } from '../../src/device/cpu/strips/module.ts';
import { writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';
import { differenceOf } from '../support/strips.ts';

const test = suite('device/strips');

// `bun scripts/strips.ts` runs 2000; here are those of every size of block and of every kind.
const count = 60;

test(`${count} kernels made at random leave in strips what they leave lane by lane`, () => {
  let together = 0;
  for (let i = 0; i < count; i++) {
    const found = differenceOf(i);
    assert.ok(found === undefined || typeof found === 'string', JSON.stringify(found));
    if (found === undefined) together++;
  }
  assert.ok(together > count / 3, `${together} of ${count} were run in strips`);
});

const made = (write: Parameters<typeof writeKernel>[3]) => writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], write);

test('light kernels have long strips, in rows of the block', () => {
  const kernel = made((w) => w.put(w.param(0), w.sreg('gid.x'), w.sreg('tid.y')));
  const lanesFor = (block: readonly [number, number, number]): number | string => {
    const strips = compileStrips(kernel, block, { fma: 'exact' });
    return 'why' in strips ? strips.why : strips.plan.lanes;
  };
  assert.is(lanesFor([256, 1, 1]), 32);
  assert.is(lanesFor([64, 4, 1]), 32);
  assert.is(lanesFor([16, 16, 1]), 16);
  assert.is(lanesFor([8, 8, 4]), 8);
});

test('what a warp does together takes a whole warp', () => {
  const kernel = made((w) => w.put(w.param(0), w.sreg('gid.x'), w.b.reduce(w.sreg('tid.y'), { fold: 'add' })));
  const strips = compileStrips(kernel, [8, 8, 1], { fma: 'exact' });
  assert.is('why' in strips ? strips.why : strips.plan.lanes, 32);
});

test('a loop that may wait for another thread is left to the one-lane path, one that only adds up is not', () => {
  const waiting = made((w) => {
    w.repeat(
      [w.i32(0)],
      () => w.is(w.b.cas(w.param(0), w.i32(0), w.i32(1)), 'ne', w.i32(0)),
      (x) => [x!],
    );
  });
  const strips = compileStrips(waiting, [64, 1, 1], { fma: 'exact' });
  assert.is('why' in strips ? strips.why : '', 'a loop that waits for other threads');
  const adding = made((w) => {
    w.repeat(
      [w.i32(0)],
      (i) => w.is(i!, 'ult', w.i32(4)),
      (i) => {
        w.b.atomic(w.param(0), i!, { rmw: 'add' });
        return [w.b.add(i!, w.i32(1))];
      },
    );
  });
  assert.not('why' in compileStrips(adding, [64, 1, 1], { fma: 'exact' }));
});

test.run();
