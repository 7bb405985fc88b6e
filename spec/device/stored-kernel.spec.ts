/** What is stored of a kernel with variables of its module: a later process allocates and initializes them without its code. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LoadedKernel } from '../../src/device/cpu/launch/loaded-kernel.ts';
import { canRunNative } from '../../src/device/cpu/native/mode.ts';
import { kernelIn, notedStore, wordsOf } from '../support/stored.ts';

const test = suite('device/stored-kernel');

const variables = `.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 counter;
.global .align 4 .u32 base = 7;
.global .align 1 .u8 spare[3] = {1, 2};`;

/** base + table[i & 3] + counter, which is 0. */
const body = `.reg .b64 a, c; .reg .b32 v, w;
  and.b32 k, i, 3; mul.wide.u32 o, k, 4; mov.u64 a, table; add.s64 a, a, o; ld.const.u32 v, [a];
  ld.global.u32 w, [base]; add.u32 v, v, w;
  ld.global.u64 c, [counter]; cvt.u32.u64 w, c; add.u32 v, v, w;
  ld.global.u8 w, [spare+2]; add.u32 v, v, w;
  st.global.u32 [p], v;`;

const expected = Array.from({ length: 256 }, (_, i) => 7 + 10 * (1 + (i & 3)));

test('variables have their places and first bytes again, and launches read them', () => {
  const store = notedStore();
  const made = kernelIn(store, body, true, variables);
  assert.equal(wordsOf(made, 'never'), expected);
  const written = store.writes.length;
  const stored = kernelIn(store, body, false, variables);
  const symbols = stored.params.find(({ memory }) => memory)!.memory!.symbols;
  assert.equal(symbols.map(({ name, size, init }) => [name, size, init && [...init]]).sort(), [
    ['base', 4, [7, 0, 0, 0]],
    ['counter', 8, undefined],
    ['spare', 3, [1, 2, 0]],
  ]);
  const known = ({ params, reflection }: LoadedKernel): unknown => JSON.parse(JSON.stringify({ params, reflection }));
  assert.equal(known(stored), known(made));
  assert.equal(wordsOf(stored, 'never'), expected);
  assert.is(store.writes.length, written, 'nothing is written again');
});

(canRunNative() ? test : test.skip)('native code reads variables of a kernel that was stored', () => {
  const store = notedStore();
  wordsOf(kernelIn(store, body, true, variables), 'never');
  assert.equal(wordsOf(kernelIn(store, body, true, variables), 'always'), expected);
});

test('launches whose code is the same share it, in a store as in memory, and so do those that come after many', () => {
  const store = notedStore();
  const launches = 100;
  const inBlocks = (blocks: number): number[] => Array.from({ length: 64 * blocks }, (_, i) => Math.imul(i, i));
  const runAll = (kernel: LoadedKernel): void => {
    for (let blocks = 1; blocks <= launches; blocks++) assert.equal(wordsOf(kernel, 'never', blocks), inBlocks(blocks), `${blocks} blocks`);
  };
  const square = 'mul.lo.u32 i, i, i; st.global.u32 [p], i;';
  runAll(kernelIn(store, square));
  const codes = [...store.entries.values()].filter(({ length }) => length > 64);
  assert.ok(codes.length <= 4, `${codes.length}: the kernel, and its code with and without checks of addresses`);
  assert.ok(store.entries.size - codes.length <= 65, 'launches of which something is known, and all others');
  const before = store.reads.length;
  runAll(kernelIn(store, square, false));
  // Of each launch that is known, its code's name; of each code, its bytes; and the native code that there is none of, which a device looks for.
  assert.ok(store.reads.length - before <= 65 + 4 * codes.length, `${store.reads.length - before} reads`);
});

test.run();
