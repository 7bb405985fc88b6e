/** Machine code in this process: bytes by hand, whose results follow from Intel's manual. */
import { existsSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeCalls } from '../../src/ffi/native/calls.ts';
import { placeCode } from '../../src/ffi/native/code-pages.ts';
import { processorFeatures } from '../../src/ffi/native/processor.ts';
import { addCode, callImportCode, loadCode, moduleOf } from '../support/native-bytes.ts';

const test = suite('ffi/native');
const calls = nativeCalls();
const onlyHere = calls ? test : test.skip;

onlyHere('code is at the start of a page, in pages that are executable and not writable', () => {
  const pages = placeCode(Uint8Array.from(addCode))!;
  assert.is(pages.address % 4096, 0);
  const start = pages.address.toString(16);
  const line = (): string =>
    readFileSync('/proc/self/maps', 'utf8')
      .split('\n')
      .find((each) => each.startsWith(start)) ?? '';
  assert.match(line(), / r-xp /);
  pages.release();
  pages.release();
  assert.is(line(), '');
});

onlyHere('an entry gets its arguments, and leaves its result in the context', () => {
  const { address } = placeCode(Uint8Array.from(addCode))!;
  const context = calls!.newContext(64);
  assert.is(calls!.call(address, context, {}, [40, 2]), 0);
  assert.is(context.words[8], 42);
  assert.is(calls!.call(address, context, {}, [2 ** 31 - 1, 1]), 0);
  assert.is(context.words[8], -(2 ** 31));
});

onlyHere('memory is at its address, also after it has grown', () => {
  const { address } = placeCode(Uint8Array.from(loadCode))!;
  for (const shared of [false, true]) {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 200, shared });
    const context = calls!.newContext(64);
    for (const pages of [0, 100]) {
      memory.grow(pages);
      const at = memory.buffer.byteLength - 4;
      new DataView(memory.buffer).setInt32(at, 1234 + pages, true);
      new BigUint64Array(context.bytes)[2] = BigInt(calls!.addressOf(memory.buffer));
      calls!.call(address, context, {}, [at]);
      assert.is(context.words[8], 1234 + pages);
    }
  }
});

onlyHere('an imported function is called, and what it throws is thrown by the call', () => {
  const { address } = placeCode(Uint8Array.from(callImportCode))!;
  const context = calls!.newContext(128);
  const thunk = calls!.thunk('double', { params: ['i32'], results: ['i32'] })!;
  assert.is(calls!.thunk('double', { params: ['i32'], results: ['i32'] }), thunk, 'a thunk is made once');
  new BigUint64Array(context.bytes)[8] = BigInt(thunk);
  const call = (double: (x: number) => number, x: number): number => calls!.call(address, context, { double }, [x]);
  assert.is(
    call((x) => 2 * x, -21),
    0,
  );
  assert.is(context.words[8], -42);
  // As WebAssembly, modulo 2 ** 32.
  assert.is(
    call(() => 2 ** 32 + 5, 0),
    0,
  );
  assert.is(context.words[8], 5);
  const error = new Error('own');
  let thrown: unknown;
  try {
    call(() => {
      throw error;
    }, 1);
  } catch (caught) {
    thrown = caught;
  }
  assert.is(thrown, error);
  assert.is(context.words[2], 7, 'the trap code');
  // A function may run native code itself.
  const inner = calls!.newContext(128);
  new BigUint64Array(inner.bytes)[8] = BigInt(thunk);
  const nested = (x: number): number => {
    calls!.call(address, inner, { double: (y: number) => y + 1 }, [x]);
    return inner.words[8]! * 10;
  };
  assert.is(call(nested, 6), 0);
  assert.is(context.words[8], 70);
});

onlyHere('workers run the code of this thread', async () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 4, shared: true });
  const module = moduleOf();
  const worker = new Worker(new URL('../support/native-worker.ts', import.meta.url).href);
  const answer = await new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage({ module, memory });
  });
  worker.terminate();
  assert.equal(answer, { sum: 42, imported: 43, trap: 'RuntimeError: Out of bounds memory access', thrown: 'Error: own' });
  assert.is(new Int32Array(memory.buffer)[5], 77);
});

onlyHere('the features are those that Linux names', () => {
  if (!existsSync('/proc/cpuinfo')) return;
  const flags = new Set(/^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.trim().split(' '));
  const has = (words: string): boolean => words.split(' ').every((word) => flags.has(word));
  const hasBaseline = has('avx2 fma bmi1 bmi2 abm popcnt f16c');
  const hasAvx512 = hasBaseline && has('avx512f avx512vl avx512bw avx512dq');
  assert.equal(processorFeatures(), { hasBaseline, hasAvx512, hasFastGathers: hasAvx512 && has('avx512_fp16') });
});

test.run();
