/**
 * What kernels of others do and the sanitizer once took for faults, in kernels of our own, and the same with a fault: waits in large clusters, copies
 * that an mbarrier counts, tensor maps that a warp makes, tensors of `tf32`, and launches of many events.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeTiled } from '../../src/device/tensor-maps.ts';
import { runSanitized, type SanitizedLaunch, type SanitizedRun } from '../support/sanitized-launch.ts';

const test = suite('device/sanitizer-kernels');

const kernelOf = (body: string, { params = 2, before = '' } = {}): string => `.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(${Array.from({ length: params }, (_, i) => `.param .u64 p${i}`).join(', ')}) ${before} {
.reg .b32 t, lane, warp, a, b, i, x, y, own, other, rank, there; .reg .b64 in, out, map, from, state; .reg .pred p, q, first, none;
ld.param.u64 in, [p0]; ld.param.u64 out, [p1]; cvta.to.global.u64 in, in; cvta.to.global.u64 out, out;
mov.u32 t, %tid.x; and.b32 lane, t, 31; shr.u32 warp, t, 5; setp.eq.u32 first, t, 0;
${body}
mul.wide.u32 from, t, 4; add.u64 from, from, out; st.global.u32 [from], x;
ret; }
`;

const words = (count: number): Uint8Array => new Uint8Array(Uint32Array.from({ length: count }, (_, i) => i * 5 + 1).buffer);
const room = (count: number) => ({ bytes: 4 * count, written: new Uint8Array(4 * count) });

function isClean(text: string, launch: SanitizedLaunch): SanitizedRun {
  const run = runSanitized(text, launch, false);
  assert.equal(run.messages, []);
  return run;
}

/** Asserts that a code is found at a line that has a text, and gives the message. */
function finds(text: string, launch: SanitizedLaunch, code: string, at: string): string {
  const { messages, lines } = runSanitized(text, launch, false);
  const all = text.split('\n');
  const found = messages.find((message, i) => message.startsWith(code) && all[lines[i]! - 1]?.includes(at));
  assert.ok(found !== undefined, messages.map((message, i) => `${lines[i]}: ${message}`).join('\n') || 'nothing');
  return found!;
}

// ── clusters ──

/** Each thread reads the word of a thread of the next block; the shuffle in a branch splits the loop of the barrier into regions. */
const ring = kernelOf(
  `.shared .b32 data[1024];
mov.u32 rank, %cluster_ctarank; mov.u32 b, data; mad.lo.u32 own, t, 4, b; mov.u32 a, %cluster_nctarank;
mad.lo.u32 x, rank, 1024, t; st.shared.u32 [own], x;
add.u32 y, rank, 1; rem.u32 y, y, a;
setp.lt.u32 p, warp, 2;
barrier.cluster.arrive.aligned;
@p bra WAIT;
shfl.sync.bfly.b32 i, t, 1, 31, -1;
WAIT: barrier.cluster.wait.aligned;
setp.gt.u32 q, warp, 0; @q bra READ;
shfl.sync.bfly.b32 i, t, 2, 31, -1;
READ: mapa.shared::cluster.u32 there, own, y;
ld.shared::cluster.u32 x, [there];
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mov.u32 i, %ctaid.x; mov.u32 a, %ntid.x; mad.lo.u32 t, i, a, t;`,
  { before: '.explicitcluster' },
);
const inRing = (blocks: number, threads: number) =>
  ({ grid: [blocks, 1, 1], block: [threads, 1, 1], cluster: [blocks, 1, 1], args: [words(4), room(blocks * threads)] }) as const;

for (const [blocks, threads] of [
  [2, 256],
  [8, 384],
  [16, 160],
] as const)
  test(`no finding in a cluster of ${blocks} blocks of ${threads} threads`, () => {
    const { buffers } = isClean(ring, inRing(blocks, threads));
    const expected = Array.from({ length: blocks * threads }, (_, i) => ((Math.floor(i / threads) + 1) % blocks) * 1024 + (i % threads));
    assert.equal([...new Uint32Array(buffers[1]!.slice().buffer)], expected);
  });

