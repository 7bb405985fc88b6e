/** Barrier regions of vectorized blocks: whether they share a function, and masked stores to shared memory. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ownAreaOf } from '../../src/device/cpu/launch/memory-layout.ts';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import type { Kernel, Value } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { plain, sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/regions');

const threads = 64;
const out = [pointerParam('out', 0, undefined, 'read_write')];

/** Between barriers, every thread adds the word of the thread `step` places behind it. */
const kernelOf = (write: (w: Writer, add: (step: Value) => void) => void): Kernel =>
  writeKernel('k', out, [sharedVariable('words', 4 * threads)], (w) => {
    const { b, i32 } = w;
    const tid = w.sreg('tid.x');
    const place = (index: Value): Value => b.ptradd(w.shared('words'), b.mul(index, i32(4)));
    b.store(place(tid), b.add(tid, i32(1)), plain);
    write(w, (step) => {
      b.barrier();
      const other = b.load('i32', place(b.and(b.add(tid, step), i32(threads - 1))), plain);
      b.barrier();
      b.store(place(tid), b.add(b.load('i32', place(tid), plain), other), plain);
    });
    w.put(w.param(0), w.sreg('gid.x'), b.load('i32', place(tid), plain));
  });

const expected = (steps: readonly number[]): number[] =>
  steps.reduce(
    (words, step) => words.map((word, i) => word + words[(i + step) % threads]!),
    Array.from({ length: threads }, (_, i) => i + 1),
  );

const straight = (count: number): Kernel =>
  kernelOf((w, add) => {
    for (let k = 0; k < count; k++) add(w.i32(k + 1));
  });
const inLoop = kernelOf((w, add) => {
  w.repeat(
    [w.i32(0)],
    (k) => w.is(k!, 'ult', w.i32(3)),
    (k) => {
      add(w.b.add(k!, w.i32(1)));
      return [w.b.add(k!, w.i32(1))];
    },
  );
});

/** The number of functions of a module. Source: WebAssembly core specification, binary format: the function section has the number 3. */
function functionsOf(kernel: Kernel): number {
  const compiled = compileSimd(kernel, [threads, 1, 1], { fma: 'exact' });
  if ('why' in compiled) throw new Error(compiled.why);
  const { bytes } = compiled;
  let at = 8;
  const number = (): number => {
    let sum = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      sum |= (byte & 0x7f) << shift;
      if (byte < 0x80) return sum;
    }
  };
  for (;;) {
    const section = bytes[at++];
    const size = number();
    if (section === 3) return number();
    at += size;
  }
}

test('consecutive regions share one function, those of a loop and very long ones do not', () => {
  assert.is(functionsOf(straight(4)), functionsOf(straight(1)));
  assert.ok(functionsOf(inLoop) > functionsOf(straight(4)));
  assert.ok(functionsOf(straight(60)) > functionsOf(straight(4)) + 60);
});

for (const [name, kernel, steps] of [
  ['straight-line code', straight(5), [1, 2, 3, 4, 5]],
  ['a loop', inLoop, [1, 2, 3]],
] as const)
  test(`stores before each barrier of ${name} are visible after it`, () => {
    const { bytes, scalarReason } = runOn('simd', kernel, 3, threads, 12 * threads);
    assert.is(scalarReason, undefined);
    assert.equal(
      [...new Int32Array(bytes.buffer)],
      [0, 1, 2].flatMap(() => expected(steps)),
    );
  });

test('inactive lanes do not change shared memory', () => {
  const kernel = writeKernel('k', out, [sharedVariable('words', 4 * (threads + 8))], (w) => {
    const { b, i32 } = w;
    const tid = w.sreg('tid.x');
    const place = (index: Value): Value => b.ptradd(w.shared('words'), b.mul(index, i32(4)));
    for (const ahead of [0, 8]) b.store(place(b.add(tid, i32(ahead))), i32(7), plain);
    b.barrier();
    w.when(w.is(b.and(b.mul(tid, i32(5)), i32(6)), 'eq', i32(2)), () => b.store(place(b.add(tid, i32(8))), tid, plain));
    b.barrier();
    w.put(w.param(0), w.sreg('gid.x'), b.load('i32', place(b.add(tid, i32(8))), plain));
  });
  for (const count of [threads, 37, 5]) {
    const { bytes, scalarReason } = runOn('simd', kernel, 1, count, 4 * count);
    assert.is(scalarReason, undefined);
    assert.equal(
      [...new Int32Array(bytes.buffer)],
      Array.from({ length: count }, (_, i) => (((i * 5) & 6) === 2 ? i : 7)),
    );
  }
});

// A masked store reads and writes back the words of inactive lanes, which must not belong to other data.
test('shared memory is padded for the addresses of inactive lanes', () => {
  for (const [shared, dynamic] of [
    [0, 4],
    [100, 0],
    [16, 4096],
  ] as const) {
    const compiled = { windows: { shared, local: 0, constant: 0 }, recordBytes: 0, lanes: 32 };
    const area = ownAreaOf(compiled as never, { block: [32, 1, 1], dynamicSharedBytes: dynamic } as never);
    const others = [area.local, area.records, area.states].filter((place) => place > area.shared);
    assert.ok(area.shared >= 31 * 4);
    assert.ok(Math.min(...others, area.bytes) - (area.shared + shared + dynamic) >= 31 * 4);
  }
});

test.run();
