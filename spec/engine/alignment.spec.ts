/** Misaligned accesses fault in both compilers, as they do on a GPU (PTX ISA, 6.4.1: addresses are naturally aligned); inactive lanes do not. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkAlignment } from '../../src/engine/codegen/check-alignment.ts';
import { anyLaunch, bytesOf, copyOf, elementOf, lanesOf, type Type, type Value } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { assertSound } from '../support/ir-text.ts';
import { plain, sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam, valueParam } from '../support/kernels.ts';

const test = suite('engine/alignment');

const threads = 64;
const bytes = 16384;
const out = pointerParam('out', 0, undefined, 'read_write');
const engines = ['lane', 'simd'] as const;

const sizeOf = (type: Type): number => bytesOf(elementOf(type)) * lanesOf(type);
const alignOf = (type: Type) => ({ align: sizeOf(type), volatile: false });

/** A thread loads a value at an offset in bytes, which its word of the buffer gives, and stores it behind it. */
const mover = (type: Type, space: 'global' | 'shared') =>
  writeKernel('k', [out], [sharedVariable('s', 8192, { align: 16 })], (w) => {
    const { b } = w;
    const at = w.get(w.param(0), w.sreg('tid.x'));
    const base = space === 'shared' ? w.shared('s') : w.param(0);
    const wide = (x: Value): Value => b.zext('i64', x);
    w.when(w.is(at, 'ne', w.i32(-1)), () => {
      const value = b.load(type, b.ptradd(base, wide(at)), alignOf(type));
      b.store(b.ptradd(base, wide(b.add(at, w.i32(4096)))), value, alignOf(type));
    });
  });

/** The offset of a thread's value, by its size. */
const places: Readonly<Record<string, (tid: number, size: number) => number>> = {
  scattered: (tid, size) => 1024 + ((tid * 7) % threads) * size,
  contiguous: (tid, size) => 1024 + tid * size,
};

const faults = (messages: readonly string[]): boolean => messages.some((message) => message.includes('not a multiple of the size'));
const types: readonly Type[] = ['i16', 'i32', 'f32', 'i64', 'f64', 'v2.f32', 'v4.f32', 'v2.i64', 'v4.i16'];

function bufferOf(wordOf: (tid: number) => number): Uint8Array {
  const words = new Uint32Array(bytes / 4).map((_, i) => Math.imul(i, 0x9e3779b1));
  for (let tid = 0; tid < threads; tid++) words[tid] = wordOf(tid);
  return new Uint8Array(words.buffer);
}

for (const [name, word] of Object.entries(places))
  for (const space of ['global', 'shared'] as const)
    test(`${name} accesses of ${space} memory`, () => {
      for (const type of types) {
        const kernel = mover(type, space);
        assertSound(kernel);
        const size = sizeOf(type);
        const run = (engine: 'lane' | 'simd', wordOf: (tid: number) => number) =>
          runOn(engine, kernel, 1, threads, bytes, bufferOf(wordOf));
        const aligned = engines.map((engine) => run(engine, (tid) => word(tid, size)));
        assert.equal(
          aligned.map(({ messages }) => messages),
          [[], []],
          type,
        );
        assert.equal(aligned[1]!.bytes, aligned[0]!.bytes);
        for (const bad of [0, 13, 63])
          for (const engine of engines) {
            const { messages } = run(engine, (tid) => word(tid, size) + (tid === bad ? size / 2 : 0));
            assert.ok(faults(messages), `${engine}: ${type}, thread ${bad}`);
          }
        // Threads that take no part have a word of all ones.
        const partly = engines.map((engine) => run(engine, (tid) => (tid % 3 === 0 ? word(tid, size) : -1)));
        assert.equal(
          partly.map(({ messages }) => messages),
          [[], []],
          type,
        );
        assert.equal(partly[1]!.bytes, partly[0]!.bytes);
      }
    });

test('an offset that is the same for all threads', () => {
  const kernel = writeKernel('k', [out], [], (w) => {
    const base = w.b.ptradd(w.param(0), w.b.zext('i64', w.get(w.param(0), w.i32(0))));
    w.put(base, w.sreg('tid.x'), w.i32(7));
    w.when(w.is(w.sreg('tid.x'), 'ult', w.i32(40)), () => w.put(w.b.ptradd(base, w.b.const('i64', 2)), w.sreg('tid.x'), w.i32(8)));
  });
  const bufferWith = (offset: number): Uint8Array => new Uint8Array(Uint32Array.from({ length: bytes / 4 }, () => offset).buffer);
  for (const engine of engines) {
    assert.ok(faults(runOn(engine, kernel, 1, threads, bytes, bufferWith(1024)).messages), engine);
    assert.ok(faults(runOn(engine, kernel, 1, threads, bytes, bufferWith(1026)).messages), engine);
  }
});

