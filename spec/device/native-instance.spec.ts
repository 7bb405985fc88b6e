/** Exports of native code beside what WebAssembly says of exports: globals convert what they are assigned, functions trap with its errors. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { instantiate } from '../../src/device/cpu/native/instantiate.ts';
import { nativeCalls } from '../../src/ffi/native/calls.ts';
import { moduleOf } from '../support/native-bytes.ts';

const test = suite('device/native-instance');
const onlyHere = nativeCalls() ? test : test.skip;

type Exports = Record<string, (...args: number[]) => number> & { readonly word: { value: number }; readonly long: { value: bigint } };

const open = (memory = new WebAssembly.Memory({ initial: 1 }), functions = {}): Exports =>
  instantiate(moduleOf(), memory, functions) as unknown as Exports;

onlyHere('globals have their first values, and convert like those of WebAssembly', () => {
  const { word, long, ...others } = open();
  assert.is(word.value, -1);
  assert.is(long.value, 5n);
  assert.not('undefined' in others);
  const [own32, own64] = [new WebAssembly.Global({ value: 'i32', mutable: true }), new WebAssembly.Global({ value: 'i64', mutable: true })];
  for (const value of [2 ** 31, -1.5, 2 ** 40 + 3]) {
    word.value = value;
    own32.value = value;
    assert.is(word.value, own32.value);
  }
  for (const value of [2n ** 63n, -1n, 2n ** 70n + 3n]) {
    long.value = value;
    own64.value = value;
    assert.is(long.value, own64.value);
  }
});

onlyHere('two instances of a module have globals of their own', () => {
  const module = moduleOf();
  const memory = new WebAssembly.Memory({ initial: 1 });
  const [first, second] = [0, 1].map(() => instantiate(module, memory, {}) as unknown as Exports);
  first!.word.value = 7;
  assert.is(second!.word.value, -1);
});

onlyHere('a trap is an error of WebAssembly, and the next call runs', () => {
  const { trap, add } = open();
  assert.throws(trap!, (error: unknown) => error instanceof WebAssembly.RuntimeError && /out of bounds/i.test(error.message));
  assert.is(add!(1, 2), 3);
});

onlyHere('memory may grow between calls and in an imported function', () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 8 });
  const next = (at: number): number => {
    memory.grow(1);
    new Int32Array(memory.buffer)[at / 4] = 99;
    return at;
  };
  const { load, imported } = open(memory, { next });
  new Int32Array(memory.buffer)[3] = 5;
  assert.is(load!(12), 5);
  memory.grow(2);
  new Int32Array(memory.buffer)[4] = 6;
  assert.is(load!(16), 6);
  assert.is(imported!(20), 20);
  assert.is(load!(20), 99);
});

test.run();
