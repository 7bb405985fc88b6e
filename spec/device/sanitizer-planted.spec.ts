/**
 * Planted faults of asynchronous operations and of barriers for some of the threads, beside those of `sanitizer-async.spec.ts`: each kernel has no
 * finding, and each fault is found at its line, in several orders of the threads.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Order } from '../../src/device/device.ts';
import { readTexts } from '../support/producers.ts';
import { runSanitized } from '../support/sanitized-launch.ts';
import { randomBytes } from '../support/wgmma.ts';

const test = suite('device/sanitizer-planted');

interface Fault {
  readonly why: string;
  /** Texts of the kernel with what they become. */
  readonly edits: readonly (readonly [string, string])[];
  /** What is found, by code; one of them is enough. */
  readonly codes: readonly string[];
  /** Parts of the lines that may be named. */
  readonly at: readonly string[];
}

interface Kernel {
  readonly name: string;
  readonly text: string;
  readonly threads: number;
  /** Blocks of the grid; 1 unless given. Blocks of clusters have no other order. */
  readonly blocks?: number;
  readonly faults: readonly Fault[];
}

const head = (registers: string, shared: string): string => `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1) {
.reg .b32 t, lane, warp, a, b, i, x, y, own, other, parity; .reg .b64 in, out, from, state; .reg .pred p, q, first; ${registers}
${shared}
ld.param.u64 in, [p0]; ld.param.u64 out, [p1]; cvta.to.global.u64 in, in; cvta.to.global.u64 out, out;
mov.u32 t, %tid.x; and.b32 lane, t, 31; shr.u32 warp, t, 5; setp.eq.u32 first, t, 0;
mul.wide.u32 from, t, 4; add.u64 from, from, in;
`;
const write = 'mul.wide.u32 from, t, 4; add.u64 from, from, out; st.global.u32 [from], x;\nret; }\n';

/** Warp 0 writes two stages, which warp 1 reads: barriers 1 and 2 say that a stage is full, 3 and 4 that it is empty. */
const named: Kernel = {
  name: 'barriers for two warps',
  threads: 64,
  text: `${head('', '.shared .b32 ring[64];')}mov.u32 x, 0; mov.u32 i, 0;
setp.eq.u32 p, warp, 1; @p bra READ;
WRITE: and.b32 a, i, 1; add.u32 b, a, 3;
setp.lt.u32 q, i, 2; @q bra FILL;
bar.sync b, 64;
FILL: mad.lo.u32 own, a, 32, lane; shl.b32 own, own, 2; mov.u32 y, ring; add.u32 own, own, y;
st.shared.u32 [own], i;
add.u32 b, a, 1;
bar.arrive b, 64;
add.u32 i, i, 1; setp.lt.u32 p, i, 4; @p bra WRITE;
bra END;
READ: and.b32 a, i, 1; add.u32 b, a, 1;
bar.sync b, 64;
sub.u32 other, 31, lane; mad.lo.u32 own, a, 32, other; shl.b32 own, own, 2; mov.u32 y, ring; add.u32 own, own, y;
ld.shared.u32 y, [own];
add.u32 x, x, y; add.u32 b, a, 3;
setp.gt.u32 q, i, 1; @q bra NEXT;
bar.arrive b, 64;
NEXT: add.u32 i, i, 1; setp.lt.u32 p, i, 4; @p bra READ;
END: ${write}`,
  faults: [
    {
      why: 'a reader does not wait',
      edits: [
        ['add.u32 b, a, 1;\nbar.sync b, 64;\nsub', 'add.u32 b, a, 1;\nsub'],
        ['add.u32 b, a, 1;\nbar.arrive b, 64;', ''],
      ],
      codes: ['CM6120', 'CM6110'],
      at: ['ld.shared.u32 y', 'st.shared.u32 [own]'],
    },
    {
      why: 'a reader reads the other stage',
      edits: [
        [
          'sub.u32 other, 31, lane; mad.lo.u32 own, a, 32, other;',
          'sub.u32 other, 31, lane; xor.b32 y, a, 1; mad.lo.u32 own, y, 32, other;',
        ],
      ],
      codes: ['CM6120', 'CM6110'],
      at: ['ld.shared.u32 y', 'st.shared.u32 [own]'],
    },
    {
      why: 'a writer arrives before it writes',
      edits: [
        ['st.shared.u32 [own], i;\nadd.u32 b, a, 1;\nbar.arrive b, 64;', 'add.u32 b, a, 1;\nbar.arrive b, 64;\nst.shared.u32 [own], i;'],
      ],
      codes: ['CM6120', 'CM6110'],
      at: ['ld.shared.u32 y', 'st.shared.u32 [own]'],
    },
    {
      why: 'a writer does not wait for empty stages',
      edits: [
        ['setp.lt.u32 q, i, 2; @q bra FILL;\nbar.sync b, 64;', ''],
        ['setp.gt.u32 q, i, 1; @q bra NEXT;\nbar.arrive b, 64;', ''],
      ],
      codes: ['CM6120', 'CM6135'],
      at: ['st.shared.u32 [own]', 'ld.shared.u32 y', 'bar.sync b, 64;'],
    },
    {
      why: 'a barrier counts a warp too many',
      edits: [['add.u32 b, a, 1;\nbar.sync b, 64;', 'add.u32 b, a, 1;\nbar.sync b, 96;']],
      codes: ['CM6135', 'CM6120'],
      at: ['bar.sync b, 96;', 'bar.sync b, 64;', 'st.shared.u32 [own]'],
    },
    {
      why: 'no arrival',
      edits: [['add.u32 b, a, 1;\nbar.arrive b, 64;', '']],
      codes: ['CM6135'],
      at: ['bar.sync b, 64;\nsub', 'bar.sync b, 64;'],
    },
  ],
};

