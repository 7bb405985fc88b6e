/** Shifts of vectors by constants, as the WebAssembly engine that runs the code compiles them best; results by JavaScript's own shifts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { shiftMode, shiftModeOf } from '../../src/device/cpu/shift-support.ts';
import type { ShiftMode } from '../../src/engine/codegen/shift-mode.ts';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/shift-mode');

const agents: readonly (readonly [ShiftMode, string])[] = [
  ['register', 'Bun/1.4.5'],
  ['register', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15'],
  [
    'register',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0 Mobile Safari/604.1',
  ],
  ['immediate', 'Node.js/22'],
  ['immediate', ''],
  ['immediate', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36'],
  ['immediate', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36'],
  ['immediate', 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0'],
];
for (const [mode, agent] of agents) test(`${agent || 'a program without a name'}: ${mode}`, () => assert.is(shiftModeOf(agent), mode));

test('Bun is recognized', () => assert.is(shiftMode(), 'register'));

const threads = 64;
const counts = Array.from({ length: 32 }, (_, count) => count);

/** Each thread writes its word shifted to the left by every count. */
const shifted: Kernel = writeKernel('k', [pointerParam('words', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
  const thread = sreg('tid.x');
  const word = get(param(0), thread);
  for (const count of counts) put(param(0), b.add(thread, i32(threads * (count + 1))), b.shl(word, i32(count)));
});

/** Runs with the name of another program, which compiles for its engine. */
function withAgent<T>(userAgent: string, run: () => T): T {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'navigator')!;
  Object.defineProperty(globalThis, 'navigator', { value: { userAgent }, configurable: true });
  try {
    return run();
  } finally {
    Object.defineProperty(globalThis, 'navigator', own);
  }
}

for (const agent of ['Bun/1.4.5', 'Node.js/22'])
  for (const lanes of [4, 8, 32])
    test(`results of ${lanes} lanes for ${agent}`, () => {
      const words = Uint32Array.from({ length: threads * (counts.length + 1) }, (_, i) => Math.imul(i + 1, 0x9e37_79b1));
      const given = new Uint8Array(words.slice().buffer);
      const { bytes, messages } = withAgent(agent, () => runOn('simd', shifted, 1, threads, given.length, given, lanes));
      assert.equal(messages, []);
      const expected = words.map((word, i) => (i < threads ? word : words[i % threads]! << (Math.floor(i / threads) - 1)));
      assert.equal(new Uint32Array(bytes.slice().buffer), expected);
    });

/** Whether a module has the instruction `i32x4.mul`. Source: WebAssembly 2.0, 5.4.8. */
const multiplies = (bytes: Uint8Array): boolean => bytes.some((byte, i) => byte === 0xfd && bytes[i + 1] === 0xb5 && bytes[i + 2] === 0x01);

test('only an engine without shifts by immediates gets multiplications', () => {
  for (const shifts of ['register', 'immediate'] as const) {
    const made = compileSimd(shifted, [threads, 1, 1], { fma: 'exact', lanes: 32, shifts });
    assert.not('why' in made);
    if (!('why' in made)) assert.is(multiplies(made.bytes), shifts === 'register');
  }
});

test.run();
