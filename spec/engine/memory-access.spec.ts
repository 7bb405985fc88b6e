/** Loads and stores in lane groups: every type, every address pattern, all lanes or some. Expected results come from copying bytes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import { bytesOf, elementOf, lanesOf, type ScalarType, type Type, type Value, vectorOf } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { assertSound } from '../support/ir-text.ts';
import { sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/memory-access');

const elements: readonly ScalarType[] = ['i8', 'i16', 'i32', 'i64', 'f16', 'bf16', 'f32', 'f64'];
const types: readonly Type[] = elements.flatMap((element) => [element, vectorOf(element as 'i32', 2), vectorOf(element as 'i32', 4)]);

/** An address pattern: the byte offset of a thread's value, as a function and as IR. */
interface Place {
  readonly name: string;
  readonly at: (type: Type, i: number, threads: number) => number;
  readonly write: (w: Writer, type: Type, i: Value, threads: number) => Value;
}

const sizeOf = (type: Type): number => bytesOf(elementOf(type)) * lanesOf(type);

/** A constant stride from a start. */
const strided = (name: string, step: (type: Type) => number, start: (type: Type, threads: number) => number): Place => ({
  name,
  at: (type, i, threads) => start(type, threads) + i * step(type),
  write: ({ b, i32 }, type, i, threads) => b.add(b.mul(i, i32(step(type))), i32(start(type, threads))),
});

const places: readonly Place[] = [
  strided('contiguous', sizeOf, () => 0),
  strided(
    'strided',
    (type) => 3 * sizeOf(type),
    () => 8,
  ),
  strided(
    'strided by one more element',
    (type) => sizeOf(type) + bytesOf(elementOf(type)),
    () => 0,
  ),
  strided(
    'reversed',
    (type) => -sizeOf(type),
    (type, threads) => sizeOf(type) * (threads - 1),
  ),
  strided(
    'stride of 512 bytes',
    () => 512,
    () => 0,
  ),
  {
    name: 'anywhere',
    at: (type, i, threads) => ((i * 7 + 3) % threads) * sizeOf(type),
    write: ({ b, i32 }, type, i, threads) => b.mul(b.urem(b.add(b.mul(i, i32(7)), i32(3)), i32(threads)), i32(sizeOf(type))),
  },
];

const area = 48 * 1024;

/** A kernel whose threads copy one value each; with `some`, about three threads in four do. */
const mover = (type: Type, from: Place, to: Place, threads: number, some: boolean) =>
  writeKernel('move', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const { b, i32 } = w;
    const tid = w.sreg('tid.x');
    const plain = { align: bytesOf(elementOf(type)), volatile: false };
    const move = (): void => {
      const at = (place: Place, start: number): Value =>
        b.ptradd(w.param(0), b.sext('i64', b.add(place.write(w, type, tid, threads), i32(start))));
      b.store(at(to, area), b.load(type, at(from, 0), plain), plain);
    };
    if (some) w.when(w.is(b.and(b.mul(tid, i32(5)), i32(3)), 'ne', i32(0)), move);
    else move();
  });

const moves = (some: boolean, i: number): boolean => !some || ((i * 5) & 3) !== 0;

for (const [c, type] of types.entries())
  test(`${type} for all pairs of address patterns`, () => {
    for (const [a, from] of places.entries())
      for (const [b, to] of places.entries()) {
        // Block sizes and masks alternate between the pairs.
        if ((a + b + c) % 3 > 0) continue;
        const threads = [64, 33, 32, 63][(a + 2 * b + c) % 4]!;
        const some = (a + 3 * b + c) % 2 === 0;
        const given = Uint8Array.from({ length: 2 * area }, (_, i) => (i < area ? (i * 167 + (i >> 8) * 29 + 5) & 0xff : 0xee));
        const want = given.slice();
        for (let i = 0; i < threads; i++) {
          if (!moves(some, i)) continue;
          const start = from.at(type, i, threads);
          want.set(given.subarray(start, start + sizeOf(type)), area + to.at(type, i, threads));
        }
        const kernel = mover(type, from, to, threads, some);
        assertSound(kernel);
        const { bytes, messages, scalarReason, lanes } = runOn('simd', kernel, 1, threads, 2 * area, given);
        assert.equal(messages, []);
        assert.is(scalarReason, undefined);
        assert.ok(lanes > 1);
        const at = bytes.findIndex((byte, k) => byte !== want[k]);
        assert.is(at, -1, `${from.name} to ${to.name}, ${threads} threads${some ? ', some' : ''}: byte ${at}`);
      }
  });