/** Each thread copies a word of three tiles, two ahead, and reads that of another thread. */
const short: Kernel = {
  name: 'groups of `cp.async`',
  threads: 64,
  text: `${head('', '.shared .align 16 .b32 ring[192];')}mov.u32 b, ring; mad.lo.u32 own, t, 4, b; sub.u32 other, 63, t; mad.lo.u32 other, other, 4, b;
cp.async.ca.shared.global [own], [from], 4;
cp.async.commit_group;
cp.async.ca.shared.global [own+256], [from+256], 4;
cp.async.commit_group;
cp.async.wait_group 1;
bar.sync 0;
ld.shared.u32 x, [other];
bar.sync 1;
cp.async.ca.shared.global [own], [from+512], 4;
cp.async.commit_group;
cp.async.wait_all;
bar.sync 0;
ld.shared.u32 y, [other+256]; add.u32 x, x, y;
ld.shared.u32 a, [other]; add.u32 x, x, a;
${write}`,
  faults: [
    {
      why: 'a wait for one group too few',
      edits: [['cp.async.wait_group 1;', 'cp.async.wait_group 2;']],
      codes: ['CM6122'],
      at: ['ld.shared.u32 x'],
    },
    { why: 'no wait', edits: [['cp.async.wait_group 1;\n', '']], codes: ['CM6122'], at: ['ld.shared.u32 x'] },
    {
      why: 'a copy in no group',
      edits: [['[own], [from], 4;\ncp.async.commit_group;\n', '[own], [from], 4;\n']],
      codes: ['CM6122'],
      at: ['ld.shared.u32 x'],
    },
    {
      why: 'a wait without a barrier',
      edits: [['cp.async.wait_group 1;\nbar.sync 0;', 'cp.async.wait_group 1;']],
      codes: ['CM6122', 'CM6110'],
      at: ['ld.shared.u32 x'],
    },
    {
      why: 'a tile is filled again while others read it',
      edits: [['bar.sync 1;\n', '']],
      codes: ['CM6120'],
      at: ['cp.async.ca.shared.global [own], [from+512]', 'ld.shared.u32 x'],
    },
    {
      why: 'the destination is written before the wait',
      edits: [['cp.async.wait_all;', 'st.shared.u32 [own], 1;\ncp.async.wait_all;']],
      codes: ['CM6122'],
      at: ['st.shared.u32 [own], 1;'],
    },
    {
      why: 'the last wait is for one group too few',
      edits: [['cp.async.wait_all;', 'cp.async.wait_group 1;']],
      codes: ['CM6122'],
      at: ['ld.shared.u32 a'],
    },
  ],
};

