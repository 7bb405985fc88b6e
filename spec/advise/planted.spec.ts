/** Planted defects: each kernel has one of them and gets its advice; its twin is correct and gets none. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { adviceOf, codesOf, type Short, shortText } from '../support/advised.ts';

const test = suite('advise/planted');

const launch = { grid: 4, block: 256, n: 1024 };
const shared = '.shared .align 4 .b8 s[8192];';
const shared16 = '.shared .align 16 .b8 s[16384];';
/** `%r3`: the address of a word of `s` by the index in `%r4`. */
const at = (index: string): string => `${index} mov.u32 %r5, s; shl.b32 %r6, %r4, 2; add.s32 %r3, %r5, %r6;`;
const wide = (scale: number, then: string): string => `mul.wide.u32 %rd4, %r1, ${scale}; add.s64 %rd5, %rd1, %rd4; ${then}`;

/** Code, what is wrong, the kernel that is, and its twin. */
const planted: readonly (readonly [code: string, what: string, wrong: Short, right: Short])[] = [
  [
    'CM2301',
    'a stride of 8 words',
    { ...launch, body: wide(32, 'ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd2], %f1;') },
    { ...launch, body: 'ld.global.f32 %f1, [%rd2]; st.global.f32 [%rd2+4096], %f1;' },
  ],
  [
    'CM2301',
    'a column of a matrix whose width is an argument',
    {
      ...launch,
      body: 'mul.lo.s32 %r4, %r1, %r2; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd2], %f1;',
    },
    {
      ...launch,
      body: 'mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, %r2, %r1; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd2], %f1;',
    },
  ],
  [
    'CM2301',
    'structures of 16 bytes, a field at a time',
    { ...launch, body: wide(16, 'ld.global.f32 %f1, [%rd5+8]; st.global.f32 [%rd2], %f1;') },
    {
      ...launch,
      body: wide(
        16,
        'ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5]; add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; add.f32 %f1, %f1, %f4; st.global.f32 [%rd2+65536], %f1;',
      ),
    },
  ],
  ...(['mul.wide.u32 %rd4, %r1, %r2;', 'mad.lo.u32 %r4, %r1, %r2, 7; mul.wide.u32 %rd4, %r4, 4;'] as const).map(
    (stride) =>
      [
        'CM2302',
        stride,
        { grid: 4, block: 256, body: `${stride} add.s64 %rd5, %rd1, %rd4; ld.global.u8 %r5, [%rd5]; st.global.u32 [%rd2], %r5;` },
        {
          grid: 4,
          block: 256,
          body: `mov.u32 %r6, %ctaid.x; ${stride.replaceAll('%r1,', '%r6,')} add.s64 %rd5, %rd1, %rd4; ld.global.u8 %r5, [%rd5]; st.global.u32 [%rd2], %r5;`,
        },
      ] as const,
  ),
  [
    'CM2302',
    'a stride that only the launch knows',
    {
      grid: 4,
      block: 256,
      body: 'mul.lo.s32 %r4, %r1, %r2; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd2], %f1;',
    },
    {
      grid: 4,
      block: 256,
      body: 'mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, %r2, %r1; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd2], %f1;',
    },
  ],
  [
    'CM2303',
    'every other word',
    {
      ...launch,
      head: shared,
      body: `${at('shl.b32 %r4, %r1, 1;')} st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;`,
    },
    {
      ...launch,
      head: shared,
      body: `${at('mul.lo.u32 %r4, %r1, 3;')} st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;`,
    },
  ],
  [
    'CM2303',
    'a column of a tile of 32 words a row',
    {
      ...launch,
      block: 32,
      head: shared,
      body: `${at('shl.b32 %r4, %r1, 5;')} st.shared.u32 [%r3], %r1; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;`,
    },
    {
      ...launch,
      block: 32,
      head: shared,
      body: `${at('mul.lo.u32 %r4, %r1, 33;')} st.shared.u32 [%r3], %r1; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;`,
    },
  ],
  [
    'CM2303',
    'words of 16 bytes, 32 bytes apart',
    {
      ...launch,
      head: shared16,
      body: 'mov.u32 %r5, s; shl.b32 %r6, %r1, 5; add.s32 %r3, %r5, %r6; st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1}; bar.sync 0; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r3]; st.global.u32 [%rd2], %r7;',
    },
    {
      ...launch,
      head: shared16,
      body: 'mov.u32 %r5, s; shl.b32 %r6, %r1, 4; add.s32 %r3, %r5, %r6; st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1}; bar.sync 0; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r3]; st.global.u32 [%rd2], %r7;',
    },
  ],
  ...(
    [
      'and.b32 %r4, %r1, 1; setp.eq.s32 %p1, %r4, 0;',
      'and.b32 %r4, %r1, 16; setp.ne.s32 %p1, %r4, 0;',
      'setp.lt.u32 %p1, %r1, 48;',
    ] as const
  ).map(
    (condition, i) =>
      [
        'CM2304',
        `lanes of a warp take both sides (${i + 1})`,
        { ...launch, body: sides(condition) },
        {
          ...launch,
          body: sides(
            [
              'and.b32 %r4, %r1, 32; setp.eq.s32 %p1, %r4, 0;',
              'and.b32 %r4, %r1, 64; setp.ne.s32 %p1, %r4, 0;',
              'setp.lt.u32 %p1, %r1, 64;',
            ][i]!,
          ),
        },
      ] as const,
  ),
  [
    'CM2305',
    'nothing writes the variable',
    { ...launch, head: shared, body: `${at('mov.u32 %r4, %r1;')} ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;` },
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} st.shared.u32 [%r3], %r1; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;`,
    },
  ],
  [
    'CM2305',
    'the write comes after the read',
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} ld.shared.u32 %r7, [%r3]; st.shared.u32 [%r3], %r1; st.global.u32 [%rd2], %r7;`,
    },
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} mov.u32 %r9, 0;\nL: setp.eq.u32 %p1, %r9, 0; @%p1 bra M; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;\nM: st.shared.u32 [%r3], %r1; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 2; @%p2 bra L;`,
    },
  ],
  [
    'CM2305',
    'another variable is written',
    {
      ...launch,
      head: `${shared} .shared .align 4 .b8 t[4096];`,
      body: `${at('mov.u32 %r4, %r1;')} mov.u32 %r8, t; add.s32 %r9, %r8, %r6; st.shared.u32 [%r9], %r1; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;`,
    },
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} setp.ge.u32 %p1, %r1, 128; @%p1 bra L; st.shared.u32 [%r3], %r1;\nL: bar.sync 0; setp.ge.u32 %p2, %r1, 128; @%p2 bra M; ld.shared.u32 %r7, [%r3]; st.global.u32 [%rd2], %r7;\nM:`,
    },
  ],
  [
    'CM2306',
    'a loop without an exit',
    { ...launch, body: 'setp.ge.u32 %p1, %r1, 7; @%p1 bra M;\nL: st.global.u32 [%rd2], %r1; bra L;\nM:' },
    {
      ...launch,
      body: 'setp.ge.u32 %p1, %r1, 7; @%p1 bra M; mov.u32 %r4, 0;\nL: st.global.u32 [%rd2], %r4; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 9; @%p2 bra L;\nM:',
    },
  ],
  [
    'CM2306',
    'the counter is not counted',
    { ...launch, body: 'mov.u32 %r4, 0;\nL: add.u32 %r5, %r1, 1; st.global.u32 [%rd2], %r5; setp.lt.u32 %p2, %r1, %r2; @%p2 bra L;' },
    { ...launch, body: 'mov.u32 %r4, %r1;\nL: add.u32 %r4, %r4, 64; st.global.u32 [%rd2], %r4; setp.lt.u32 %p2, %r4, %r2; @%p2 bra L;' },
  ],
  [
    'CM2306',
    'the condition is of the wrong register',
    { ...launch, body: 'mov.u32 %r4, 0; setp.gt.u32 %p3, %r2, %r1;\nL: add.u32 %r4, %r4, 1; st.global.u32 [%rd2], %r4; @%p3 bra L;' },
    { ...launch, body: 'mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1; st.global.u32 [%rd2], %r4; setp.gt.u32 %p3, %r2, %r4; @%p3 bra L;' },
  ],
  ...(
    [
      ['ld.global.u32 %r4, [%rd1];', 'ld.volatile.global.u32 %r4, [%rd1];'],
      ['ld.global.u32 %r4, [%rd1+4];', 'ld.relaxed.gpu.global.u32 %r4, [%rd1+4];'],
      ['ld.shared.u32 %r4, [s];', 'ld.volatile.shared.u32 %r4, [s];'],
      ['ld.global.u32 %r4, [%rd1];', 'ld.acquire.gpu.global.u32 %r4, [%rd1];'],
    ] as const
  ).map(
    ([plain, ordered]) =>
      [
        'CM2307',
        `waits with ${plain.split(' ')[0]}`,
        { ...launch, head: shared, body: `st.shared.u32 [s], 0; bar.sync 0;\nL: ${plain} setp.eq.u32 %p1, %r4, 0; @%p1 bra L;` },
        { ...launch, head: shared, body: `st.shared.u32 [s], 0; bar.sync 0;\nL: ${ordered} setp.eq.u32 %p1, %r4, 0; @%p1 bra L;` },
      ] as const,
  ),
  [
    'CM2308',
    'the barrier between the store and the load of a neighbor is missing',
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} st.shared.u32 [%r3], %r1; xor.b32 %r4, %r1, 32; shl.b32 %r6, %r4, 2; add.s32 %r8, %r5, %r6; ld.shared.u32 %r7, [%r8]; st.global.u32 [%rd2], %r7;`,
    },
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} st.shared.u32 [%r3], %r1; bar.sync 0; xor.b32 %r4, %r1, 32; shl.b32 %r6, %r4, 2; add.s32 %r8, %r5, %r6; ld.shared.u32 %r7, [%r8]; st.global.u32 [%rd2], %r7;`,
    },
  ],
  [
    'CM2308',
    'reversed without a barrier',
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} st.shared.u32 [%r3], %r1; mov.u32 %r9, 255; sub.s32 %r4, %r9, %r1; shl.b32 %r6, %r4, 2; add.s32 %r8, %r5, %r6; ld.shared.u32 %r7, [%r8]; st.global.u32 [%rd2], %r7;`,
    },
    {
      ...launch,
      head: shared,
      body: `${at('mov.u32 %r4, %r1;')} st.shared.u32 [%r3], %r1; mov.u32 %r9, 31; xor.b32 %r4, %r9, %r1; shl.b32 %r6, %r4, 2; add.s32 %r8, %r5, %r6; ld.shared.u32 %r7, [%r8]; st.global.u32 [%rd2], %r7;`,
    },
  ],
  [
    'CM2308',
    'a tile of a loop is written again while others read it',
    { ...launch, head: shared, body: tileLoop('') },
    { ...launch, head: shared, body: tileLoop('bar.sync 0;') },
  ],
  [
    'CM2308',
    'thread 0 writes what all read',
    {
      ...launch,
      head: shared,
      body: 'setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.shared.u32 [s], %r2;\nL: ld.shared.u32 %r7, [s]; st.global.u32 [%rd2], %r7;',
    },
    {
      ...launch,
      head: shared,
      body: 'setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.shared.u32 [s], %r2;\nL: bar.sync 0; ld.shared.u32 %r7, [s]; st.global.u32 [%rd2], %r7;',
    },
  ],
  ...(['and.b32 %r4, %r1, 31;', 'shr.u32 %r4, %r1, 5;', 'rem.u32 %r4, %r1, 32;', 'div.u32 %r4, %r1, 32;'] as const).map(
    (literal, i) =>
      [
        'CM2309',
        literal,
        { ...launch, body: `${literal} st.global.u32 [%rd2], %r4;` },
        {
          ...launch,
          body: `${['and.b32 %r4, %r1, 15;', 'shr.u32 %r4, %r1, 4;', 'rem.u32 %r4, %r1, WARP_SZ;', 'div.u32 %r4, %r2, 32;'][i]} st.global.u32 [%rd2], %r4;`,
        },
      ] as const,
  ),
  ...(
    [
      ['mov.u32 %r6, %r2;', 'mov.u32 %r6, 3;'],
      ['ld.global.u32 %r6, [%rd2];', 'ld.global.u32 %r7, [%rd2]; and.b32 %r6, %r7, 15;'],
      ['add.u32 %r6, %r1, 16;', 'xor.b32 %r6, %r1, 1;'],
    ] as const
  ).map(
    ([outside, inside]) =>
      [
        'CM2310',
        `the lane is ${outside}`,
        { grid: 4, block: 32, body: halfShuffle(outside) },
        { grid: 4, block: 32, body: halfShuffle(inside) },
      ] as const,
  ),
  ...(
    [
      ['ld.global.u32 %r6, [%rd1];', 'mov.u32 %r6, 0xffffffff;'],
      ['mov.u32 %r6, %r2;', 'activemask.b32 %r6;'],
      ['shl.b32 %r6, %r2, 1;', 'setp.lt.u32 %p1, %r1, 16; vote.sync.ballot.b32 %r6, %p1, 0xffffffff;'],
    ] as const
  ).map(
    ([runtime, known]) =>
      [
        'CM2311',
        `the mask is ${runtime}`,
        { grid: 4, block: 32, body: `${runtime} shfl.sync.down.b32 %r4, %r1, 1, 31, %r6; st.global.u32 [%rd2], %r4;` },
        { grid: 4, block: 32, body: `${known} shfl.sync.down.b32 %r4, %r1, 1, 31, %r6; st.global.u32 [%rd2], %r4;` },
      ] as const,
  ),
  ...(
    [
      'atom.global.SCOPE.add.u32 %r4, [%rd2], 1;',
      'red.global.SCOPE.add.u32 [%rd2], 1;',
      'atom.global.SCOPE.cas.b32 %r4, [%rd2], 1, 2;',
    ] as const
  ).map(
    (form) =>
      ['CM2312', form, { ...launch, body: form.replace('SCOPE', 'sys') }, { ...launch, body: form.replace('SCOPE', 'gpu') }] as const,
  ),
  [
    'CM2313',
    'two dynamic arrays',
    {
      ...launch,
      head: '.extern .shared .align 4 .b8 a[]; .extern .shared .align 4 .b8 b[];',
      body: 'mov.u32 %r3, a; mov.u32 %r4, b; st.shared.u32 [%r3], 1; st.shared.u32 [%r4], 1;',
    },
    {
      ...launch,
      head: '.extern .shared .align 4 .b8 a[]; .extern .shared .align 4 .b8 b[];',
      body: 'mov.u32 %r3, a; st.shared.u32 [%r3], 1;',
    },
  ],
  [
    'CM2313',
    'two dynamic arrays in addresses',
    {
      ...launch,
      head: '.extern .shared .align 4 .b8 a[]; .extern .shared .align 8 .b8 b[];',
      body: 'st.shared.u32 [a+4], 1; st.shared.u32 [b], 1;',
    },
    {
      ...launch,
      head: '.extern .shared .align 4 .b8 a[]; .shared .align 8 .b8 b[64];',
      body: 'st.shared.u32 [a+4], 1; st.shared.u32 [b], 1;',
    },
  ],
  ...([4096, 2052, 3000] as const).map(
    (bytes, i) =>
      ['CM2314', `${bytes} bytes`, { ...launch, body: stack(bytes) }, { ...launch, body: stack([2048, 64, 1024][i]!) }] as const,
  ),
  [
    'CM2315',
    'a fence of the block in front of an atomic of the device',
    { ...launch, body: 'st.global.u32 [%rd2+4096], %r1; membar.cta; atom.global.add.u32 %r4, [%rd2], 1;' },
    { ...launch, body: 'st.global.u32 [%rd2+4096], %r1; membar.gl; atom.global.add.u32 %r4, [%rd2], 1;' },
  ],
  [
    'CM2315',
    'an atomic of the block that all blocks execute',
    { ...launch, body: 'red.global.cta.add.u32 [%rd1], 1;' },
    { ...launch, body: 'mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; red.global.cta.add.u32 [%rd5], 1;' },
  ],
  [
    'CM2315',
    'an atomic of the device in shared memory',
    { ...launch, head: shared, body: 'st.shared.u32 [s], 0; bar.sync 0; atom.shared.gpu.add.u32 %r4, [s], 1; st.global.u32 [%rd2], %r4;' },
    { ...launch, head: shared, body: 'st.shared.u32 [s], 0; bar.sync 0; atom.shared.cta.add.u32 %r4, [s], 1; st.global.u32 [%rd2], %r4;' },
  ],
  ...([64, 128, 288] as const).map(
    (block) =>
      [
        'CM2316',
        `blocks of ${block} threads with 96 KiB of shared memory each`,
        { ...launch, block, head: '.shared .align 4 .b8 s[98304];', body: 'st.shared.u32 [s], 1; st.global.u32 [%rd2], %r1;' },
        { ...launch, block, head: '.shared .align 4 .b8 s[4096];', body: 'st.shared.u32 [s], 1; st.global.u32 [%rd2], %r1;' },
      ] as const,
  ),
];

/** A shuffle among the first 16 threads, from the lane in `%r6`. */
function halfShuffle(lane: string): string {
  return `setp.ge.u32 %p1, %r1, 16; @%p1 bra M; ${lane} shfl.sync.idx.b32 %r4, %r1, %r6, 31, 0xffff; st.global.u32 [%rd2], %r4;\nM:`;
}

/** A branch with work on both sides. */
function sides(condition: string): string {
  const work = (by: number): string => Array.from({ length: 6 }, (_, i) => `mul.lo.u32 %r5, %r5, ${by + i};`).join(' ');
  return `mov.u32 %r5, %r1; ${condition} @%p1 bra L; ${work(3)} bra M;\nL: ${work(11)} xor.b32 %r5, %r5, 9;\nM: st.global.u32 [%rd2], %r5;`;
}

/** A loop that loads a tile, waits, and reads another thread's part of it; `last` is at the end of a turn. */
function tileLoop(last: string): string {
  return `${at('mov.u32 %r4, %r1;')} xor.b32 %r4, %r1, 64; shl.b32 %r6, %r4, 2; add.s32 %r8, %r5, %r6; mov.u32 %r9, 0; mov.u32 %r11, 0;
