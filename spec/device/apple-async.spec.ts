/**
 * The asynchronous machine in metallibs for Apple GPUs: barriers in memory and of some of the threads as words with locks and fences, clusters of one
 * block, and products by warp groups as fused sums. The CPU device runs the bytes that a Mac loads; what is expected follows from the manual.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { sanitizeKinds } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { compiled, ptx, refusedBy } from '../support/async.ts';
import { handed, handedExpected, ring, ringExpected, single, singleExpected } from '../support/barrier-kernels.ts';
import { launchMetallib } from '../support/launch.ts';
import { kernelOf, type Trial } from '../support/wgmma.ts';
import { compare, operandsOf, randomFrom } from '../support/wgmma-trials.ts';

const test = suite('device/apple-async');

function metallibOf(text: string, target: 'cpu' | 'macos15' = 'macos15'): Uint8Array {
  const { metallib, diagnostics } = compiled(text, target);
  assert.ok(metallib, diagnostics.list.map(({ code, message, labels }) => `${code} ${message} ${labels[0]?.text}`).join('; '));
  return metallib;
}

const wordsAfter = (body: string, blocks: number, threads: number, count: number): number[] => {
  const metallib = metallibOf(ptx(body, { shared: 512 }));
  const [out] = launchMetallib(metallib, { kernel: 'k', blocks, threads, args: [new Int32Array(count)] });
  return [...new Int32Array(out!.slice().buffer)];
};

test('warps that wait for each other at barriers in memory', () => assert.equal(wordsAfter(ring, 2, 96, 96), ringExpected));
test('warps that hand on numbers at barriers for some of the threads', () => assert.equal(wordsAfter(handed, 2, 128, 128), handedExpected));
test('each block is a cluster', () => assert.equal(wordsAfter(single, 2, 64, 128), singleExpected));

test('the sanitizer follows barriers for some of the threads', () => {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx(handed, { shared: 512 })));
  const made = compile(diagnostics.file!, { target: 'macos15', sanitize: true }, diagnostics)!;
  const device = openCpuDevice({ threads: 1 });
  const buffer = device.allocate(512, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [128, 1, 1], dynamicSharedBytes: 0, timeoutMs: 20_000 } as const;
  const request = { kernel: 'k', ...shape, sanitize: { kinds: new Set(sanitizeKinds) }, args: [{ kind: 'buffer', buffer }] } as const;
  device.load(made.metallib, diagnostics)!.launch(request, diagnostics);
  device.close();
  assert.equal(diagnostics.list, []);
});

/** What is reported of a launch. */
function launched(body: string): string[] {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ threads: 1 });
  const buffer = device.allocate(4096, diagnostics)!;
  const module = device.load(metallibOf(ptx(body)), diagnostics)!;
  const shape = { grid: [2, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
  module.launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
  device.close();
  return diagnostics.list.map(({ code, message }) => `${code} ${message}`);
}

test('what is no word of a barrier stops the kernel', () => {
  const early = 'mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 state, [bar], 3;';
  assert.match(launched(early).join(), /does not expect.*k\.ptx:17/);
  const gone = 'mbarrier.init.shared.b64 [bar], 2;\nmbarrier.inval.shared.b64 [bar];\nmbarrier.test_wait.parity.shared.b64 p, [bar], 0;';
  assert.match(launched(gone).join(), /not initialized.*k\.ptx:18/);
});

/** Factors of 16 columns in swizzled rows of 128 bytes, within the memory that Apple GPUs have. */
const trialOf = (types: Pick<Trial, 'a' | 'b' | 'd'>): Trial => {
  const one = { start: 0, leading: 16, stride: 1024, base: 0, mode: 1 } as const;
  const flags = { isLeftTransposed: false, isRightTransposed: false, isAdded: true, isSaturated: false, isSparse: false, selector: 0 };
  return { ...types, ...flags, n: 16, left: one, right: { ...one, start: 8192 }, signs: [1, 1] };
};
const imageBytes = 16384;

for (const types of [{ a: 'f16', b: 'f16', d: 'f32' } as const, { a: 's8', b: 'u8', d: 's32' } as const])
  test(`products by warp groups: ${types.a} by ${types.b}`, () => {
    const trial = trialOf(types);
    const operands = operandsOf(randomFrom(21), trial);
    const text = kernelOf(trial).replace(/setp\.lt\.u32 %q, %r2, \d+;/, `setp.lt.u32 %q, %r2, ${imageBytes / 4};`);
    const args = [operands.image, operands.words, operands.before];
    const [, , after] = launchMetallib(metallibOf(text), { kernel: 'k', blocks: 1, threads: 128, shared: imageBytes, args });
    compare(trial, operands, new Uint32Array(after!.slice().buffer), 'macos15');
  });

test('CM2001: sparse products by warp groups are for the CPU device', () => {
  const sparse = kernelOf({ ...trialOf({ a: 's8', b: 's8', d: 's32' }), isSparse: true });
  const said = compiled(sparse, 'macos15').diagnostics.list.map(({ code, help }) => `${code} ${help}`);
  assert.equal([...new Set(said)], ['CM2001 compile for the CPU device with `--target cpu`']);
  const own = new Diagnostics(new SourceFile('k.ptx', sparse));
  compile(own.file!, { target: 'cpu', isForText: true }, own);
  assert.equal([...new Set(own.list.map(({ code }) => code))], ['CM2001']);
});

test('CM2090: barriers in memory need the fences of macOS 15', () => {
  const { diagnostics } = compiled(
    ptx('mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.relaxed.cta.shared.b64 state, [bar];'),
    'macos14',
  );
  assert.equal([...new Set(diagnostics.list.map(({ code }) => code))], ['CM2090']);
  assert.equal(refusedBy('mbarrier.arrive.relaxed.cta.shared.b64 state, [bar];', 'macos15'), []);
});

test('the reflection says that the CPU device has better forms', () => {
  const isAdapted = (body: string): unknown =>
    compile(new SourceFile('k.ptx', ptx(body)), { target: 'macos15' }, new Diagnostics())!.reflection.kernels[0]!.isAdapted;
  assert.is(isAdapted('mbarrier.arrive.shared.b64 state, [bar];'), true);
  assert.is(isAdapted('bar.sync 1, 32;'), true);
  assert.is(isAdapted('bar.sync 0;\ncp.async.bulk.global.shared::cta.bulk_group [out], [data], 64;'), undefined);
});

test.run();