const signal = 'mbarrier::complete_tx::bytes';

/** Two copies at barriers of their own; each warp waits for one. A third barrier orders what threads write themselves. */
const bulk: Kernel = {
  name: 'copies at several mbarriers',
  threads: 64,
  text: `${head('', '.shared .align 16 .b32 tiles[64]; .shared .b32 mine[64]; .shared .align 8 .b64 bars[3];')}
@first mbarrier.init.shared.b64 [bars], 1;
@first mbarrier.init.shared.b64 [bars+8], 1;
@first mbarrier.init.shared.b64 [bars+16], 32;
fence.mbarrier_init.release.cluster;
bar.sync 0;
@first mbarrier.arrive.expect_tx.shared.b64 _, [bars], 128;
@first mbarrier.arrive.expect_tx.shared.b64 _, [bars+8], 128;
@first cp.async.bulk.shared::cluster.global.${signal} [tiles], [in], 128, [bars];
@first cp.async.bulk.shared::cluster.global.${signal} [tiles+128], [in], 128, [bars+8];
mov.u32 b, bars; mad.lo.u32 b, warp, 8, b;
HERE: mbarrier.try_wait.parity.shared.b64 p, [b], 0;
@!p bra HERE;
mov.u32 a, tiles; mad.lo.u32 own, t, 4, a;
ld.shared.u32 x, [own];
mov.u32 a, mine; mad.lo.u32 own, lane, 4, a;
setp.eq.u32 q, warp, 1; @q bra TAKE;
st.shared.u32 [own], x;
mbarrier.arrive.shared.b64 state, [bars+16];
bra LAST;
TAKE:
THERE: mbarrier.try_wait.parity.shared.b64 p, [bars+16], 0;
@!p bra THERE;
sub.u32 other, 31, lane; mad.lo.u32 own, other, 4, a;
ld.shared.u32 y, [own]; add.u32 x, x, y;
LAST: bar.sync 0;
@first st.shared.u32 [mine+128], 3;
@first fence.proxy.async.shared::cta;
@first st.shared.u32 [mine+132], 4;
@first st.shared.u32 [mine+136], 4;
@first st.shared.u32 [mine+140], 4;
@first fence.proxy.async.shared::cta;
add.u64 from, out, 512;
@first cp.async.bulk.global.shared::cta.bulk_group [from], [mine+128], 16;
@first cp.async.bulk.commit_group;
@first cp.async.bulk.wait_group.read 0;
bar.sync 0;
setp.eq.u32 q, t, 40;
@q st.shared.u32 [mine+136], 5;
${write}`,
  faults: [
    {
      why: 'a wait for the barrier of another copy',
      edits: [['mad.lo.u32 b, warp, 8, b;', 'mad.lo.u32 b, warp, 0, b;']],
      codes: ['CM6122'],
      at: ['ld.shared.u32 x'],
    },
    {
      why: 'one warp waits for both',
      edits: [
        ['HERE: mbar', 'setp.ne.u32 q, warp, 0; @q bra PAST;\nHERE: mbar'],
        ['@!p bra HERE;', '@!p bra HERE;\nPAST:'],
      ],
      codes: ['CM6122', 'CM6110', 'CM6120'],
      at: ['ld.shared.u32 x'],
    },
    {
      why: 'an arrival before the store',
      edits: [
        [
          'st.shared.u32 [own], x;\nmbarrier.arrive.shared.b64 state, [bars+16];',
          'mbarrier.arrive.shared.b64 state, [bars+16];\nst.shared.u32 [own], x;',
        ],
      ],
      codes: ['CM6120', 'CM6110'],
      at: ['ld.shared.u32 y', 'st.shared.u32 [own], x'],
    },
    {
      why: 'no wait for what a thread writes',
      edits: [['THERE: mbarrier.try_wait.parity.shared.b64 p, [bars+16], 0;\n@!p bra THERE;', '']],
      codes: ['CM6120', 'CM6110'],
      at: ['ld.shared.u32 y', 'st.shared.u32 [own], x'],
    },
    {
      why: 'a wait that passes at once, for the phase before',
      edits: [['p, [bars+16], 0;', 'p, [bars+16], 1;']],
      codes: ['CM6120', 'CM6110', 'CM6135'],
      at: ['ld.shared.u32 y', 'st.shared.u32 [own], x', 'THERE:'],
    },
    {
      why: 'a group that is never committed',
      edits: [['@first cp.async.bulk.commit_group;\n', '']],
      codes: ['CM6122'],
      at: ['@q st.shared.u32 [mine+136], 5;'],
    },
    {
      why: 'another thread waits for the group',
      edits: [['@first cp.async.bulk.wait_group.read 0;', 'setp.eq.u32 p, t, 40;\n@p cp.async.bulk.wait_group.read 0;']],
      codes: ['CM6122'],
      at: ['@q st.shared.u32 [mine+136], 5;'],
    },
    {
      why: 'a wait for all groups but the last',
      edits: [['wait_group.read 0;', 'wait_group.read 1;']],
      codes: ['CM6122'],
      at: ['@q st.shared.u32 [mine+136], 5;'],
    },
    {
      why: 'no barrier behind the wait for the group',
      edits: [['wait_group.read 0;\nbar.sync 0;', 'wait_group.read 0;']],
      codes: ['CM6122', 'CM6120'],
      at: ['@q st.shared.u32 [mine+136], 5;', 'cp.async.bulk.global', '[mine+136], 4;'],
    },
    {
      why: 'a store behind the proxy fence',
      edits: [
        [
          '@first st.shared.u32 [mine+140], 4;\n@first fence.proxy.async.shared::cta;',
          '@first fence.proxy.async.shared::cta;\n@first st.shared.u32 [mine+140], 4;',
        ],
      ],
      codes: ['CM6123'],
      at: ['cp.async.bulk.global'],
    },
    {
      why: 'a fence of memory in place of that between proxies',
      edits: [['4;\n@first fence.proxy.async.shared::cta;\nadd', '4;\n@first fence.acq_rel.gpu;\nadd']],
      codes: ['CM6123'],
      at: ['cp.async.bulk.global'],
    },
    {
      why: 'the barrier is taken out of use while others wait',
      edits: [['bra LAST;', '@first mbarrier.inval.shared.b64 [bars+16];\nbra LAST;']],
      codes: ['CM6014', 'CM6135', 'CM6110', 'CM6120'],
      at: ['THERE:', 'mbarrier.inval', 'mbarrier.arrive.shared.b64 state'],
    },
  ],
};

