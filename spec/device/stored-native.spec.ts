/** Native code that outlives the process: a later one runs it at once, and nothing that is damaged or was made for something else. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CompiledKernel } from '../../src/device/cpu/launch/loaded-kernel.ts';
import { storedNative } from '../../src/device/cpu/launch/stored-native.ts';
import { canRunNative, type NativeTargetName, nativeTargetName, nativeTargetNames } from '../../src/device/cpu/native/mode.ts';
import type { NativeModule } from '../../src/device/cpu/native/module.ts';
import type { NativeMode } from '../../src/device/device.ts';
import { kernelIn, type NotedStore, notedStore, wordsOf } from '../support/stored.ts';

const test = suite('device/stored-native');
const onlyHere = canRunNative() ? test : test.skip;

/** Kernels with the word that each thread writes: with a pool of constants, with a loop of imported ticks, and with floats. */
const kernels: readonly (readonly [what: string, body: string, expected: (i: number) => number])[] = [
  ['products', 'mul.lo.u32 i, i, i; st.global.u32 [p], i;', (i) => Math.imul(i, i) >>> 0],
  [
    'a loop',
    `mov.u32 k, 0;
again:
  mul.lo.u32 i, i, 1664525; add.u32 i, i, 1013904223; add.u32 k, k, 1; setp.lt.u32 q, k, 50; @q bra again;
  st.global.u32 [p], i;`,
    (i) => {
      let x = i;
      for (let k = 0; k < 50; k++) x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
      return x;
    },
  ],
  [
    'floats',
    'cvt.rn.f32.u32 f, i; fma.rn.f32 f, f, 0f3FC00000, 0f3E800000; sqrt.rn.f32 f, f; st.global.f32 [p], f;',
    (i) => new Uint32Array(Float32Array.of(Math.sqrt(Math.fround(i * 1.5 + 0.25))).buffer)[0]!,
  ],
];

const expectedOf = (expected: (i: number) => number): number[] => Array.from({ length: 256 }, (_, i) => expected(i));

const ofNative = (names: readonly string[]): string[] => names.filter((name) => name.startsWith('native'));

/** The store that a process leaves which has run a kernel as native code. */
function filled(body: string): NotedStore {
  const store = notedStore();
  wordsOf(kernelIn(store, body), 'always');
  return store;
}

for (const [what, body, expected] of kernels)
  onlyHere(`a later process runs stored code from its first launch, and loads no compiler: ${what}`, () => {
    const store = filled(body);
    assert.is(ofNative(store.writes).length, 1);
    const written = store.writes.length;
    const kernel = kernelIn(store, body, false);
    assert.equal(wordsOf(kernel, 'auto'), expectedOf(expected));
    assert.equal([ofNative(store.reads).length > 0, store.writes.length], [true, written], 'it is read, and nothing is written again');
    // WebAssembly of the same store has the same results.
    assert.equal(wordsOf(kernelIn(store, body, false), 'never'), expectedOf(expected));
  });

onlyHere('entries of two compilations are the same bytes, and their machine code is what runs', () => {
  const [, body] = kernels[1]!;
  const store = filled(body);
  assert.equal([...filled(body).entries], [...store.entries]);
  const memory = nativeMemoryOf(store);
  const { code } = memory.recall()!;
  const bytes = code!.stored!.bytes.slice();
  // `xor eax, eax; ret`: a function that does nothing.
  for (const { offset } of Object.values((code!.wasm as NativeModule).entries)) bytes.set([0x31, 0xc0, 0xc3], offset);
  memory.keep('used', { ...code!, stored: { ...code!.stored!, bytes } });
  assert.equal(wordsOf(kernelIn(store, body, false), 'auto'), new Array(256).fill(0));
});

onlyHere('`never` reads and writes no native code, and a short launch without any only looks for it', () => {
  const [, body, expected] = kernels[0]!;
  const store = filled(body);
  store.reads.length = 0;
  store.writes.length = 0;
  assert.equal(wordsOf(kernelIn(store, body, false), 'never'), expectedOf(expected));
  assert.equal([ofNative(store.reads), store.writes], [[], []]);
  const empty = notedStore();
  assert.equal(wordsOf(kernelIn(empty, body), 'auto'), expectedOf(expected));
  assert.equal([ofNative(empty.reads).length, ofNative(empty.writes)], [nativeTargetNames.length, []]);
});

/** The native code of the only kernel of a store, as a machine with a target sees it. */
function nativeMemoryOf(store: NotedStore, target: () => NativeTargetName | undefined = nativeTargetName) {
  let key = '';
  const keyOf: NotedStore['keyOf'] = (parts) => {
    if (`${parts[0]}`.startsWith('native') && parts.length === 2) key = `${parts[1]}`;
    return store.keyOf(parts);
  };
  wordsOf(kernelIn({ ...store, keyOf }, kernels[1]![1], false), 'auto');
  return storedNative({ store, key, target });
}