test('a read before the barrier of a large cluster', () => {
  const read = 'mapa.shared::cluster.u32 there, own, 7; ld.shared::cluster.u32 i, [there];';
  const early = ring.replace('add.u32 y, rank, 1;', `${read} setp.eq.u32 none, i, 77777; @none trap;\nadd.u32 y, rank, 1;`);
  assert.match(finds(early, inRing(8, 384), 'CM6110', read), /byte 0 of the shared memory of the block \(4096 bytes\)/);
  finds(early, inRing(8, 384), 'CM6121', 'st.shared.u32 [own], x;');
});

test('a block of a large cluster that never arrives', () => {
  const late = ring.replace(
    'barrier.cluster.arrive.aligned;\n@p',
    'setp.eq.u32 q, rank, 5; @q bra WAIT2;\nbarrier.cluster.arrive.aligned;\n@p',
  );
  const stuck = late.replace(
    'mov.u32 i, %ctaid.x;',
    'bra END;\nWAIT2: ld.volatile.global.u32 x, [in]; setp.ne.u32 q, x, 7; @q bra WAIT2;\nEND: mov.u32 i, %ctaid.x;',
  );
  finds(stuck, inRing(8, 96), 'CM6135', 'WAIT');
});

// ── copies that an mbarrier counts ──

/** Each thread copies words of two factors, whose product waits for an mbarrier alone. */
const counted = (arrival: string): string =>
  kernelOf(`.shared .align 128 .b32 tiles[1024]; .shared .align 8 .b64 bar; .reg .f32 f<4>; .reg .b64 da, db;
@first mbarrier.init.shared.b64 [bar], 128;
mov.u32 a, tiles; mad.lo.u32 own, t, 32, a; mov.u32 i, 0; mul.wide.u32 from, t, 4; add.u64 from, from, in;
bar.sync 0;
FILL: cp.async.ca.shared.global [own], [from], 4; add.u32 own, own, 4; add.u32 i, i, 1; setp.lt.u32 p, i, 8; @p bra FILL;
${arrival}
HERE: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;
@!p bra HERE;
mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;
shr.u32 b, a, 4; cvt.u64.u32 da, b; or.b64 da, da, 0x0000001000080000; add.u64 db, da, 128;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, da, db, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mov.b32 x, f0;`);
const aGroup = { grid: [1, 1, 1], block: [128, 1, 1], args: [words(128), room(128)] } as const;
const arrive = 'mbarrier.arrive.shared.b64 state, [bar];';

test('copies of `cp.async` are complete behind the phase that counts them', () => {
  isClean(counted('cp.async.mbarrier.arrive.noinc.shared.b64 [bar];'), aGroup);
  isClean(counted(`cp.async.mbarrier.arrive.shared.b64 [bar];\n${arrive}`), aGroup);
});

test('copies of `cp.async` that no phase counts', () => {
  finds(counted(arrive), aGroup, 'CM6122', 'wgmma.mma_async');
  const butOne = 'setp.ne.u32 q, t, 3;\n@q cp.async.mbarrier.arrive.shared.b64 [bar];';
  finds(counted(`${butOne}\n${arrive}`), aGroup, 'CM6122', 'wgmma.mma_async');
});

// ── tensor maps ──

const tile = { type: 'tf32', address: 0n, dims: [32, 4], strides: [128], box: [32, 2] } as const;

