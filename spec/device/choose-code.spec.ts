/** Which code runs a launch: what is tried, what is settled, and that results do not depend on it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { chooseCode, type Running } from '../../src/device/cpu/launch/choose-code.ts';
import { loadLibrary } from '../../src/device/cpu/launch/library.ts';
import type { PreparedLaunch, Rival } from '../../src/device/cpu/launch/prepare.ts';
import type { Share } from '../../src/device/cpu/workers/share.ts';
import type { NativeMode } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/choose-code');

/** A choice between code that takes `own` and code that takes `rival` milliseconds for a unit, with so many units. */
function chosen(own: number, rival: number | undefined, units: number, kind: Rival['kind'] = 'scalar', expectedMs = 0): string[] {
  const said: string[] = [];
  const [mine, theirs] = ['own', 'rival'].map((name) => ({ prepared: { name }, instance: { name } }) as unknown as Running) as [
    Running,
    Running,
  ];
  const nameOf = ({ instance }: Running): string => (instance as unknown as { name: string }).name;
  const launch = { kind, expectedMs, prepare: () => theirs.prepared, settle: (isFaster: boolean) => void said.push(`settled ${isFaster}`) };
  Object.assign(mine.prepared, { rivals: rival === undefined ? [] : [launch] });
  let left = units;
  const takeFor: Share['takeFor'] = (instance, ms) => {
    const each = nameOf({ instance } as Running) === 'own' ? own : rival!;
    left = Math.max(0, left - Math.ceil(ms / each));
    return { each, left };
  };
  const open = (prepared: PreparedLaunch): Running => {
    assert.is(prepared, theirs.prepared);
    said.push('opened');
    return theirs;
  };
  chooseCode(mine, { takeFor } as Share, { open, use: (running) => void said.push(nameOf(running)) });
  return said;
}

test('the faster code runs the rest, if enough is left to pay for a trial', () => {
  assert.equal(chosen(1, 0.5, 1e5), ['opened', 'rival', 'settled true']);
  assert.equal(chosen(0.5, 1, 1e5), ['opened', 'rival', 'settled false', 'own']);
  assert.equal(chosen(1, 0.95, 1e5), ['opened', 'rival', 'settled false', 'own'], 'a difference of noise');
  assert.equal(chosen(1, 0.5, 500), [], 'less than 0.6 s left');
  assert.equal(chosen(100, 1, 60), [], 'few blocks, of which one may take seconds');
  assert.equal(chosen(1, undefined, 1e5), []);
});

test('native code is tried in shorter launches, if they pay for its compilation', () => {
  assert.equal(chosen(0.1, 0.05, 1e3, 'native'), ['opened', 'rival', 'settled true']);
  assert.equal(chosen(0.1, 0.2, 1e3, 'native'), ['opened', 'rival', 'settled false', 'own']);
  assert.equal(chosen(0.1, 0.05, 1e3, 'native', 100), [], 'a compilation that takes longer than the launch');
  assert.equal(chosen(0.1, 0.05, 1e4, 'native', 100), ['opened', 'rival', 'settled true']);
  assert.equal(chosen(0.1, 0.05, 500, 'native'), [], 'less than 60 ms left');
});

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';
const begin = `.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;`;
const kernel = (body: string): string => `${head}${begin}\n${body}\n}`;

function metallibOf(text: string): Uint8Array {
  const diagnostics = new Diagnostics();
  const { metallib } = compile(new SourceFile('k.ptx', text), { target: 'cpu' }, diagnostics)!;
  assert.equal(diagnostics.list, []);
  return metallib;
}

