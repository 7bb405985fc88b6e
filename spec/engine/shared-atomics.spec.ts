/** Where atomics need WebAssembly's atomic instructions: in memory that several workers share, and nowhere else. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newInstrumentation } from '../../src/device/cpu/launch/instruments.ts';
import { compileKernel } from '../../src/engine/scalar/kernel-module.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { sharedVariable, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/shared-atomics');

const spaces = ['global', 'shared', 'local'] as const;

const kernelFor = (space: (typeof spaces)[number]): Kernel =>
  writeKernel(
    'k',
    [pointerParam('out', 0, undefined, 'read_write')],
    [sharedVariable('v', 8, { space: space === 'local' ? 'local' : 'shared' })],
    ({ b, i32, param }) => {
      const place = space === 'global' ? param(0) : b.variable(`ptr.${space}`, { name: 'v' });
      const old = b.atomic(place, b.fadd(b.const('f32', 0), b.const('f32', 0)), { rmw: 'fadd' });
      b.store(param(0), b.add(b.atomic(place, i32(1), { rmw: 'add' }), b.bitcast('i32', old)), { align: 4, volatile: false });
      b.cas(place, i32(1), i32(2));
      b.store(place, b.load('i32', place, { align: 4, volatile: true }), { align: 4, volatile: true });
    },
  );

/** Whether the code differs between memory that workers share and memory of one worker, apart from the declaration of the memory. */
const differs = (make: (isShared: boolean) => Uint8Array): boolean => make(true).length !== make(false).length;

test('the code for shared and local memory, of which each worker has its own, is that of one worker', () => {
  assert.equal(
    spaces.map((space) => differs((isShared) => compileKernel(kernelFor(space), {}, isShared).bytes)),
    [true, false, false],
  );
});

test('a launch with a sanitizer has one worker, and every write is noted', () => {
  const sanitize = new Set(['memory', 'init', 'race', 'sync'] as const);
  for (const space of ['global', 'shared'] as const)
    assert.not.ok(
      differs((isShared) => compileKernel(kernelFor(space), newInstrumentation({ sanitize }), isShared).bytes),
      space,
    );
});

test.run();
