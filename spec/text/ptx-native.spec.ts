/**
 * Instructions with effects that stay what they are when a kernel is printed as PTX again: clusters, textures, the copy engine, products of warp groups,
 * the stack, recursive functions, the heap and launches by kernels. The CPU device runs the texts as an NVIDIA H200 has run the originals; NVIDIA's
 * assembler takes them, where it is installed.
 */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type LaunchArgument, openCpuDevice } from '../../src/device/index.ts';
import { checkRecorded, clusterBytes, recordedClusters } from '../support/clusters.ts';
import { need } from '../support/need.ts';
import { ptxAgain } from '../support/ptx-again.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { kernelOf, type Trial } from '../support/wgmma.ts';

const test = suite('text/ptx-native');
/** The texts so far, with their architectures. */
const texts: (readonly [ptx: string, architecture: string])[] = [];
const textOf = (name: string): string => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8');

function printed(text: string, architecture: string): string {
  const again = ptxAgain('k', text, architecture);
  if ('refused' in again) throw new Error(again.refused.join('; '));
  texts.push([again.ptx, architecture]);
  return again.ptx;
}

const refused = (text: string, architecture: string): string => {
  const again = ptxAgain('k', text, architecture);
  return 'refused' in again ? again.refused.join('; ') : '';
};

const head = (architecture = 'sm_90', version = '8.0'): string => `.version ${version}\n.target ${architecture}\n.address_size 64\n`;
const kernel = (body: string, { before = '', params = '.param .u64 out', architecture = 'sm_90', version = '8.0' } = {}): string =>
  `${head(architecture, version)}${before}.visible .entry k(${params}) {\n.reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .pred %p<9>;\n${body}\nret;\n}\n`;

interface Launched {
  readonly kernel: string;
  readonly threads?: number;
  readonly words: number;
  readonly values?: readonly number[];
  readonly second?: readonly number[];
  /** Whether no other kernel of the text is needed. */
  readonly isAlone?: boolean;
}

/** The words of the buffer after a launch of a text on the CPU device. */
function run(ptx: string, { kernel: name, threads = 1, words, values = [], second, isAlone = true }: Launched): number[] {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx));
  const compiled = compile(diagnostics.file!, { target: 'cpu', ...(isAlone ? { entries: [name] } : {}) }, diagnostics);
  const device = openCpuDevice({ threads: 1 });
  const buffer = device.allocate(4 * words, diagnostics)!;
  buffer.write(new Uint8Array(4 * words));
  const args: LaunchArgument[] = [{ kind: 'buffer', buffer }];
  if (second) {
    const other = device.allocate(4 * second.length, diagnostics)!;
    other.write(new Uint8Array(Int32Array.from(second).buffer));
    args.push({ kind: 'buffer', buffer: other });
  }
  for (const value of values) args.push({ kind: 'bytes', bytes: new Uint8Array(Int32Array.of(value).buffer) });
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000, heapBytes: 1 << 20 } as const;
  const module = compiled && device.load(compiled.metallib, diagnostics, { kernels: [name] });
  module?.launch({ kernel: name, ...shape, args }, diagnostics);
  const found = [...new Int32Array(buffer.read().slice().buffer)];
  device.close();
  assert.equal(
    diagnostics.list.map(({ code, message }) => `${code} ${message}`),
    [],
  );
  return found;
}

test('clusters leave what an H200 leaves', () => {
  const ptx = printed(textOf('clusters/clusters.ptx'), 'sm_90');
  for (const word of [
    '%cluster_ctarank',
    'mapa.shared::cluster.u32',
    'barrier.cluster.arrive.release.aligned',
    'ld.shared::cluster.v4.u32',
  ])
    assert.ok(ptx.includes(word), word);
  const diagnostics = new Diagnostics(new SourceFile('clusters.ptx', ptx));
  const device = openCpuDevice({ threads: 1 });
  const module = device.load(compile(diagnostics.file!, { target: 'cpu' }, diagnostics)!.metallib, diagnostics)!;
  const out = device.allocate(clusterBytes, diagnostics)!;
  out.write(new Uint8Array(clusterBytes).fill(0xee));
  for (const recorded of recordedClusters) checkRecorded({ module, out }, recorded);
  device.close();
  assert.match(refused(textOf('clusters/clusters.ptx'), 'sm_80'), /CM2090.*clusters of blocks need sm_90/);
});