/** A warp makes a tensor map twice, by which one of its lanes copies; the whole block reads what has come. */
const maps = kernelOf(
  `.shared .align 128 .b32 tiles[128]; .shared .align 128 .b8 made[128]; .shared .align 8 .b64 bar;
ld.param.u64 map, [p2]; cvta.to.global.u64 map, map;
mov.u32 x, 0; mov.u32 i, 0;
@first mbarrier.init.shared.b64 [bar], 1;
mul.wide.u32 from, lane, 4; ld.param.u64 state, [p3]; add.u64 from, from, state; ld.global.u32 y, [from];
mov.u32 a, made; mad.lo.u32 own, lane, 4, a; st.shared.u32 [own], y;
ld.param.u64 state, [p0];
bar.sync 0;
AGAIN: setp.ne.u32 p, warp, 0; @p bra READ;
@first tensormap.replace.tile.global_address.shared::cta.b1024.b64 [made], state;
bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [map], [made], 128;
fence.proxy.tensormap::generic.acquire.gpu [map], 128;
@!first bra READ;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tiles], [map, {0, i}], [bar];
READ: and.b32 y, i, 1;
HERE: mbarrier.try_wait.parity.shared.b64 p, [bar], y;
@!p bra HERE;
mov.u32 a, tiles; mad.lo.u32 own, t, 4, a; ld.shared.u32 b, [own]; xor.b32 x, x, b;
bar.sync 0;
add.u64 state, state, 128;
add.u32 i, i, 1; setp.lt.u32 p, i, 2; @p bra AGAIN;`,
  { params: 4 },
);
const floats = Float32Array.from({ length: 160 }, (_, i) => Math.sin(i) * 3);
const mapBytes = (): Uint8Array => {
  const made = encodeTiled(tile);
  return ('bytes' in made ? made.bytes : assert.unreachable(made.why)) as Uint8Array;
};
const withMap = { grid: [1, 1, 1], block: [64, 1, 1], args: [new Uint8Array(floats.buffer), room(64), room(32), mapBytes()] } as const;

test('a warp makes tensor maps of `tf32` for one of its lanes', () => {
  const { buffers } = isClean(maps, withMap);
  const bits = new Uint32Array(floats.buffer);
  // Ten bits of the fraction, to the nearest and ties to even.
  const rounded = (word: number): number => (word + 0xfff + ((word >>> 13) & 1)) & ~0x1fff;
  const expected = Array.from({ length: 64 }, (_, i) => (rounded(bits[i]!) ^ rounded(bits[i + 64]!)) >>> 0);
  assert.equal([...new Uint32Array(buffers[1]!.slice().buffer)], expected);
});

test('a second copy to a tile of `tf32` that others still read', () => {
  finds(maps.replace('xor.b32 x, x, b;\nbar.sync 0;', 'xor.b32 x, x, b;'), withMap, 'CM6120', 'cp.async.bulk.tensor');
});

// ── many events ──

/** Block 0 counts more events than the time of stamps has for blocks before; the others begin anew. */
const behindMany = (second: string): string =>
  kernelOf(`mov.u32 y, %ctaid.x; setp.ne.u32 p, y, 0; mov.u32 x, 7; mov.u32 i, 0;
@p bra SECOND;
st.global.u32 [out+8], x;
LOOP: membar.cta; add.u32 i, i, 1; setp.lt.u32 q, i, 16800000; @q bra LOOP;
bra END;
SECOND: ${second}
END: mad.lo.u32 t, y, 32, t; add.u32 t, t, 4;`);
const threeBlocks = { grid: [3, 1, 1], block: [1, 1, 1], args: [words(4), room(128)] } as const;

test('blocks behind many events have no finding', () => {
  isClean(behindMany('add.u32 x, y, x;'), threeBlocks);
});

test('races between blocks on both sides of many events', () => {
  finds(behindMany('st.global.u32 [out+12], y;'), threeBlocks, 'CM6121', 'SECOND');
  finds(behindMany('add.u32 x, y, x; st.global.u32 [out+8], x;'), threeBlocks, 'CM6121', 'SECOND');
});

// ── barriers of the grid ──