L: add.u32 %r10, %r1, %r9; st.shared.u32 [%r3], %r10; bar.sync 0; ld.shared.u32 %r7, [%r8]; add.u32 %r11, %r11, %r7; ${last} add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 8; @%p1 bra L;
  st.global.u32 [%rd2], %r11;`;
}

/** An array of each thread, at a place that is not known. */
function stack(bytes: number): string {
  return `.local .align 4 .b8 a[${bytes}]; mov.u64 %rd6, a; ld.global.u32 %r3, [%rd2]; and.b32 %r3, %r3, 7; mul.wide.u32 %rd7, %r3, 4; add.s64 %rd8, %rd6, %rd7; st.local.u32 [%rd8], %r1; ld.local.u32 %r4, [%rd6+4]; st.global.u32 [%rd2], %r4;`;
}

/** Advice that a kernel gets besides: what it is about is in both of a pair. */
const beside: ReadonlySet<string> = new Set(['CM2210']);

for (const [code, what, wrong, right] of planted)
  test(`${code}: ${what}`, () => {
    const found = codesOf(wrong);
    assert.ok(found.includes(code), `no ${code}: ${found.join(' ')}`);
    const more = adviceOf(right).list.filter((each) => each.code === code || !(found.includes(each.code) || beside.has(each.code)));
    assert.equal(
      more.map((each) => `${each.code} ${each.message}`),
      [],
      'the twin',
    );
  });

test('a race names the line of its other access as one of the PTX, which a finding in a .cu file is not', () => {
  const [, , wrong] = planted.find(([code]) => code === 'CM2308')!;
  const { message, labels } = adviceOf(wrong).list.find(({ code }) => code === 'CM2308')!;
  const text = shortText(wrong);
  const line = text.slice(0, labels[1]!.span.start).split('\n').length;
  assert.match(message, new RegExp(`here and in line ${line} of the PTX,`));
  assert.is(labels[1]!.text, 'the other access');
});

test('the threads that a kernel requires are those of its launch', () => {
  const body = 'st.global.u32 [%rd2], %r1;';
  assert.equal(adviceOf({ body, block: 128, grid: 1 }).kernel.block, [128, 1, 1]);
  const text = {
    body: `${body} ret; } .visible .entry other(.param .u64 p, .param .u32 n) .reqntid 64 { .reg .b32 %r<3>; mov.u32 %r1, %tid.x;`,
    block: 128,
    grid: 1,
  };
  assert.is(adviceOf(text).kernel.block?.[0], 128);
  assert.equal(adviceOf(text, 'other').kernel.block, [64, 1, 1]);
});

test.run();