/** Atomics add to words of a variable of 256 words, at offsets limited by a mask; then each thread writes the word of its number. */
const counting = (mask: number) =>
  writeKernel(
    'k',
    [pointerParam('out', 0, undefined, 'read_write')],
    [sharedVariable('s', 1024)],
    ({ b, i32, sreg, param, shared, put, get }) => {
      const thread = sreg('tid.x');
      put(shared('s'), thread, i32(0));
      b.barrier();
      const place = b.and(b.mul(thread, i32(4 * 37)), i32(mask));
      b.atomic(b.ptradd(shared('s'), b.sext('i64', place)), thread, { rmw: 'add' });
      b.barrier();
      put(param(0), thread, get(shared('s'), thread));
    },
  );

test('atomics that are in bounds by value range have no check, and add up', () => {
  const expected = Array.from({ length: 256 }, () => 0);
  for (let i = 0; i < 256; i++) expected[(i * 37) % 256]! += i;
  const { bytes, lanes, messages } = runOn('simd', counting(1020), 1, 256, 1024);
  assert.equal(messages, []);
  assert.ok(lanes > 1);
  assert.equal([...new Uint32Array(bytes.slice().buffer)], expected);
  const size = (mask: number): number => {
    const compiled = compileSimd(counting(mask), [256, 1, 1], { fma: 'exact' });
    return 'why' in compiled ? Number.NaN : compiled.bytes.length;
  };
  // By its mask, the second may access the word behind the variable.
  assert.ok(size(1020) < size(1023) - 10, `${size(1020)} and ${size(1023)} bytes`);
});

test('atomics in the null page are faults', () => {
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param }) => {
    const far = b.sub(b.mul(b.and(sreg('tid.x'), i32(5)), i32(4)), b.trunc('i32', b.ptrtoint('i64', param(0))));
    b.atomic(b.ptradd(param(0), b.sext('i64', far)), i32(1), { rmw: 'add' });
  });
  const simd = runOn('simd', kernel, 1, 32, 128);
  assert.is(simd.messages.length, 1);
  assert.match(simd.messages[0]!, /accessed an address outside of device memory, in block \(0, 0, 0\) at thread \(0, 0, 0\)/);
  assert.equal(simd.bytes, new Uint8Array(128));
  assert.ok(simd.lanes > 1);
});

test('integers of local addresses are offsets in the window of the thread, of 64 bits where all of them are used', () => {
  const locals = [sharedVariable('own', 16, { space: 'local' })];
  const words = { align: 4, volatile: false };
  const kernel = (isWide: boolean) =>
    writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], locals, ({ b, i32, sreg, param }) => {
      const thread = b.zext('i64', sreg('tid.x'));
      const own = b.variable('ptr.local', { name: 'own' });
      const [high, low] = [b.shl(thread, b.const('i64', 32)), b.ptrtoint('i64', b.ptradd(own, b.const('i64', 8)))];
      // One of the four words of the variable, by a product that is no multiple of the number of a lane.
      const word = b.zext('i64', b.and(b.mul(sreg('tid.x'), sreg('tid.x')), i32(3)));
      const place = b.inttoptr('ptr.local', b.add(low, b.sub(b.mul(word, b.const('i64', 4)), b.const('i64', 8))));
      for (let i = 0; i < 4; i++) b.store(b.ptradd(own, b.const('i64', 4 * i)), i32(i), words);
      b.store(place, sreg('tid.x'), words);
      const out = b.ptradd(param(0), b.mul(thread, b.const('i64', 24)));
      b.store(out, isWide ? b.or(high, low) : b.zext('i64', b.trunc('i32', low)), { align: 8, volatile: false });
      for (let i = 0; i < 4; i++)
        b.store(b.ptradd(out, b.const('i64', 8 + 4 * i)), b.load('i32', b.ptradd(own, b.const('i64', 4 * i)), words), words);
    });
  for (const isWide of [false, true])
    for (const engine of ['lane', 'simd'] as const) {
      const { bytes, messages, lanes } = runOn(engine, kernel(isWide), 1, 48, 24 * 48);
      assert.equal(messages, []);
      assert.is(lanes > 1, engine === 'simd');
      const found = new Uint32Array(bytes.slice().buffer);
      for (let t = 0; t < 48; t++) {
        const own = [0, 1, 2, 3].map((i) => (i === ((t * t) & 3) ? t : i));
        assert.equal([...found.subarray(6 * t, 6 * t + 6)], [8, isWide ? t : 0, ...own], `${engine} ${isWide} ${t}`);
      }
    }
});

test.run();