const recordedLines = (name: string): Map<string, number[]> =>
  new Map(
    textOf(name)
      .split('\n')
      .map((line) => line.split(' '))
      .map(([word, ...rest]) => [word!, rest.map(Number)]),
  );

test('kernels that launch kernels, as an H200 ran them', () => {
  const ptx = printed(textOf('linking/cdp.ptx'), 'sm_90');
  assert.match(ptx, /call \(taken_0\), __cudaCDP2LaunchDeviceV2, \(given_0, given_1\);/);
  const recorded = recordedLines('linking/cdp.txt');
  const sizes = Array.from({ length: 32 }, (_, i) => ((i % 5) * 8) % 33);
  const launches: readonly (readonly [string, Launched])[] = [
    ['parent', { kernel: '_Z6parentPii', threads: 32, values: [50], words: 64 }],
    ['recursive', { kernel: '_Z9recursivePii', values: [5], words: 1 }],
    ['sized', { kernel: '_Z5sizedPiPKi', threads: 32, words: 1024, second: sizes }],
    ['forget', { kernel: '_Z6forgetPi', words: 32 }],
  ];
  for (const [name, launched] of launches) assert.equal(run(ptx, { ...launched, isAlone: false }), recorded.get(name), name);
  const clang = printed(textOf('linking/cdp-clang.ptx'), 'sm_90');
  for (const [name, launched] of launches.slice(0, 2)) assert.equal(run(clang, { ...launched, isAlone: false }), recorded.get(name), name);
});

test('recursive functions are functions that are called', () => {
  const text = textOf('linking/recursion.ptx');
  const ptx = printed(text, 'sm_90');
  assert.match(
    ptx,
    /\.func \(\.param \.b32 result_0\) _Z3fibi \(\.param \.b32 argument_0\)\n\{[^}]*call \(taken_0\), _Z3fibi, \(given_0\);/,
  );
  const launches: readonly Launched[] = [
    { kernel: '_Z4fibsPi', threads: 70, words: 70 },
    { kernel: '_Z10ackermannsPi', threads: 16, words: 16 },
    { kernel: '_Z6mutualPi', threads: 40, words: 40 },
    { kernel: '_Z6powersPd', threads: 40, words: 80 },
    { kernel: '_Z7structsPi', threads: 33, words: 198 },
    { kernel: '_Z5permsPj', threads: 35, words: 35 },
    { kernel: '_Z8pointersPi', threads: 64, words: 64 },
    { kernel: '_Z4sumsPi', threads: 64, words: 64 },
    { kernel: '_Z5treesPiS_', threads: 64, words: 64, second: [0] },
    { kernel: '_Z6levelsPi', threads: 96, words: 96 },
    { kernel: '_Z5deepsPii', threads: 32, words: 32, values: [5] },
  ];
  for (const each of launches) assert.equal(run(ptx, each), run(text, each), each.kernel);
  assert.equal(run(ptx, launches[0]!), recordedLines('linking/recursion.txt').get('fib'));
});

test('the heap, and `alloca`', () => {
  const text = textOf('linking/heap.ptx');
  const ptx = printed(text, 'sm_90');
  for (const word of ['call (taken_0), malloc, (given_0);', 'call free, (given_0);', 'alloca.u64']) assert.ok(ptx.includes(word), word);
  const recorded = recordedLines('linking/heap.txt');
  const taken = run(ptx, { kernel: '_Z5stackPj', threads: 64, words: 64 });
  // Printed with nine digits.
  const isClose = (word: number, i: number): boolean => Math.abs((word >>> 0) - recorded.get('alloca')![i]!) <= 5;
  assert.ok(taken.every(isClose), taken.join(' '));
  for (const each of [{ kernel: '_Z6arraysPfi', threads: 40, words: 40, values: [10] }]) assert.equal(run(ptx, each), run(text, each));
});