const sums = Array.from({ length: 4 }, (_, i) => `f${i}`).join(', ');
/** A warp group multiplies two tiles that its threads have written. */
const group: Kernel = {
  name: 'products by a warp group',
  threads: 128,
  text: `${head('.reg .f32 f<4>; .reg .b64 da, db; ', '.shared .align 128 .b32 tiles[1024]; .shared .align 8 .b64 bar;')}
@first mbarrier.init.shared.b64 [bar], 1;
mov.u32 a, tiles; mad.lo.u32 own, t, 32, a; mov.u32 i, 0;
FILL: st.shared.u32 [own], t; add.u32 own, own, 4; add.u32 i, i, 1; setp.lt.u32 p, i, 8; @p bra FILL;
fence.proxy.async.shared::cta;
bar.sync 0;
mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;
shr.u32 b, a, 4; cvt.u64.u32 da, b; or.b64 da, da, 0x0000001000080000; add.u64 db, da, 128;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {${sums}}, da, db, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mad.lo.u32 own, t, 32, a;
st.shared.u32 [own], 7;
mov.b32 x, f0;
${write}`,
  faults: [
    { why: 'no fence between proxies', edits: [['fence.proxy.async.shared::cta;\n', '']], codes: ['CM6123'], at: ['wgmma.mma_async'] },
    {
      why: 'a factor is written before the wait',
      edits: [
        [
          'wgmma.wait_group.sync.aligned 0;\nmad.lo.u32 own, t, 32, a;\nst.shared.u32 [own], 7;',
          'mad.lo.u32 own, t, 32, a;\nst.shared.u32 [own], 7;\nwgmma.wait_group.sync.aligned 0;',
        ],
      ],
      codes: ['CM6122', 'CM6120'],
      at: ['st.shared.u32 [own], 7;', 'wgmma.mma_async'],
    },
    {
      why: 'a wait for all groups but the last',
      edits: [['wait_group.sync.aligned 0;', 'wait_group.sync.aligned 1;']],
      codes: ['CM6122'],
      at: ['st.shared.u32 [own], 7;'],
    },
    {
      why: 'a product in no group',
      edits: [['wgmma.commit_group.sync.aligned;\n', '']],
      codes: ['CM6122'],
      at: ['st.shared.u32 [own], 7;'],
    },
    {
      why: 'a copy to a factor before the wait',
      edits: [
        [
          'wgmma.commit_group.sync.aligned;',
          `wgmma.commit_group.sync.aligned;\n@first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n@first cp.async.bulk.shared::cluster.global.${signal} [tiles], [in], 16, [bar];`,
        ],
        ['st.shared.u32 [own], 7;\n', ''],
      ],
      codes: ['CM6122', 'CM6120'],
      at: ['cp.async.bulk.shared::cluster', 'wgmma.mma_async'],
    },
  ],
};