test('only kernels whose threads do not communicate have a rival', () => {
  const has = (body: string, options = {}): boolean => {
    const library = loadLibrary(metallibOf(kernel(body)), new Diagnostics(), options)!;
    return library.kernels[0]!.rival([64, 1, 1]) !== undefined;
  };
  const plain = 'ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5; ret;';
  assert.ok(has(plain));
  assert.ok(has('setp.eq.u32 %p1, %r4, 77; @%p1 trap; st.global.u32 [%rd3], %r4; ret;'), 'a stop is a word that any thread may write');
  for (const engine of ['lane', 'simd'] as const) assert.not(has(plain, { engine }), engine);
  for (const body of [
    'atom.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd3], %r5; ret;',
    'red.global.add.f32 [%rd1], 0f3F800000; ret;',
    'bar.sync 0; st.global.u32 [%rd3], %r4; ret;',
    'ld.volatile.global.u32 %r5, [%rd1]; st.global.u32 [%rd3], %r5; ret;',
    'vote.sync.ballot.b32 %r5, 1, -1; st.global.u32 [%rd3], %r5; ret;',
    'shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; st.global.u32 [%rd3], %r5; ret;',
    '.shared .u32 s[64]; mov.u32 %r6, s; st.shared.u32 [%r6], %r4; ld.shared.u32 %r5, [%r6]; st.global.u32 [%rd3], %r5; ret;',
    'mov.u32 %r5, %clock; st.global.u32 [%rd3], %r5; ret;',
    'membar.gl; st.global.u32 [%rd3], %r4; ret;',
  ])
    assert.not(has(body), body);
});

/** Steps to 1 of the Collatz sequence of a number of 17 bits, some times over: lanes of a warp take from 0 to some hundreds of turns. */
const collatz = kernel(`  and.b32 %r5, %r4, 131071; add.u32 %r5, %r5, 1; mov.u32 %r9, 0; mov.u32 %r6, 0;
again: mov.u32 %r7, %r5;
step: setp.le.u32 %p1, %r7, 1; @%p1 bra done;
  and.b32 %r8, %r7, 1; setp.eq.u32 %p2, %r8, 0; @%p2 bra even;
  mad.lo.u32 %r7, %r7, 3, 1; bra.uni next;
even: shr.u32 %r7, %r7, 1;
next: add.u32 %r6, %r6, 1; bra.uni step;
done: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 12; @%p3 bra again;
  st.global.u32 [%rd3], %r6; ret;`);

/** Steps of a number, modulo 2^32, as the kernel computes them. */
function stepsOf(from: number): number {
  let steps = 0;
  for (let n = from; n > 1; steps++) n = n % 2 === 0 ? n / 2 : (Math.imul(n, 3) + 1) >>> 0;
  return steps;
}

/** Runs something while the clock goes a hundred times as fast, so that a short launch is worth a trial; returns how many instances it made. */
function hastened(run: () => void): number {
  const [{ now }, { Instance }] = [performance, WebAssembly];
  let instances = 0;
  performance.now = () => 100 * now.call(performance);
  WebAssembly.Instance = class extends Instance {
    constructor(...args: ConstructorParameters<typeof Instance>) {
      super(...args);
      instances++;
    }
  };
  try {
    run();
  } finally {
    performance.now = now;
    WebAssembly.Instance = Instance;
  }
  return instances;
}

/** Runs a launch that is long by a hastened clock, and checks its results; returns how many instances of WebAssembly it made. */
function launchHastened(native: NativeMode, threads = 1): number {
  const [blocks, size] = [4096, 128];
  const bytes = metallibOf(collatz);
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ threads, native });
  const module = device.load(bytes, diagnostics)!;
  const buffer = device.allocate(4 * blocks * size, diagnostics)!;
  const args = [{ kind: 'buffer', buffer }] as const;
  const done: number[] = [];
  const request = { kernel: 'k', grid: [blocks, 1, 1], block: [size, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 60_000 } as const;
  const instances = hastened(() => {
    assert.ok(module.launch({ ...request, timeoutMs: 0, progress: (count) => void done.push(count) }, diagnostics));
  });
  assert.equal(diagnostics.list, []);
  const words = new Uint32Array(buffer.read().buffer);
  const expected = Array.from({ length: 131_072 }, (_, i) => 12 * stepsOf(i + 1));
  assert.ok(words.every((word, i) => word === expected[i % 131_072]));
  assert.ok(done.every((count, i) => count <= blocks && count >= (done[i - 1] ?? 0)));
  device.close();
  return instances;
}

test('a launch that changes its code in the middle runs every block once, with the same results', () => {
  assert.is(launchHastened('never'), 2, 'vectorized code and its rival');
  launchHastened('auto');
  launchHastened('auto', 2);
});

test.run();