test('generic addresses of several spaces are made and accessed as such', () => {
  const body = `ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u64 %rd2, mem; cvta.shared.u64 %rd3, %rd2; mov.u64 %rd4, own; cvta.local.u64 %rd5, %rd4;
mul.wide.u32 %rd6, %r1, 4; add.s64 %rd7, %rd3, %rd6; add.u32 %r2, %r1, 100; st.u32 [%rd7], %r2; st.local.u32 [own], %r1; setp.lt.u32 %p1, %r1, 5;
selp.b64 %rd8, %rd7, %rd5, %p1; st.local.u64 [own+8], %rd8; ld.local.u64 %rd9, [own+8]; ld.u32 %r3, [%rd9]; add.s64 %rd10, %rd1, %rd6; st.global.u32 [%rd10], %r3;
isspacep.shared %p2, %rd9; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd10+64], %r4;`;
  const text = kernel(`.local .align 8 .b8 own[16];\n${body}`, { before: '.shared .align 4 .b8 mem[64];\n' });
  const ptx = printed(text, 'sm_90');
  for (const word of ['cvta.shared.u64', 'cvta.local.u64', 'isspacep.shared']) assert.ok(ptx.includes(word), word);
  assert.match(ptx, /\tld\.u32 %r\d+, \[%rd\d+\];/);
  const expected = Array.from({ length: 32 }, (_, i) => (i < 16 ? (i < 5 ? i + 100 : i) : i - 16 < 5 ? 1 : 0));
  for (const each of [text, ptx]) assert.equal(run(each, { kernel: 'k', threads: 16, words: 32 }), expected);
});

test('textures and surfaces by their instructions', () => {
  const forms = [
    'tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f6}]',
    'tex.level.3d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd2, {%f1, %f2, %f3, %f4}], %f5',
    'tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f6}], {%f1, %f2}, {%f3, %f4}',
    'tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f6}]',
    'txq.width.b32 %r5, [%rd2]',
    'suld.b.2d.v2.b32.trap {%r1, %r2}, [%rd2, {%r3, %r4}]',
    'sust.b.2d.b32.clamp [%rd2, {%r3, %r4}], {%r5}',
    'sured.b.add.2d.u32.trap [%rd2, {%r3, %r4}], %r5',
    'suq.height.b32 %r6, [%rd2]',
  ];
  const values = `ld.param.u64 %rd2, [which]; ld.param.u64 %rd1, [out]; ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1]; cvt.rn.f32.u32 %f5, %r3; cvt.rn.f32.u32 %f6, %r4;
mov.f32 %f1, %f5; mov.f32 %f2, %f6; mov.f32 %f3, %f5; mov.f32 %f4, %f6; mov.u32 %r1, %r3; mov.u32 %r2, %r4;`;
  const stores = `st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}; st.global.v4.u32 [%rd1+16], {%r1, %r2, %r3, %r4}; st.global.v2.u32 [%rd1+32], {%r5, %r6};`;
  const text = kernel(`${values}\n${forms.join(';\n')};\n${stores}`, {
    params: '.param .u64 out, .param .u64 which',
    architecture: 'sm_80',
  });
  for (const architecture of ['sm_80', 'sm_90']) {
    const ptx = printed(text, architecture);
    for (const form of forms) assert.ok(ptx.includes(form.split(' ')[0]!), form);
  }
  const named = kernel(
    'tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5, %f6}]; ld.param.u64 %rd1, [out]; st.global.f32 [%rd1], %f1;',
    {
      before: '.global .texref image;\n',
    },
  );
  assert.match(printed(named, 'sm_90'), /^\.global \.texref image;$/m);
});