const meet = 'barrier.cluster.arrive;\nbarrier.cluster.wait;';
/** Two blocks of a cluster read what the other one has written, send it a word, and add up. */
const cluster: Kernel = {
  name: 'a cluster of two blocks',
  threads: 64,
  blocks: 4,
  text: `${head('.reg .b32 rank, there, far; ', '.shared .b32 data[64]; .shared .b32 more[64]; .shared .align 8 .b64 bar;').replace('.param .u64 p1)', '.param .u64 p1) .reqnctapercluster 2, 1, 1')}
mov.u32 rank, %cluster_ctarank; mov.u32 b, data; mad.lo.u32 own, t, 4, b; xor.b32 y, rank, 1;
mad.lo.u32 x, rank, 100, t; st.shared.u32 [own], x;
@first mbarrier.init.shared.b64 [bar], 1;
fence.mbarrier_init.release.cluster;
${meet}
mapa.shared::cluster.u32 there, own, y; mov.u32 a, bar; mapa.shared::cluster.u32 far, a, y;
ld.shared::cluster.u32 i, [there]; add.u32 x, x, i;
ld.shared.u32 i, [own]; add.u32 x, x, i;
bar.sync 0;
${meet}
st.shared::cluster.u32 [there], x;
barrier.cluster.arrive;
barrier.cluster.wait;
ld.shared.u32 i, [own]; add.u32 x, x, i;
mov.u32 a, more; mad.lo.u32 own, t, 4, a; mapa.shared::cluster.u32 there, own, y;
@first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
${meet}
st.async.shared::cluster.${signal}.u32 [there], x, [far];
HERE: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;
@!p bra HERE;
ld.shared.u32 i, [own]; add.u32 x, x, i;
mov.u32 i, %ctaid.x; mad.lo.u32 t, i, 64, t;
barrier.cluster.arrive;
barrier.cluster.wait;
${write}`,
  faults: [
    {
      why: 'no barrier before a read of the other block',
      edits: [[meet, '']],
      codes: ['CM6121', 'CM6110'],
      at: ['ld.shared::cluster.u32 i', 'st.shared.u32 [own], x'],
    },
    {
      why: 'a barrier of the block in place of one of the cluster',
      edits: [[`cluster;\n${meet}`, 'cluster;\nbar.sync 0;']],
      codes: ['CM6121', 'CM6110'],
      at: ['ld.shared::cluster.u32 i', 'st.shared.u32 [own], x'],
    },
    {
      why: 'a write to the other block that may still read',
      edits: [[`bar.sync 0;\n${meet}`, 'bar.sync 0;']],
      codes: ['CM6121'],
      at: ['st.shared::cluster.u32 [there]', 'ld.shared.u32 i, [own]'],
    },
    {
      why: 'a read of what the other block sends before it waits',
      edits: [['[there], x;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;', '[there], x;']],
      codes: ['CM6121', 'CM6110'],
      at: ['ld.shared.u32 i, [own]', 'st.shared::cluster.u32 [there]'],
    },
    {
      why: 'no wait for asynchronous stores',
      edits: [['HERE: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n@!p bra HERE;\n', '']],
      codes: ['CM6122', 'CM6121', 'CM6110'],
      at: ['ld.shared.u32 i, [own]', 'st.async'],
    },
    { why: 'more bytes than come from the other block', edits: [['[bar], 256;', '[bar], 260;']], codes: ['CM6135'], at: ['HERE:'] },
    {
      why: 'a block ends while the other one reads its memory',
      edits: [
        ['mov.u32 i, %ctaid.x;', 'ld.shared::cluster.u32 i, [there]; add.u32 x, x, i; mov.u32 i, %ctaid.x;'],
        ['mad.lo.u32 t, i, 64, t;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;', 'mad.lo.u32 t, i, 64, t;'],
      ],
      codes: ['CM6101'],
      at: ['add.u32 x, x, i; mov'],
    },
    {
      why: 'both blocks write a word of global memory',
      edits: [
        ['mov.u32 i, %ctaid.x; mad.lo.u32 t, i, 64, t;', 'st.global.u32 [out+900], x;\nmov.u32 i, %ctaid.x; mad.lo.u32 t, i, 64, t;'],
      ],
      codes: ['CM6121'],
      at: ['st.global.u32 [out+900]'],
    },
  ],
};

