/** Selects with 0, between constants and between a float and its negation, which have code of their own; results by their bits. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import type { Kernel, Value } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { plain, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/selects');

const threads = 64;
/** Zeros, infinities, NaNs with payloads and both signs, subnormals, numbers. */
const edges = [
  0, 0x8000_0000, 1, 0x8000_0001, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0123, 0xffc0_0123, 0x7f80_0001, 0xff80_0001,
];
const given = Uint32Array.from({ length: threads }, (_, i) => edges[i % edges.length]! + (i < 2 * edges.length ? 0 : i));
const [low, high] = [0x1234_5678, 0x8765_4321];
const sign = 0x8000_0000;

/** By form: the word that a thread gets from its own and its condition. */
const forms: Readonly<Record<string, (word: number, cond: boolean) => number>> = {
  'word or 0': (word, cond) => (cond ? word : 0),
  '0 or word': (word, cond) => (cond ? 0 : word),
  'constant or constant': (_, cond) => (cond ? low : high),
  '0 or constant': (_, cond) => (cond ? 0 : high),
  'constant or 0': (_, cond) => (cond ? low : 0),
  'negated or float': (word, cond) => (cond ? word ^ sign : word),
  'float or negated': (word, cond) => (cond ? word : word ^ sign),
  'negated or 0': (word, cond) => (cond ? word ^ sign : 0),
  'negated or another': (word, cond) => (cond ? word ^ sign : low),
  'f64 negated or not': (word, cond) => (cond ? word ^ sign : word),
  'f64 or 0': (word, cond) => (cond ? word : 0),
  'i64 constants': (_, cond) => (cond ? low : high),
  absolute: (word) => word & ~sign,
  'condition or false': (word, cond) => Number(cond && word === 0),
};

/** A condition that varies, of the bits of the thread's number. */
const holds = (i: number): boolean => ((i * 5) & 4) !== 0;

const kernel: Kernel = writeKernel('k', [pointerParam('words', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, is, at }) => {
  const thread = sreg('tid.x');
  const word = get(param(0), thread);
  const cond = is(b.and(b.mul(thread, i32(5)), i32(4)), 'ne', i32(0));
  const float = b.bitcast('f32', word);
  const negated = b.fneg(float);
  const long = b.shl(b.zext('i64', word), b.const('i64', 32));
  const double = b.bitcast('f64', long);
  const upper = (value: Value): Value => b.trunc('i32', b.lshr(value, b.const('i64', 32)));
  const wide = (value: number): Value => b.const('i64', (BigInt(value) << 32n) | 5n);
  const results = [
    b.select(cond, word, i32(0)),
    b.select(cond, i32(0), word),
    b.select(cond, i32(low), i32(high)),
    b.select(cond, i32(0), i32(high)),
    b.select(cond, i32(low), i32(0)),
    b.bitcast('i32', b.select(cond, negated, float)),
    b.bitcast('i32', b.select(cond, float, b.fneg(float))),
    b.bitcast('i32', b.select(cond, negated, b.const('f32', 0))),
    b.bitcast('i32', b.select(cond, negated, b.bitcast('f32', b.add(b.and(thread, i32(0)), i32(low))))),
    upper(b.bitcast('i64', b.select(cond, b.fneg(double), double))),
    upper(b.bitcast('i64', b.select(cond, double, b.const('f64', 0)))),
    upper(b.select(cond, wide(low), wide(high))),
    b.bitcast('i32', b.fabs(float)),
    b.zext('i32', b.select(cond, is(word, 'eq', i32(0)), b.const('i1', 0))),
  ];
  results.forEach((value, i) => void b.store(at(param(0), b.add(thread, i32(threads * (i + 1)))), value, plain));
});

for (const engine of ['lane', 'simd'] as const)
  for (const lanes of engine === 'lane' ? [undefined] : [4, 8, 32]) {
    const names = Object.keys(forms);
    const start = new Uint8Array(4 * threads * (names.length + 1));
    start.set(new Uint8Array(given.slice().buffer));
    const ran = runOn(engine, kernel, 1, threads, start.length, start, lanes);
    const found = new Uint32Array(ran.bytes.slice().buffer);
    for (const [at, name] of names.entries())
      test(`${name} on ${engine}${lanes === undefined ? '' : `, ${lanes} lanes`}`, () => {
        assert.equal(ran.messages, []);
        const expected = Uint32Array.from(given, (word, i) => forms[name]!(word, holds(i)));
        assert.equal(found.slice(threads * (at + 1), threads * (at + 2)), expected);
      });
  }

/** How often a module has an instruction of vectors with one byte of number. Source: WebAssembly 2.0, 5.4.8. */
const count = (bytes: Uint8Array, number: number): number => bytes.filter((byte, i) => byte === 0xfd && bytes[i + 1] === number).length;

test('only a select between values that have nothing in common takes a bitselect, and none a negation', () => {
  const made = compileSimd(kernel, [threads, 1, 1], { fma: 'exact', lanes: 4, shifts: 'immediate' });
  assert.not('why' in made);
  if ('why' in made) return;
  const [bitselect, andnot] = [0x52, 0x4f];
  assert.is(count(made.bytes, bitselect), 1);
  assert.ok(count(made.bytes, andnot) >= 3);
});

test.run();