/** As `grid.sync()` of CUDA 13 does it: the first threads of the blocks count themselves, and wait for the last one. */
const gridSync = (n: number): string => `bar.sync 0;
@!first bra SYNCED${n};
mov.u32 a, %ctaid.x; setp.eq.u32 q, a, 0; mov.u32 b, %nctaid.x; sub.u32 b, 0x80000001, b; selp.b32 b, b, 1, q;
atom.add.release.gpu.u32 y, [map], b;
WAIT${n}: ld.acquire.gpu.u32 b, [map]; xor.b32 b, b, y; setp.ge.s32 q, b, 0; @q bra WAIT${n};
SYNCED${n}: bar.sync 0;
`;
/** Each block adds up what the next one has written, twice. */
const onGrid = kernelOf(`mov.u32 a, %envreg2; mov.u32 b, %envreg1; mov.b64 map, {a, b}; add.u64 map, map, 4;
mov.u32 rank, %ctaid.x; mov.u32 i, %ntid.x; mad.lo.u32 own, rank, i, t; mov.u32 x, own;
mov.u32 a, %nctaid.x; add.u32 y, rank, 1; rem.u32 y, y, a; mad.lo.u32 other, y, i, t;
mul.wide.u32 from, own, 4; add.u64 from, in, from; st.global.u32 [from], x;
${gridSync(1)}mul.wide.u32 state, other, 4; add.u64 state, in, state; ld.global.u32 i, [state]; add.u32 x, x, i;
${gridSync(2)}st.global.u32 [from], x;
${gridSync(3)}ld.global.u32 i, [state]; add.u32 x, x, i;
mov.u32 t, own;`);
const grid = (blocks: number, threads: number) =>
  ({ grid: [blocks, 1, 1], block: [threads, 1, 1], args: [room(blocks * threads), room(blocks * threads)], cooperative: true }) as const;

test('blocks that wait for each other at barriers of the grid have no finding', () => {
  for (const [blocks, threads] of [
    [6, 64],
    [64, 128],
  ] as const) {
    const { buffers } = isClean(onGrid, grid(blocks, threads));
    const count = blocks * threads;
    const next = (i: number): number => (i + threads) % count;
    const expected = Array.from({ length: count }, (_, i) => i + 2 * next(i) + next(next(i)));
    assert.equal([...new Uint32Array(buffers[1]!.slice().buffer)], expected);
  }
});

test('missing barriers of the grid', () => {
  finds(onGrid.replace(gridSync(1), 'bar.sync 0;\n'), grid(6, 64), 'CM6121', 'ld.global.u32 i, [state]; add.u32 x, x, i;');
  finds(onGrid.replace(gridSync(3), ''), grid(6, 64), 'CM6121', 'ld.global.u32 i, [state]; add.u32 x, x, i;');
});

/** All threads read a word of shared memory that one of them changes behind a barrier. */
const shared = onGrid.replace(
  'mov.u32 t, own;',
  `.shared .b32 word; @first st.shared.u32 [word], 5;
bar.sync 0;
ld.shared.u32 i, [word]; add.u32 x, x, i;
bar.sync 0;
@!first bra PAST;
ld.shared.u32 i, [word]; add.u32 i, i, 1; st.shared.u32 [word], i;
PAST: mov.u32 t, own;`,
);

test('reads by all threads before a barrier of the block', () => {
  isClean(shared, grid(6, 64));
  finds(
    shared.replace('add.u32 x, x, i;\nbar.sync 0;\n@!first bra PAST', 'add.u32 x, x, i;\n@!first bra PAST'),
    grid(6, 64),
    'CM6120',
    '[word]',
  );
});

test('CM5029: a grid with barriers of more threads than have numbers', () => {
  const { messages } = runSanitized(onGrid, grid(65, 1024), false);
  assert.equal(messages, [
    'CM5029\nthe launch of kernel `k` requests `sanitize`, which a grid with barriers of more than 65536 threads does not support',
  ]);
});

test('a block that does not come to a barrier of the grid', () => {
  const early = onGrid.replace('st.global.u32 [from], x;\n', 'st.global.u32 [from], x;\nsetp.eq.u32 p, rank, 3; @p ret;\n');
  finds(early, grid(6, 64), 'CM6135', 'WAIT1');
});

test.run();