const orders: readonly (Order | undefined)[] = [undefined, { kind: 'reverse' }, { kind: 'rand', seed: 5 }];
/** Each fault is looked for in one of the orders, or in all by a variable of the environment. */
const ordersOf = (number: number): readonly (Order | undefined)[] =>
  process.env.CUMETAL_TRIALS ? orders : [orders[number % orders.length]];
let number = 0;
const input = new Uint8Array(Uint32Array.from({ length: 256 }, (_, i) => i * 5 + 1).buffer);

function run({ threads, blocks = 1 }: Kernel, text: string, schedule: Order | undefined) {
  const shape = { grid: [blocks, 1, 1], block: [threads, 1, 1], args: [input, { bytes: 1024, written: new Uint8Array(1024) }] } as const;
  return runSanitized(text, { ...shape, ...(schedule ? { schedule } : {}) }, false);
}

for (const kernel of [named, short, bulk, group, cluster]) {
  test(`${kernel.name}: no finding without a fault`, () => {
    for (const schedule of kernel.blocks ? [undefined] : orders)
      assert.equal(run(kernel, kernel.text, schedule).messages, [], JSON.stringify(schedule));
  });
  for (const { why, edits, codes, at } of kernel.faults)
    test(`${kernel.name}: ${why}`, () => {
      const text = edits.reduce((made, [from, to]) => {
        assert.ok(made.includes(from), from);
        return made.replace(from, to);
      }, kernel.text);
      const all = text.split('\n');
      const lines = at.flatMap((part) => all.flatMap((line, i) => (line.includes(part) ? [i + 1] : [])));
      for (const schedule of kernel.blocks ? [undefined] : ordersOf(number++)) {
        const { messages, lines: named } = run(kernel, text, schedule);
        const found = messages.map((message, i) => `${message.split('\n')[0]} ${named[i]}`);
        const wanted = codes.flatMap((code) => lines.map((line) => `${code} ${line}`));
        assert.ok(
          found.some((each) => wanted.includes(each)),
          `${JSON.stringify(schedule)}: ${wanted.join(', ')}; ${messages.map((message, i) => `${named[i]}: ${message}`).join('\n') || 'nothing'}`,
        );
      }
    });
}

test('no finding in a product by warp groups that Triton compiled', () => {
  const args = [
    randomBytes('s8', 4096, 1),
    randomBytes('s8', 4096, 2),
    new Uint8Array(16384),
    64,
    64,
    new Uint8Array(4096),
    new Uint8Array(4096),
  ];
  const shape = { kernel: 'matmul_split_k', grid: [1, 1, 1], block: [128, 1, 1], shared: 96 * 1024, args } as const;
  assert.equal(runSanitized(readTexts('sm_90')['matmul_split_k.wide']!, shape, false).messages, []);
});

test.run();