test('barriers in memory and copies of tensor maps stay together', () => {
  const body = `.shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar;
mov.u32 %r1, bar; mov.u32 %r2, tile; mov.b64 %rd1, map; cvta.param.u64 %rd2, %rd1; mov.u32 %r3, 0; mbarrier.init.shared::cta.b64 [%r1], 1; fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r3, %r3}], [%r1];
again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra again; ld.shared.u32 %r4, [tile+4]; ld.param.u64 %rd3, [out]; st.global.u32 [%rd3], %r4;
prefetch.tensormap [%rd2]; bar.sync 1, 64; barrier.cta.red.and.pred %p2, 2, 64, %p1; selp.u32 %r5, 1, 0, %p2; st.global.u32 [%rd3+4], %r5;`;
  const text = kernel(body, { params: '.param .align 64 .b8 map[128], .param .u64 out', version: '8.6' });
  const ptx = printed(text, 'sm_90');
  for (const word of [
    'cp.async.bulk.tensor.2d',
    'mbarrier.try_wait.parity',
    'cvta.param.u64',
    'bar.sync 1, 64',
    'barrier.cta.red.and.pred',
  ])
    assert.ok(ptx.includes(word), word);
  assert.match(refused(text, 'sm_80'), /CM2090.*copies of tensor maps need sm_90/);
  // Without such copies an older architecture has words in shared memory for all of them.
  const older = printed(text.replace(/^cp\.async\.bulk.*$/m, '').replace('prefetch.tensormap [%rd2]; ', ''), 'sm_80');
  assert.not(/\bmbarrier\./.test(older));
});

const trial: Trial = {
  ...{ n: 16, a: 'f16', b: 'f16', d: 'f32', isLeftTransposed: false, isRightTransposed: false, signs: [1, 1], isAdded: true },
  ...{ isSaturated: false, isSparse: false, selector: 0 },
  left: { start: 0, leading: 128, stride: 256, base: 0, mode: 0 },
  right: { start: 4096, leading: 128, stride: 256, base: 0, mode: 0 },
};

test('products of warp groups are those of sm_90a, and for sm_90 those of warps', () => {
  const text = kernelOf(trial);
  const own = printed(text, 'sm_90a');
  assert.match(own, /wgmma\.fence\.sync\.aligned;\n\twgmma\.mma_async\.sync\.aligned\.m64n16k16\.f32\.f16\.f16 \{%f/);
  assert.match(own, /^\.target sm_90a$/m);
  assert.not(printed(text, 'sm_90').includes('wgmma'));
});

test('the sums of products in a loop are in the same registers, and nothing is moved while they are computed', () => {
  const list = Array.from({ length: 8 }, (_, i) => `%f${i}`).join(', ');
  const each = (line: (i: number) => string): string => Array.from({ length: 8 }, (_, i) => line(i)).join(' ');
  const body = `.shared .align 1024 .b8 image[8192]; ld.param.u64 %rd1, [out]; mov.u32 %r1, image; cvt.u64.u32 %rd2, %r1; shr.u64 %rd2, %rd2, 4; mov.u32 %r2, 0;
${each((i) => `mov.f32 %f${i}, 0f00000000;`)} setp.eq.u32 %p2, %r1, %r1;
again: wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {${list}}, %rd2, %rd2, %p2, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;
add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4; @%p1 bra again; wgmma.wait_group.sync.aligned 0; ${each((i) => `st.global.f32 [%rd1+${4 * i}], %f${i};`)}`;
  const ptx = printed(kernel(body, { architecture: 'sm_90a' }), 'sm_90a');
  const loop = ptx.slice(ptx.indexOf('$L_B'), ptx.indexOf('wgmma.wait_group'));
  assert.not(/mov\.f32/.test(loop), loop);
});

need(test, ['ptxas'], 'the assembler takes the texts', () => {
  for (const [ptx, architecture] of texts) assert.equal([...ptxasFaults(ptx, architecture)], [], ptx);
  assert.ok(texts.length > 12);
});

test.run();