test('code that no thread reaches does not fault', () => {
  const kernel = writeKernel('k', [out], [], (w) => {
    const odd = w.b.ptradd(w.param(0), w.b.zext('i64', w.get(w.param(0), w.i32(0))));
    w.when(w.is(w.get(w.param(0), w.sreg('tid.x')), 'eq', w.i32(5)), () => w.put(odd, w.i32(0), w.i32(8)));
    w.put(w.param(0), w.b.add(w.sreg('tid.x'), w.i32(64)), w.i32(1));
  });
  for (const engine of engines)
    assert.equal(
      runOn(
        engine,
        kernel,
        1,
        threads,
        bytes,
        bufferOf(() => 1025),
      ).messages,
      [],
    );
});

test('atomics', () => {
  for (const space of ['global', 'shared'] as const) {
    const kernel = writeKernel('k', [out], [sharedVariable('s', 4096)], (w) => {
      const base = space === 'shared' ? w.shared('s') : w.param(0);
      w.b.atomic(w.b.ptradd(base, w.b.zext('i64', w.get(w.param(0), w.sreg('tid.x')))), w.i32(1), { rmw: 'add' });
    });
    for (const engine of engines) {
      assert.equal(
        runOn(
          engine,
          kernel,
          1,
          threads,
          bytes,
          bufferOf((tid) => 1024 + 4 * (tid % 5)),
        ).messages,
        [],
      );
      assert.ok(
        faults(
          runOn(
            engine,
            kernel,
            1,
            threads,
            bytes,
            bufferOf((tid) => 1024 + (tid === 9 ? 3 : 4 * tid)),
          ).messages,
        ),
        engine,
      );
    }
  }
});

// ── which checks there are ──

function checkCount(zeros: number, write: (w: Writer, n: Value) => void, n?: bigint): number {
  const kernel = writeKernel('k', [out, valueParam('n', 1, 'i32')], [sharedVariable('s', 1024, { align: 16 })], (w) =>
    write(w, w.b.load('i32', w.b.param('ptr.param', { index: 1 }), plain)),
  );
  const text = checkAlignment(copyOf(kernel), {
    ...anyLaunch,
    pointerZeros: () => zeros,
    valueOf: (param) => (param === 1 ? n : undefined),
  });
  return text === '' ? 0 : text.split('\n').length;
}

const four = (w: Writer, base: Value, offset: Value): void =>
  void w.b.store(w.b.ptradd(base, w.b.zext('i64', offset)), w.b.load('v4.f32', base, alignOf('v4.f32')), alignOf('v4.f32'));

test('an offset that is a multiple of the size has no check in an aligned buffer', () => {
  const byThread = (w: Writer): void => w.put(w.param(0), w.sreg('gid.x'), w.i32(1));
  assert.is(checkCount(5, byThread), 0);
  assert.is(checkCount(2, byThread), 0);
  assert.is(checkCount(1, byThread), 1);
  assert.is(
    checkCount(5, (w) => four(w, w.param(0), w.b.shl(w.sreg('tid.x'), w.i32(4)))),
    0,
  );
  assert.is(
    checkCount(5, (w) => four(w, w.param(0), w.b.shl(w.sreg('tid.x'), w.i32(3)))),
    1,
  );
  assert.is(
    checkCount(2, (w) => four(w, w.shared('s'), w.b.shl(w.sreg('tid.x'), w.i32(4)))),
    0,
  );
});

test('a pitch that a launch passes', () => {
  const rows = (w: Writer, n: Value): void =>
    void w.b.store(w.b.ptradd(w.param(0), w.b.zext('i64', w.b.mul(w.sreg('tid.x'), n))), w.i32(1), plain);
  assert.is(checkCount(5, rows), 1);
  assert.is(checkCount(5, rows, 1024n), 0);
  assert.is(checkCount(5, rows, 1026n), 1);
});

test('accesses at multiples of the size from each other share a check', () => {
  const many = (distances: readonly bigint[]) => (w: Writer, n: Value) => {
    const at = w.b.ptradd(w.param(0), w.b.zext('i64', n));
    for (const distance of distances) w.b.store(w.b.ptradd(at, w.b.const('i64', distance)), w.i32(1), plain);
  };
  assert.is(checkCount(5, many([0n, 4n, 64n])), 1);
  assert.is(checkCount(5, many([0n, 2n, 4n])), 2);
});

test.run();