/** The entry of native code in a store. */
function entryOf(store: NotedStore): { readonly key: string; readonly bytes: Uint8Array } {
  let last = '';
  const read: NotedStore['read'] = (key) => {
    if (store.entries.has(key)) last = key;
    return store.read(key);
  };
  nativeMemoryOf({ ...store, read }).recall();
  return { key: last, bytes: store.entries.get(last)! };
}

onlyHere('an entry that is cut off at any length, or has any other bit, is no code', () => {
  const store = filled(kernels[1]![1]);
  const { key, bytes } = entryOf(store);
  const memory = nativeMemoryOf(store);
  assert.ok(memory.recall()?.code);
  const recalled = (other: Uint8Array) => {
    store.entries.set(key, other);
    return memory.recall();
  };
  for (let length = 0; length < bytes.length; length++) assert.is(recalled(bytes.subarray(0, length)), undefined, `${length} bytes`);
  assert.is(recalled(Uint8Array.of(...bytes, 0)), undefined);
  for (let bit = 0; bit < 8 * bytes.length; bit += bit < 8 * 200 ? 1 : 13) {
    const other = bytes.slice();
    other[bit >> 3]! ^= 1 << (bit & 7);
    assert.is(recalled(other), undefined, `bit ${bit}`);
  }
  // A damaged entry is as good as none: launches run, and native code is stored anew.
  assert.equal(wordsOf(kernelIn(store, kernels[1]![1]), 'auto'), expectedOf(kernels[1]![2]));
  assert.equal(wordsOf(kernelIn(store, kernels[1]![1]), 'always'), expectedOf(kernels[1]![2]));
  assert.equal(store.entries.get(key), bytes);
});

onlyHere('an entry under the name of another one is no code', () => {
  const [one, two] = [filled(kernels[1]![1]), notedStore()];
  const memory = storedNative({ store: two, key: 'another' });
  memory.keep('used', nativeMemoryOf(one).recall()!.code);
  assert.ok(memory.recall()?.code);
  two.entries.set([...two.entries.keys()][0]!, entryOf(one).bytes);
  assert.is(memory.recall(), undefined);
});

onlyHere('code for other processors is not run, and does not replace that of this one', () => {
  const store = filled(kernels[1]![1]);
  const own = nativeTargetName()!;
  const { code } = nativeMemoryOf(store).recall()!;
  for (const other of [undefined, ...nativeTargetNames.filter((name) => name !== own)]) {
    const memory = nativeMemoryOf(store, () => other);
    assert.is(memory.recall(), undefined, `on ${other}`);
    const before = store.entries.size;
    memory.keep('used', code);
    assert.is(store.entries.size, before + (other ? 1 : 0));
    assert.is(memory.recall()?.standing, other && 'used');
    assert.ok(nativeMemoryOf(store).recall()?.code);
  }
});

onlyHere('what is known of the speed of code is stored with it, and without code that is slower', () => {
  const store = filled(kernels[1]![1]);
  const memory = nativeMemoryOf(store);
  const { code } = memory.recall()!;
  memory.keep('doubtful', code);
  const doubtful = memory.recall()!;
  assert.is(doubtful.standing, 'doubtful');
  assert.equal(partsOf(doubtful.code!), partsOf(code!));
  memory.keep('slower', undefined);
  assert.equal(memory.recall(), { standing: 'slower', code: undefined });
  assert.ok(entryOf(store).bytes.length < 200);
});

onlyHere('processes that write one entry at once leave it whole', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  try {
    const [, body, expected] = kernels[1]!;
    const run = async (native: NativeMode, mayMake: boolean): Promise<string> => {
      const words = [join(import.meta.dir, '../support/stored-process.ts'), join(folder, 'cache'), native, `${mayMake}`, body];
      const { stdout, exited } = Bun.spawn([process.execPath, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
      assert.is(await exited, 0);
      return (await new Response(stdout).text()).trim();
    };
    const texts = await Promise.all([run('always', true), run('always', true), run('always', true)]);
    texts.push(await run('auto', false));
    assert.equal(texts, new Array(4).fill(expectedOf(expected).join()));
    const names = readdirSync(join(folder, 'cache'), { recursive: true }).map(String);
    assert.is(
      names.filter((name) => /^.[/\\][0-9a-f]{64}$/.test(name)).length,
      4,
      'the kernel, what the launch has, the WebAssembly, and native code',
    );
    assert.is(names.filter((name) => name.includes('.new')).length, 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** What code says without the address where it is. */
const partsOf = ({ wasm, ...rest }: CompiledKernel): unknown => ({ ...rest, wasm: { ...wasm, address: 0 } });

test.run();
